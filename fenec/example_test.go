package fenec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

var ctx = context.Background()

// library opens a database in memory with a few books, for the examples.
func library() *fenec.DB {
	db, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, statement := range []string{
		`create collection books (title text required, author text @hash, pages int @sorted, tags [text], read timestamp)`,
		`put books [
			{title: "Dune", author: "Herbert", pages: 612, tags: ["desert", "spice"], read: "2024-07-01"},
			{title: "The Dispossessed", author: "Le Guin", pages: 341, tags: ["moon"]},
			{title: "The Lathe of Heaven", author: "Le Guin", pages: 184, tags: ["dreams"], read: "2025-01-15"},
		]`,
	} {
		if _, err := db.Query(ctx, statement); err != nil {
			log.Fatal(err)
		}
	}
	return db
}

// A database from its first statement to its last.
func Example() {
	db, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	if _, err := db.Exec(ctx, `create collection books (title text @hash, pages int @sorted)`); err != nil {
		log.Fatal(err)
	}
	for title, pages := range map[string]int{"Dune": 612, "Solaris": 204, "Ubik": 202} {
		if _, err := db.Exec(ctx, `put books {title: $1, pages: $2}`, title, pages); err != nil {
			log.Fatal(err)
		}
	}
	res, err := db.Query(ctx, `get books where pages > $1 order pages`, 203)
	if err != nil {
		log.Fatal(err)
	}
	for row := range res.All() {
		title, err := row.Text("title")
		if err != nil {
			log.Fatal(err)
		}
		pages, err := row.Int("pages")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(title, "has", pages, "pages")
	}
	// Output:
	// Solaris has 204 pages
	// Dune has 612 pages
}

// A database is a file, made by the first Open.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "books.fenec")

	db, err := fenec.Open(path, fenec.Options{
		Sync: fenec.SyncAlways, // a write that was answered is on disk
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := db.Exec(ctx, `create collection books (title text)`); err != nil {
		log.Fatal(err)
	}
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}

	again, err := fenec.Open(path, fenec.Options{MustExist: true})
	if err != nil {
		log.Fatal(err)
	}
	defer again.Close()
	fmt.Println(again.Collections())

	_, err = fenec.Open(path, fenec.Options{})
	fmt.Println("a second Open:", errors.Is(err, fenec.ErrInUse))
	// Output:
	// [books]
	// a second Open: true
}

// Values are passed beside the text. Query runs statements of every kind.
func ExampleDB_Query() {
	db := library()
	defer db.Close()

	res, err := db.Query(ctx, `get books select title, pages / 2 as half
		where tags has $1 or read < $2 order title`, "moon", time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Columns(), res.Len())
	for row := range res.All() {
		title, _ := row.Value(0)
		half, _ := row.Value(1)
		fmt.Println(title, half)
	}

	_, err = db.Query(ctx, `get books where auteur = "Lem"`)
	fmt.Println(errors.Is(err, fenec.ErrNotFound), err)
	_, err = db.Query(ctx, `put books {title: "Ubik", pages: "few"}`)
	fmt.Println(errors.Is(err, fenec.ErrType), err)
	// Output:
	// [title half] 2
	// Dune 306
	// The Dispossessed 170
	// true not found: no field "auteur" in collection "books"
	// true type error: field "pages": want int, got text
}

// Exec tells how many documents were written or deleted.
func ExampleDB_Exec() {
	db := library()
	defer db.Close()

	n, err := db.Exec(ctx, `set books {tags: ["short"], pages: pages + 1} where pages < 400`)
	fmt.Println("set:", n, err)
	n, err = db.Exec(ctx, `del books where author = $1`, "Le Guin")
	fmt.Println("deleted:", n, err)
	n, err = db.Exec(ctx, `put books $1`, []any{
		map[string]any{"title": "Ubik", "author": "Dick"},
		map[string]any{"title": "Valis", "author": "Dick"},
	})
	fmt.Println("put:", n, err)
	// Output:
	// set: 2 <nil>
	// deleted: 2 <nil>
	// put: 2 <nil>
}

// The statements of a batch happen together or not at all.
func ExampleDB_Batch() {
	db := library()
	defer db.Close()

	lend := func(title string) error {
		_, err := db.Batch(ctx, []fenec.Statement{
			{Text: `set books {tags: ["lent"]} where title = $1`, Args: []any{title}},
			{Text: `put loans {book: $1, on: now()}`, Args: []any{title}},
		})
		return err
	}
	err := lend("Dune")
	var failed *fenec.BatchError
	if errors.As(err, &failed) {
		fmt.Printf("at index %d: %v\n", failed.At, failed.Err)
	}
	res, err := db.Query(ctx, `get books where tags = ["lent"] count`)
	if err != nil {
		log.Fatal(err)
	}
	res.Next()
	var lent int
	if err := res.Scan(&lent); err != nil {
		log.Fatal(err)
	}
	fmt.Println("lent:", lent)

	if _, err := db.Exec(ctx, `create collection loans (book text @unique, on timestamp)`); err != nil {
		log.Fatal(err)
	}
	fmt.Println(lend("Dune"))
	fmt.Println("again:", errors.Is(lend("Dune"), fenec.ErrDuplicate))
	// Output:
	// at index 1: not found: no collection "loans"
	// lent: 0
	// <nil>
	// again: true
}

