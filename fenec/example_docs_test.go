package fenec_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/fenec-go/fenecdb/fenec"
)

// The functions below hold the Go code that README.md and the pages in docs show.

// What README.md shows.
func Example_readme() {
	inDirectory(func() error {
		ctx := context.Background()
		db, err := fenec.Open("library.fenec", fenec.Options{})
		if err != nil {
			return err
		}
		defer db.Close()

		_, err = db.Exec(ctx, "create collection if not exists books (title text required @unique, pages int @sorted, tags [text])")
		if err != nil {
			return err
		}
		type Book struct {
			ID       int64 // zero: the database gives one
			Title    string
			Pages    *int     // nil is null
			Subjects []string `fenec:"tags"` // the field's name, where it is another
		}
		pages := 87
		_, err = db.Exec(ctx, "put books $1 if absent", []Book{
			{Title: "Night Flight", Pages: &pages, Subjects: []string{"flight"}},
			{Title: "Southern Mail", Subjects: []string{"flight", "desert"}},
		})
		if err != nil {
			return err
		}

		res, err := db.Query(ctx, "get books where tags has $1 order pages limit 10", "flight")
		if err != nil {
			return err
		}
		books, err := fenec.Collect[Book](res)
		if err != nil {
			return err
		}
		for _, b := range books {
			fmt.Println(b.ID, b.Title, b.Subjects)
		}

		res, err = db.Query(ctx, "get id, title from books where pages < $1", 100)
		if err != nil {
			return err
		}
		for res.Next() {
			var id int64
			var title string
			if err := res.Scan(&id, &title); err != nil {
				return err
			}
			fmt.Println(id, title)
		}
		return nil
	})
	// Output:
	// 2 Southern Mail [flight desert]
	// 1 Night Flight [flight]
	// 1 Night Flight
}

// inDirectory runs fn in a directory of its own, as code that names files has to.
func inDirectory(fn func() error) {
	dir, err := os.MkdirTemp("", "fenec-example-")
	if err != nil {
		log.Fatal(err)
	}
	back, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.Chdir(dir); err != nil {
		log.Fatal(err)
	}
	if err := fn(); err != nil {
		fmt.Println(err)
	}
	if err := errors.Join(os.Chdir(back), os.RemoveAll(dir)); err != nil {
		log.Fatal(err)
	}
}

// onMemory runs fn on a database in memory, after some statements.
func onMemory(fn func(context.Context, *fenec.DB) error, statements ...string) {
	db, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	for _, text := range statements {
		if _, err := db.Query(ctx, text); err != nil {
			log.Fatal(err)
		}
	}
	if err := fn(ctx, db); err != nil {
		fmt.Println(err)
	}
}

// Notes of one's own, and tags that everybody reads.
func ExampleNewPolicy() {
	onMemory(func(ctx context.Context, db *fenec.DB) error {
		const mine = "owner = $1"
		policy, err := fenec.NewPolicy(fenec.Access{Collections: map[string]fenec.Grants{
			"notes": {
				Read:   mine,
				Insert: mine,
				Update: []fenec.Update{{Rows: mine, Fields: []string{"text", "done"}}},
				Delete: "owner = $1 and done",
				Fill:   map[string]string{"owner": "$1"},
			},
			"tags": {Read: fenec.EveryRow},
		}})
		if err != nil {
			return err
		}
		ada, err := db.Session(policy, "ada")
		if err != nil {
			return err
		}
		_, err = ada.Exec(ctx, `put notes {text: "call Bob"}`) // owner is filled in
		if err != nil {
			return err
		}
		res, err := ada.Query(ctx, `get notes where text ~ $1`, "bob") // those of ada only
		if err != nil {
			return err
		}
		json, err := res.AppendJSON(nil)
		fmt.Println(string(json), ada.Collections(), err)
		n, err := ada.Exec(ctx, `del notes`)
		fmt.Println(n, "done and deleted", err)
		_, err = ada.Exec(ctx, `put tags {name: "x"}`)
		fmt.Println(err)
		return nil
	}, `create collection notes (owner text @hash, text text, done bool)`, `create collection tags (name text)`,
		`create collection logs (line text)`, `put notes {owner: "eve", text: "bob is out"}`)
	// Output:
	// [{"id":2,"owner":"ada","text":"call Bob","done":null}] [notes tags] <nil>
	// 0 done and deleted <nil>
	// denied: documents of collection "tags" may not be inserted
}

// A check decides what a condition cannot say.
func ExampleAccess_check() {
	onMemory(func(ctx context.Context, db *fenec.DB) error {
		policy, err := fenec.NewPolicy(fenec.Access{
			Others: fenec.Grants{Read: fenec.EveryRow, Update: []fenec.Update{{Rows: fenec.EveryRow}}},
			Check: func(values []any, c *fenec.RowChange) error {
				changed, err := c.Changed()
				if err != nil {
					return err
				}
				if slices.Contains(changed, "price") && values[0] != "manager" {
					return fenec.Denied("a %s may not change prices", values[0])
				}
				return nil
			},
		})
		if err != nil {
			return err
		}
		clerk, err := db.Session(policy, "clerk")
		if err != nil {
			return err
		}
		_, err = clerk.Exec(ctx, `set items {price: 1}`) // denied: a clerk may not change prices
		fmt.Println(err)
		_, err = clerk.Exec(ctx, `set items {stock: 1}`)
		fmt.Println(err)
		return nil
	}, `create collection items (price int, stock int)`, `put items {price: 5, stock: 2}`)
	// Output:
	// denied: a clerk may not change prices
	// <nil>
}

// A hook sees the writes of everybody.
func ExampleRowChange() {
	onMemory(func(ctx context.Context, db *fenec.DB) error {
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
		_, err := db.Exec(ctx, `set accounts {balance: balance - 20}`)
		return err
	}, `create collection accounts (balance int)`, `put accounts {balance: 10}`)
	// Output:
	// denied: account 1 would be overdrawn
}

// A map that is kept as a shape of a collection is.
func ExampleSubscription_Next() {
	onMemory(func(ctx context.Context, db *fenec.DB) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		held, since := map[int64]string{}, fenec.NoCursor
		next := []string{`put tasks {key: "c", state: "open"}`, `set tasks {state: "done"} where key = "a"`}
		save := func(seq uint64) error {
			fmt.Println(seq, held)
			if len(next) == 0 {
				cancel()
				return nil
			}
			_, err := db.Exec(ctx, next[0])
			next = next[1:]
			return err
		}
		sub, err := db.Subscribe(ctx, fenec.Shape{
			Collection: "tasks", Where: "state = $1", Args: []any{"open"}, Select: []string{"key"},
		}, since)
		if err != nil {
			return err
		}
		defer sub.Close()
		for {
			ev, err := sub.Next(ctx)
			if err != nil {
				return err
			}
			switch ev.Kind {
			case fenec.EventSeed:
				clear(held)
			case fenec.EventChange:
				for _, id := range ev.Dels {
					delete(held, int64(id))
				}
			}
			for row := range ev.Rows.All() {
				var id int64
				var key string
				if err := row.Scan(&id, &key); err != nil {
					return err
				}
				held[id] = key
			}
			if err := save(ev.Seq); err != nil {
				return err
			}
		}
	}, `create collection tasks (key text, state text)`, `put tasks [{key: "a", state: "open"}, {key: "b", state: "done"}]`)
	// Output:
	// 3 map[1:a]
	// 4 map[1:a 3:c]
	// 5 map[3:c]
	// context canceled
}
