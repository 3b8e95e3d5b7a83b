package ql_test

import (
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

func ExampleParse() {
	stmt, err := ql.Parse(`get item where kind = $1 and price < 100 order price desc limit 3`)
	if err != nil {
		fmt.Println(err)
		return
	}
	get := stmt.(*ql.Get)
	fmt.Println("collection:", get.From.Text)
	fmt.Println("condition: ", ql.PrintExpr(get.Where))
	fmt.Println("parameters:", ql.Params(get))
	// Output:
	// collection: item
	// condition:  kind = $1 and price < 100
	// parameters: 1
}

func ExampleParse_error() {
	_, err := ql.Parse("get item\nwhere kind = ")
	fmt.Println(err)

	var e *ql.Error
	if errors.As(err, &e) {
		fmt.Println(e.Line, e.Column)
	}
	// Output:
	// query error: line 2, column 14: expected a value after "=", found end of text
	// 2 14
}

func ExampleParseScript() {
	script, err := ql.ParseScript(`
		create collection item (sku text @unique, price int); -- one field is unique
		put item {sku: 'A1', price: 50};
		select * from item;
	`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, stmt := range script {
		fmt.Println(ql.Print(stmt))
	}
	// Output:
	// create collection item (sku text @unique, price int)
	// put item {sku: "A1", price: 50}
	// get item select *
}

func ExampleParseExpr() {
	e, err := ql.ParseExpr(`(owner = $1) or (not (locked) and (len(tags) > 0))`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ql.PrintExpr(e))
	// Output: owner = $1 or not locked and len(tags) > 0
}

func ExampleWalk() {
	stmt, err := ql.Parse(`get item where lower(name) = "anvil" and meta.color in ["red", $1]`)
	if err != nil {
		fmt.Println(err)
		return
	}
	ql.Walk(stmt, func(e ql.Expr) bool {
		switch e := e.(type) {
		case *ql.Path:
			fmt.Println(e.Pos, "reads", e)
		case *ql.Call:
			fmt.Println(e.Pos, "calls", e.Name)
		}
		return true
	})
	// Output:
	// line 1, column 16 calls lower
	// line 1, column 22 reads name
	// line 1, column 42 reads meta.color
}
