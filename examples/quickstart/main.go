// Command quickstart embeds fenec: it opens a database, makes a collection,
// writes documents and reads them back into structs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/fenec-go/fenecdb/fenec"
)

// Book is what the query below selects.
type Book struct {
	ID    uint64 `fenec:"id"`
	Title string `fenec:"title"`
	Pages int    `fenec:"pages"`
}

func main() {
	dir, err := os.MkdirTemp("", "fenec-quickstart-")
	if err != nil {
		log.Fatal(err)
	}
	err = run(context.Background(), os.Stdout, filepath.Join(dir, "library.fenec"))
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, path string) (err error) {
	// The zero options are a good database: writes are on disk within 250 ms.
	db, err := fenec.Open(path, fenec.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	_, err = db.Exec(ctx, `create collection books (
		title text required @unique,
		pages int @sorted,
		tags  [text])`)
	if err != nil {
		return err
	}

	// A batch lands as a whole or not at all.
	const put = "put books {title: $1, pages: $2, tags: $3}"
	_, err = db.Batch(ctx, []fenec.Statement{
		{Text: put, Args: []any{"The Little Prince", 96, []string{"desert", "fox"}}},
		{Text: put, Args: []any{"Wind, Sand and Stars", 229, []string{"desert", "flight"}}},
		{Text: put, Args: []any{"Night Flight", 87, []string{"flight"}}},
	})
	if err != nil {
		return err
	}

	res, err := db.Query(ctx, "get books where tags has $1 order pages select id, title, pages", "desert")
	if err != nil {
		return err
	}
	books, err := fenec.Collect[Book](res)
	if err != nil {
		return err
	}
	for _, b := range books {
		fmt.Fprintf(out, "%d  %-22s %d pages\n", b.ID, b.Title, b.Pages)
	}

	// A title is unique, so this is refused and nothing changes.
	_, err = db.Exec(ctx, put, "Night Flight", 87, nil)
	if !errors.Is(err, fenec.ErrDuplicate) {
		return fmt.Errorf("a second Night Flight: got %v, want a duplicate", err)
	}
	fmt.Fprintln(out, "refused:", err)
	return nil
}