// A statement that is run often is parsed and compiled once.
func ExampleDB_Prepare() {
	db := library()
	defer db.Close()

	byAuthor, err := db.Prepare(`get books where author = $1 count`)
	if err != nil {
		log.Fatal(err)
	}
	for _, author := range []string{"Herbert", "Le Guin", "Lem"} {
		res, err := byAuthor.Query(ctx, author)
		if err != nil {
			log.Fatal(err)
		}
		for row := range res.All() {
			n, _ := row.Int("count")
			fmt.Println(author, n)
		}
	}
	// Output:
	// Herbert 1
	// Le Guin 2
	// Lem 0
}

// Everything read in a View is of one moment, whatever is written meanwhile.
func ExampleDB_View() {
	db := library()
	defer db.Close()

	err := db.View(ctx, func(sn *fenec.Snapshot) error {
		if _, err := db.Exec(ctx, `del books`); err != nil {
			return err
		}
		res, err := sn.Query(ctx, `get books`)
		if err != nil {
			return err
		}
		fmt.Println("in the view:", res.Len())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	res, err := db.Query(ctx, `get books`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("after it:", res.Len())
	// Output:
	// in the view: 3
	// after it: 0
}

// A limit decides about every block before anything of it is written.
func ExampleDB_SetLimit() {
	db := library()
	defer db.Close()

	const most = 4 // books
	rows := 3
	db.SetLimit(func(b fenec.Block) error {
		if rows+b.Rows > most && !b.Shrinks {
			return fenec.Over("%d documents are more than %d", rows+b.Rows, most)
		}
		rows += b.Rows
		return nil
	})
	for _, title := range []string{"Ubik", "Valis"} {
		_, err := db.Exec(ctx, `put books {title: $1}`, title)
		fmt.Println(title, errors.Is(err, fenec.ErrOverLimit), err)
	}
	n, err := db.Exec(ctx, `del books limit 2`)
	fmt.Println(n, err)
	// Output:
	// Ubik false <nil>
	// Valis true over limit: 5 documents are more than 4
	// 2 <nil>
}

// The figures are exact and cost nothing to read.
func ExampleDB_Stats() {
	db := library()
	defer db.Close()

	st, err := db.Stats()
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range st.Collections {
		fmt.Println(c.Name, c.Rows, c.LiveBytes > 0)
	}
	fmt.Println("changes so far:", st.Seq)
	// Output:
	// books 3 true
	// changes so far: 4
}

// An image carries a database elsewhere while it is in use.
func ExampleDB_Image() {
	db := library()
	defer db.Close()

	var image bytes.Buffer // or a connection to another machine
	if err := db.Image(ctx, &image); err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "copy.fenec")
	if err := fenec.Install(path, &image); err != nil {
		log.Fatal(err)
	}

	copied, err := fenec.Open(path, fenec.Options{MustExist: true})
	if err != nil {
		log.Fatal(err)
	}
	defer copied.Close()
	fmt.Println(copied.Collections(), copied.Seq() == db.Seq())
	// Output: [books] true
}

// Install takes whole images only.
func ExampleInstall() {
	db := library()
	defer db.Close()
	var image bytes.Buffer
	if err := db.Image(ctx, &image); err != nil {
		log.Fatal(err)
	}
	image.Truncate(image.Len() - 100) // the line went down

	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "copy.fenec")
	err = fenec.Install(path, &image)
	fmt.Println(errors.Is(err, fenec.ErrImage))
	_, err = os.Stat(path)
	fmt.Println(os.IsNotExist(err))
	// Output:
	// true
	// true
}

// Check reads a closed database from end to end.
func ExampleCheck() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "books.fenec")
	db, err := fenec.Open(path, fenec.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, statement := range []string{`create collection books (title text)`, `put books {title: "Dune"}`} {
		if _, err := db.Query(ctx, statement); err != nil {
			log.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("sound:", fenec.Check(path) == nil)

	file, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	file[bytes.Index(file, []byte("Dune"))] = 'J' // the disk has its own ideas
	if err := os.WriteFile(path, file, 0o600); err != nil {
		log.Fatal(err)
	}
	fmt.Println("damage found:", errors.Is(fenec.Check(path), fenec.ErrCorrupt))
	// Output:
	// sound: true
	// damage found: true
}

// Rows become structs. A pointer takes a null as nil.
func ExampleCollect() {
	db := library()
	defer db.Close()

	type Book struct {
		ID     int64
		Title  string
		By     string `fenec:"author"`
		Tags   []string
		ReadOn *time.Time `fenec:"read"`
	}
	res, err := db.Query(ctx, `get books order title limit 2`)
	if err != nil {
		log.Fatal(err)
	}
	books, err := fenec.Collect[Book](res)
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range books {
		fmt.Printf("%d %s by %s %q", b.ID, b.Title, b.By, b.Tags)
		if b.ReadOn != nil {
			fmt.Print(", read in ", b.ReadOn.Year())
		}
		fmt.Println()
	}
	// Output:
	// 1 Dune by Herbert ["desert" "spice"], read in 2024
	// 2 The Dispossessed by Le Guin ["moon"]
}

// Scan takes the columns in order.
func ExampleRow_Scan() {
	db := library()
	defer db.Close()

	res, err := db.Query(ctx, `get books select title, pages, read where author = "Le Guin"`)
	if err != nil {
		log.Fatal(err)
	}
	for row := range res.All() {
		var title string
		var pages int
		var read *time.Time
		if err := row.Scan(&title, &pages, &read); err != nil {
			log.Fatal(err)
		}
		fmt.Println(title, pages, read != nil)
	}
	// Output:
	// The Dispossessed 341 false
	// The Lathe of Heaven 184 true
}
