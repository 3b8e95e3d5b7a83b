package client_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/client"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// example serves an empty database for an example, as fenec-server does.
func example() (url string, end func()) {
	db, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		log.Fatal(err)
	}
	handler := serve.New(serve.Options{})
	server := httptest.NewServer(http.HandlerFunc(handler.Handler(db).ServeHTTP))
	return server.URL, func() {
		_ = handler.Close()
		server.Close()
		_ = db.Close()
	}
}

func Example() {
	url, end := example()
	defer end()
	ctx := context.Background()
	db, err := client.Open(url, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, `create collection books (title text @hash, pages int @sorted)`); err != nil {
		log.Fatal(err)
	}
	type book struct {
		ID    int64
		Title string
		Pages int
	}
	if _, err := db.Exec(ctx, `put books $1`, []book{{Title: "Dune", Pages: 612}, {Title: "Emma", Pages: 474}}); err != nil {
		log.Fatal(err)
	}
	res, err := db.Query(ctx, `get books where pages > $1 order pages`, 300)
	if err != nil {
		log.Fatal(err)
	}
	books, err := fenec.Collect[book](res)
	fmt.Println(books, err)
	// Output: [{2 Emma 474} {1 Dune 612}] <nil>
}

// shelf runs on an embedded and on a served database.
type shelf struct{ db client.Database }

func (s shelf) add(ctx context.Context, title string) error {
	_, err := s.db.Exec(ctx, `put shelf {title: $1}`, title)
	return err
}

func (s shelf) count(ctx context.Context) (n int64, err error) {
	res, err := s.db.Query(ctx, `get shelf count`)
	if err != nil || !res.Next() {
		return 0, err
	}
	return n, res.Scan(&n)
}

func ExampleDatabase() {
	url, end := example()
	defer end()
	ctx := context.Background()
	embedded, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer embedded.Close()
	remote, err := client.Open(url, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer remote.Close()
	for _, db := range []client.Database{embedded, remote} {
		if _, err := db.Exec(ctx, `create collection shelf (title text)`); err != nil {
			log.Fatal(err)
		}
		s := shelf{db}
		if err := s.add(ctx, "Dune"); err != nil {
			log.Fatal(err)
		}
		fmt.Println(s.count(ctx))
	}
	// Output:
	// 1 <nil>
	// 1 <nil>
}

func ExampleDB_Subscribe() {
	url, end := example()
	defer end()
	ctx := context.Background()
	db, err := client.Open(url, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, `create collection tasks (state text, n int)`); err != nil {
		log.Fatal(err)
	}
	shape := fenec.Shape{Collection: "tasks", Where: "state = $1", Args: []any{"open"}, Select: []string{"n"}}
	sub, err := db.Subscribe(ctx, shape, fenec.NoCursor)
	if err != nil {
		log.Fatal(err)
	}
	defer sub.Close()
	for _, text := range []string{``, `put tasks {state: "open", n: 7}`, `set tasks {state: "done"}`} {
		if text != "" {
			if _, err := db.Exec(ctx, text); err != nil {
				log.Fatal(err)
			}
		}
		ev, err := sub.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		rows, err := ev.Rows.AppendJSON(nil)
		fmt.Println(string(rows), ev.Dels, err)
	}
	// Output:
	// [] [] <nil>
	// [{"id":1,"n":7}] [] <nil>
	// [] [1] <nil>
}
