package fenec_test

import (
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
)

// Every user sees and changes the books that are theirs.
func ExampleDB_Session() {
	db, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, `create collection books (owner text @hash, title text)`); err != nil {
		log.Fatal(err)
	}
	const mine = "owner = $1"
	policy, err := fenec.NewPolicy(fenec.Access{Collections: map[string]fenec.Grants{
		"books": {
			Read:   mine,
			Insert: mine,
			Update: []fenec.Update{{Rows: mine, Fields: []string{"title"}}},
			Fill:   map[string]string{"owner": "$1"},
		},
	}})
	if err != nil {
		log.Fatal(err)
	}
	for _, user := range []string{"ada", "bob"} {
		s, err := db.Session(policy, user)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := s.Exec(ctx, `put books {title: $1}`, "The diary of "+user); err != nil {
			log.Fatal(err)
		}
		res, err := s.Query(ctx, `get title from books`)
		if err != nil {
			log.Fatal(err)
		}
		for row := range res.All() {
			title, err := row.Text("title")
			fmt.Println(title, err)
		}
		_, err = s.Exec(ctx, `set books {owner: "eve"}`)
		fmt.Println("given away:", !errors.Is(err, fenec.ErrDenied))
	}
	// Output:
	// The diary of ada <nil>
	// given away: false
	// The diary of bob <nil>
	// given away: false
}

// A function of the program is called like one of the language.
func ExampleFunction() {
	initials := fenec.Function{Least: 1, Most: 1, Of: func(args []any) (any, error) {
		name, ok := args[0].(string)
		if !ok {
			return nil, nil
		}
		var out strings.Builder
		for word := range strings.FieldsSeq(name) {
			out.WriteString(word[:1])
		}
		return out.String(), nil
	}}
	db, err := fenec.OpenMemory(fenec.Options{Functions: map[string]fenec.Function{"initials": initials}})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, `create collection people (name text)`); err != nil {
		log.Fatal(err)
	}
	if _, err := db.Exec(ctx, `put people [{name: "Ada Lovelace"}, {name: "Alan Turing"}]`); err != nil {
		log.Fatal(err)
	}
	res, err := db.Query(ctx, `get name from people where initials(name) = "AT"`)
	if err != nil {
		log.Fatal(err)
	}
	for row := range res.All() {
		name, err := row.Text("name")
		fmt.Println(name, err)
	}
	// Output:
	// Alan Turing <nil>
}

// A hook refuses what may not be written, whoever writes it.
func ExampleDB_SetHook() {
	db, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, `create collection accounts (owner text, balance int)`); err != nil {
		log.Fatal(err)
	}
	db.SetHook(func(c *fenec.RowChange) error {
		if c.Collection != "accounts" || c.After == nil {
			return nil
		}
		balance, err := c.After.Int("balance")
		if err != nil {
			return err
		}
		if balance < 0 {
			return fenec.Denied("account %d would be overdrawn", c.ID)
		}
		return nil
	})
	if _, err := db.Exec(ctx, `put accounts {owner: "ada", balance: 10}`); err != nil {
		log.Fatal(err)
	}
	_, err = db.Exec(ctx, `set accounts {balance: balance - 20}`)
	fmt.Println(err)
	// Output:
	// denied: account 1 would be overdrawn
}
