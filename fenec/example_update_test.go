package fenec_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/fenec-go/fenecdb/fenec"
)

// Money moves from one account to another whole or not at all, and never more of
// it than is there.
func ExampleDB_Update() {
	db, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{
		`create collection accounts (owner text @unique, balance int)`,
		`put accounts [{owner: "Ada", balance: 100}, {owner: "Bob", balance: 20}]`,
	} {
		if _, err := db.Exec(ctx, text); err != nil {
			log.Fatal(err)
		}
	}
	errPoor := errors.New("there is not enough on the account")
	move := func(from, to string, amount int64) error {
		_, err := db.Update(ctx, func(tx *fenec.Tx) error {
			if _, err := tx.Exec(ctx, `set accounts {balance: balance + $1} where owner = $2 require 1`, amount, to); err != nil {
				return err
			}
			res, err := tx.Query(ctx, `set accounts {balance: balance - $1} where owner = $2 returning balance require 1`, amount, from)
			if err != nil {
				return err
			}
			for row := range res.All() {
				if left, err := row.Int("balance"); left < 0 || err != nil {
					return errors.Join(errPoor, err)
				}
			}
			return nil
		})
		return err
	}
	fmt.Println(move("Ada", "Bob", 70))
	fmt.Println(move("Ada", "Bob", 70))
	fmt.Println(errors.Is(move("Ada", "Cleo", 1), fenec.ErrUnmet))

	for row, err := range db.Rows(ctx, `get accounts order owner`) {
		if err != nil {
			log.Fatal(err)
		}
		owner, _ := row.Text("owner")
		balance, _ := row.Int("balance")
		fmt.Println(owner, balance)
	}
	// Output:
	// <nil>
	// there is not enough on the account
	// true
	// Ada 30
	// Bob 90
}

// Rows are taken one by one, and are not all in memory at any time.
func ExampleDB_Rows() {
	db := library()
	defer db.Close()
	pages := int64(0)
	for row, err := range db.Rows(ctx, `get books where pages > $1`, 200) {
		if err != nil {
			log.Fatal(err)
		}
		n, err := row.Int("pages")
		if err != nil {
			log.Fatal(err)
		}
		pages += n
		b, err := row.AppendJSON(nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.40s…\n", b)
	}
	fmt.Println(pages)
	// Output:
	// {"id":1,"title":"Dune","author":"Herbert…
	// {"id":2,"title":"The Dispossessed","auth…
	// 953
}

// A poll costs next to nothing while nothing is written.
func ExampleDB_Changed() {
	db := library()
	defer db.Close()
	seen := db.Seq()
	changed, err := db.Changed(ctx, seen, "books")
	fmt.Println(changed, err)
	if _, err := db.Exec(ctx, `set books {read: now()} where title = "Dune"`); err != nil {
		log.Fatal(err)
	}
	changed, err = db.Changed(ctx, seen, "books")
	fmt.Println(changed, err)
	// Output:
	// false <nil>
	// true <nil>
}
