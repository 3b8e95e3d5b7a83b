// Command embed has a database of its own: it writes documents, follows those that meet a
// condition while they change, and searches them by their words. There is no server; all
// that is kept is one file.
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

// Task is a document: its fields are those of the collection, in lower case.
type Task struct {
	ID   int64 // zero in a new one: the database gives it
	Text string
	Done bool
}

func main() {
	dir, err := os.MkdirTemp("", "fenec-embed-")
	if err != nil {
		log.Fatal(err)
	}
	err = run(context.Background(), os.Stdout, filepath.Join(dir, "tasks.fenec"))
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, path string) (err error) {
	// Opening makes the file if there is none. It belongs to this process until Close.
	db, err := fenec.Open(path, fenec.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	// @text keeps an index of the words, which match needs.
	_, err = db.Exec(ctx, "create collection if not exists tasks (text text required @text, done bool required)")
	if err != nil {
		return err
	}
	if err := write(ctx, db); err != nil {
		return err
	}
	if err := follow(ctx, db, out); err != nil {
		return err
	}
	return search(ctx, db, out, "cat food")
}

// write puts three documents, all of them or, if one is refused, none.
func write(ctx context.Context, db *fenec.DB) error {
	_, err := db.Exec(ctx, "put tasks $1", []Task{
		{Text: "Water the plants"},
		{Text: "Feed the cat"},
		{Text: "Buy food for the cat and for us"},
	})
	return err
}

// follow prints the open tasks as they are, and how they change with each statement below.
// A program that shows a list on a screen calls Next in a goroutine of its own, and is told
// of every change to them, whoever makes it.
func follow(ctx context.Context, db *fenec.DB, out io.Writer) error {
	open := fenec.Shape{Collection: "tasks", Where: "done = $1", Args: []any{false}}
	// NoCursor says that we hold nothing yet. Given the Seq of an event that it has seen,
	// in an earlier run perhaps, a subscriber hears what has happened since.
	sub, err := db.Subscribe(ctx, open, fenec.NoCursor)
	if err != nil {
		return err
	}
	defer sub.Close()
	if err := next(ctx, sub, out); err != nil {
		return err
	}
	for _, change := range []string{
		`put tasks {text: "Mow the lawn", done: false}`,
		`set tasks {done: true} where text = "Water the plants"`,
		`del tasks where id = 4`,
	} {
		fmt.Fprintln(out, ">", change)
		if _, err := db.Exec(ctx, change); err != nil {
			return err
		}
		if err := next(ctx, sub, out); err != nil {
			return err
		}
	}
	return nil
}

// next waits for an event and prints it: a seed is the whole list, which comes first, a
// change what is new in it or has changed, and what has left it.
func next(ctx context.Context, sub *fenec.Subscription, out io.Writer) error {
	ev, err := sub.Next(ctx)
	if err != nil {
		return err
	}
	tasks, err := fenec.Collect[Task](ev.Rows)
	if err != nil {
		return err
	}
	if ev.Kind == fenec.EventSeed {
		fmt.Fprintf(out, "%d open tasks\n", len(tasks))
	}
	for _, task := range tasks {
		fmt.Fprintf(out, "  + %d %s\n", task.ID, task.Text)
	}
	for _, id := range ev.Dels {
		fmt.Fprintf(out, "  - %d\n", id)
	}
	return nil
}

// search prints the tasks that have any of the words, the best first.
func search(ctx context.Context, db *fenec.DB, out io.Writer, words string) error {
	res, err := db.Query(ctx, `get highlight(text, "*", "*") from tasks match text $1 limit 10`, words)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "found by %q\n", words)
	for res.Next() {
		var text string
		var score float64 // the last column
		if err := res.Scan(&text, &score); err != nil {
			return err
		}
		fmt.Fprintf(out, "  %.2f %s\n", score, text)
	}
	return nil
}
