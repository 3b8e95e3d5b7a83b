package fenec_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// follow subscribes until the test ends.
func follow(t *testing.T, db *fenec.DB, shape fenec.Shape, since uint64) *fenec.Subscription {
	t.Helper()
	sub, err := db.Subscribe(ctx, shape, since)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sub.Close()) })
	return sub
}

// heard returns the next event as servers send it.
func heard(t *testing.T, sub *fenec.Subscription) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	ev, err := sub.Next(ctx)
	require.NoError(t, err)
	b, err := ev.AppendJSON(nil)
	require.NoError(t, err)
	return map[fenec.EventKind]string{fenec.EventSeed: "seed ", fenec.EventChange: "change "}[ev.Kind] + string(b)
}

// quiet requires that there is nothing to hear.
func quiet(t *testing.T, sub *fenec.Subscription) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	ev, err := sub.Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded, "%+v", ev)
}

// tasks are what the subscriptions of the tests follow.
func tasks(t *testing.T, opts fenec.Options) *fenec.DB {
	t.Helper()
	db, err := fenec.OpenMemory(opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	runAll(t, db,
		`create collection tasks (key text @unique, state text @hash, n int)`,
		`put tasks {key: "k1", state: "open", n: 1}`,
		`put tasks {key: "k2", state: "done", n: 2}`)
	return db
}

func TestSubscribe(t *testing.T) {
	all := fenec.Shape{Collection: "tasks"}
	open := fenec.Shape{Collection: "tasks", Where: "state = $1", Args: []any{"open"}, Select: []string{"n"}}
	const (
		seed  = `seed {"seq":3,"rows":[{"id":1,"key":"k1","state":"open","n":1},{"id":2,"key":"k2","state":"done","n":2}]}`
		first = `seed {"seq":3,"rows":[{"id":1,"n":1}]}`
	)
	for name, c := range map[string]struct {
		opts  fenec.Options
		shape fenec.Shape
		since uint64
		early []string // written before anything is heard
		steps []string // a statement, or what is heard; "" for nothing
	}{
		"seed": {shape: all, since: fenec.NoCursor, steps: []string{
			seed, "",
			`put tasks {key: "k3", state: "open"}`,
			`change {"seq":4,"puts":[{"id":3,"key":"k3","state":"open","n":null}],"dels":[],"schema":false}`, "",
		}},
		"filter": {shape: open, since: fenec.NoCursor, steps: []string{
			first,
			`set tasks {state: "done"} where key = "k1"`,
			`change {"seq":4,"puts":[],"dels":[1],"schema":false}`,
			`put tasks {key: "k9", state: "done"}`,
			`change {"seq":5,"puts":[],"dels":[3],"schema":false}`,
			`set tasks {state: "open"} where key = "k2"`,
			`change {"seq":6,"puts":[{"id":2,"n":2}],"dels":[],"schema":false}`, "",
		}},
		"other collection": {shape: all, since: fenec.NoCursor, steps: []string{
			seed, `create collection other (x int)`, "", `put other {x: 1}`, "",
		}},
		"since": {shape: open, since: 3, steps: []string{
			"", `put tasks {key: "k3", state: "open"}`,
			`change {"seq":4,"puts":[{"id":3,"n":null}],"dels":[],"schema":false}`,
		}},
		"since earlier": {shape: all, since: 2, steps: []string{
			`change {"seq":3,"puts":[{"id":2,"key":"k2","state":"done","n":2}],"dels":[],"schema":false}`, "",
		}},
		"since the beginning": {shape: open, since: 0, steps: []string{
			`change {"seq":3,"puts":[{"id":1,"n":1}],"dels":[2],"schema":false}`, "",
		}},
		"since ahead": {shape: open, since: 999, steps: []string{first, ""}},
		"pushed out": {
			opts: fenec.Options{HistoryEntries: 2}, shape: open, since: 1,
			early: []string{`put tasks {key: "a"}`, `put tasks {key: "b"}`, `put tasks {key: "c"}`},
			steps: []string{`seed {"seq":6,"rows":[{"id":1,"n":1}]}`, ""},
		},
		"none kept": {opts: fenec.Options{HistoryEntries: -1}, shape: open, since: 3, steps: []string{
			"", `put tasks {key: "a"}`, `seed {"seq":4,"rows":[{"id":1,"n":1}]}`,
			`create collection other (x int)`, "", `put tasks {key: "b"}`, `seed {"seq":6,"rows":[{"id":1,"n":1}]}`,
		}},
		"pushed out by others": {opts: fenec.Options{HistoryEntries: 4}, shape: open, since: fenec.NoCursor, steps: []string{
			first, `create collection other (x int)`,
			`put other [{x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}]`, "",
			`put tasks {key: "a"}`, `change {"seq":12,"puts":[],"dels":[3],"schema":false}`,
		}},
		"pushed out in mid-stream": {opts: fenec.Options{HistoryEntries: 4}, shape: open, since: fenec.NoCursor, steps: []string{
			first, `put tasks [{}, {}, {}, {}, {}]`, `seed {"seq":8,"rows":[{"id":1,"n":1}]}`,
		}},
		"false": {shape: fenec.Shape{Collection: "tasks", Where: "false", Select: []string{"id"}}, since: fenec.NoCursor, steps: []string{
			`seed {"seq":3,"rows":[]}`, `put tasks {}`, `change {"seq":4,"puts":[],"dels":[3],"schema":false}`,
		}},
		"many states": {shape: open, since: 3, steps: []string{
			`set tasks {n: 5} where id = 1`, `set tasks {n: 6} where id = 1`, `set tasks {n: 7} where id = 1`,
			`change {"seq":6,"puts":[{"id":1,"n":7}],"dels":[],"schema":false}`, "",
		}},
		"many documents": {shape: open, since: 3, steps: []string{
			`put tasks [` + strings.Repeat(`{state: "x"},`, 299) + `{state: "open", n: 4}]`,
			`set tasks {state: "open"} where id = 2 or id = 7`,
			`change {"seq":305,"puts":[{"id":2,"n":2},{"id":7,"n":null},{"id":302,"n":4}],"dels":` + numbersBut(3, 301, 7) + `,"schema":false}`,
		}},
		"alter": {shape: all, since: fenec.NoCursor, steps: []string{
			seed, `alter collection tasks add field z int`,
			`change {"seq":4,"puts":[],"dels":[],"schema":true}`, "",
			`set tasks {z: 3} where id = 1`,
			`change {"seq":5,"puts":[{"id":1,"key":"k1","state":"open","n":1,"z":3}],"dels":[],"schema":false}`, "",
			`create index on tasks (z) @sorted`,
			`change {"seq":6,"puts":[],"dels":[],"schema":true}`, "",
		}},
		"altered since": {
			shape: open, since: 3, early: []string{`alter collection tasks add field z int`, `del tasks where id = 1`},
			steps: []string{`change {"seq":5,"puts":[],"dels":[1],"schema":true}`, ""},
		},
		"made anew since": {
			shape: open, since: 3,
			early: []string{`drop collection tasks`, `create collection tasks (state text, n int)`, `put tasks {id: 7, state: "open"}`},
			steps: []string{`seed {"seq":6,"rows":[{"id":7,"n":null}]}`, ""},
		},
		"another dropped since": {
			shape: open, since: 3,
			early: []string{`create collection a (n int)`, `drop collection a`, `put tasks {state: "open"}`},
			steps: []string{`change {"seq":6,"puts":[{"id":3,"n":null}],"dels":[],"schema":false}`, ""},
		},
		"altered and pushed out": {
			opts: fenec.Options{HistoryEntries: 2}, shape: open, since: fenec.NoCursor,
			steps: []string{first, `alter collection tasks add field z int`, `put tasks [{}, {}, {}]`,
				`seed {"seq":7,"rows":[{"id":1,"n":1}]}`, `change {"seq":7,"puts":[],"dels":[],"schema":true}`, ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := tasks(t, c.opts)
			runAll(t, db, c.early...)
			sub := follow(t, db, c.shape, c.since)
			for _, step := range c.steps {
				switch {
				case step == "":
					quiet(t, sub)
				case strings.HasPrefix(step, "seed") || strings.HasPrefix(step, "change"):
					require.Equal(t, step, heard(t, sub))
				default:
					runAll(t, db, step)
				}
			}
		})
	}
}

// numbersBut is the numbers from first to last without one, as JSON.
func numbersBut(first, last, but int) string {
	var list []string
	for i := first; i <= last; i++ {
		if i != but {
			list = append(list, fmt.Sprint(i))
		}
	}
	return "[" + strings.Join(list, ",") + "]"
}

func TestSubscribeErrors(t *testing.T) {
	db := tasks(t, fenec.Options{})
	runAll(t, db, `create collection _mine (x int)`)
	for name, c := range map[string]struct {
		shape fenec.Shape
		err   error
	}{
		"collection":    {fenec.Shape{Collection: "nope"}, fenec.ErrNotFound},
		"server's own":  {fenec.Shape{Collection: "_mine"}, fenec.ErrNotFound},
		"field":         {fenec.Shape{Collection: "tasks", Where: "nope = 1"}, fenec.ErrNotFound},
		"field behind":  {fenec.Shape{Collection: "tasks", Where: "false and not (n in [1, nope])"}, fenec.ErrNotFound},
		"select":        {fenec.Shape{Collection: "tasks", Select: []string{"nope"}}, fenec.ErrNotFound},
		"computed":      {fenec.Shape{Collection: "tasks", Select: []string{"n + 1"}}, fenec.ErrQuery},
		"condition":     {fenec.Shape{Collection: "tasks", Where: "n >"}, fenec.ErrQuery},
		"more clauses":  {fenec.Shape{Collection: "tasks", Where: "n > 1 limit 1"}, fenec.ErrQuery},
		"parameter":     {fenec.Shape{Collection: "tasks", Where: "n = $2", Args: []any{1}}, fenec.ErrQuery},
		"argument":      {fenec.Shape{Collection: "tasks", Args: []any{make(chan int)}}, fenec.ErrType},
		"named id only": {fenec.Shape{Collection: "tasks", Select: []string{"id", "id"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, since := range []uint64{0, fenec.NoCursor} {
				sub, err := db.Subscribe(ctx, c.shape, since)
				if c.err == nil {
					require.NoError(t, err)
					require.NoError(t, sub.Close())
					continue
				}
				require.ErrorIs(t, err, c.err)
			}
		})
	}
}

func TestSubscriptionEnds(t *testing.T) {
	all := fenec.Shape{Collection: "tasks"}
	for name, c := range map[string]struct {
		end func(db *fenec.DB, sub *fenec.Subscription) error
		err error
		msg string
	}{
		"drop": {func(db *fenec.DB, _ *fenec.Subscription) error {
			_, err := db.Query(ctx, `drop collection tasks`)
			return err
		}, fenec.ErrNotFound, `not found: collection "tasks" was dropped`},
		"made anew": {func(db *fenec.DB, _ *fenec.Subscription) error {
			_, err := db.Batch(ctx, []fenec.Statement{
				{Text: `drop collection tasks`}, {Text: `create collection tasks (n int)`}, {Text: `put tasks {n: 1}`},
			})
			return err
		}, fenec.ErrNotFound, `not found: collection "tasks" was dropped`},
		"close": {func(_ *fenec.DB, sub *fenec.Subscription) error { return sub.Close() },
			fenec.ErrClosed, "subscription is closed"},
		"database close": {func(db *fenec.DB, _ *fenec.Subscription) error { return db.Close() },
			fenec.ErrClosed, "database is closed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := tasks(t, fenec.Options{})
				sub := follow(t, db, all, db.Seq())
				ended := make(chan error)
				go func() {
					_, err := sub.Next(ctx)
					ended <- err
				}()
				synctest.Wait()
				require.NoError(t, c.end(db, sub))
				err := <-ended
				require.ErrorIs(t, err, c.err)
				require.EqualError(t, err, c.msg)
				_, err = sub.Next(ctx)
				require.ErrorIs(t, err, c.err)
				require.EqualError(t, err, c.msg)
				require.NoError(t, sub.Close())
				require.NoError(t, sub.Close())
			})
		})
	}
}

// A shape that does not fit its changed collection hears of the change first.
func TestShapeOfADroppedField(t *testing.T) {
	db := tasks(t, fenec.Options{})
	sub := follow(t, db, fenec.Shape{Collection: "tasks", Where: "n > 1"}, fenec.NoCursor)
	require.Equal(t, `seed {"seq":3,"rows":[{"id":2,"key":"k2","state":"done","n":2}]}`, heard(t, sub))
	runAll(t, db, `alter collection tasks drop field n`, `put tasks {}`)
	require.Equal(t, `change {"seq":3,"puts":[],"dels":[],"schema":true}`, heard(t, sub))
	for range 2 {
		_, err := sub.Next(ctx)
		require.ErrorIs(t, err, fenec.ErrNotFound)
	}
}

// Cursors go on after a restart, from the file and from the log.
func TestSubscribeAfterRestart(t *testing.T) {
	for _, keepLog := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "acme.fenec")
		opts := fenec.Options{NoCheckpoint: keepLog}
		db, err := fenec.Open(path, opts)
		require.NoError(t, err)
		runAll(t, db, `create collection tasks (n int)`, `put tasks {n: 1}`, `put tasks {n: 2}`)
		require.NoError(t, db.Close())
		db, err = fenec.Open(path, opts)
		require.NoError(t, err)
		seq := db.Seq()
		require.EqualValues(t, 3, seq)
		quiet(t, follow(t, db, fenec.Shape{Collection: "tasks"}, seq))
		sub := follow(t, db, fenec.Shape{Collection: "tasks"}, seq-1)
		require.Equal(t, `change {"seq":3,"puts":[{"id":2,"n":2}],"dels":[],"schema":false}`, heard(t, sub))
		require.NoError(t, db.Close())
	}
}

// A cursor of writes that were lost with the machine's power leads to a seed, and
// no other does.
func TestSubscribeAfterPowerLoss(t *testing.T) {
	dir := t.TempDir()
	before, after := filepath.Join(dir, "a.fenec"), filepath.Join(dir, "b.fenec")
	db, err := fenec.Open(before, fenec.Options{})
	require.NoError(t, err)
	runAll(t, db, `create collection tasks (n int)`, `put tasks {n: 1}`)
	for _, end := range []string{"", "-log"} {
		b, err := os.ReadFile(before + end)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(after+end, b, 0o600))
	}
	runAll(t, db, `put tasks {n: 2}`) // which does not reach the disk
	require.NoError(t, db.Close())

	db, err = fenec.Open(after, fenec.Options{})
	require.NoError(t, err)
	defer db.Close()
	all := fenec.Shape{Collection: "tasks"}
	seq := db.Seq()
	require.Greater(t, seq, uint64(1000))
	quiet(t, follow(t, db, all, 2))
	quiet(t, follow(t, db, all, seq))
	for _, lost := range []uint64{3, seq - 1} {
		require.Equal(t, fmt.Sprintf(`seed {"seq":%d,"rows":[{"id":1,"n":1}]}`, seq), heard(t, follow(t, db, all, lost)))
	}
}

// There is a goroutine for all subscriptions, as long as there are any.
func TestSubscriptionGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := tasks(t, fenec.Options{})
		for range 3 {
			var subs []*fenec.Subscription
			for range 50 {
				sub, err := db.Subscribe(ctx, fenec.Shape{Collection: "tasks"}, db.Seq())
				require.NoError(t, err)
				subs = append(subs, sub)
			}
			runAll(t, db, `put tasks {n: 1}`)
			for _, sub := range subs {
				heard(t, sub)
				require.NoError(t, sub.Close())
			}
		}
		// The bubble ends only once every goroutine has.
	})
}

func ExampleDB_Subscribe() {
	db := library()
	defer db.Close()
	sub, err := db.Subscribe(ctx, fenec.Shape{
		Collection: "books", Where: "pages > $1", Args: []any{300}, Select: []string{"title"},
	}, fenec.NoCursor)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sub.Close()

	for _, statement := range []string{
		`get books count`,
		`put books {title: "Ubik", pages: 202}`,
		`set books {pages: 302} where title = "Ubik"`,
		`del books where title = "Dune"`,
	} {
		if _, err := db.Query(ctx, statement); err != nil {
			fmt.Println(err)
		}
		if strings.HasPrefix(statement, "set") {
			continue // the next event tells of two writes
		}
		ev, err := sub.Next(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		json, err := ev.AppendJSON(nil)
		fmt.Println(string(json), err)
	}
	// Output:
	// {"seq":4,"rows":[{"id":1,"title":"Dune"},{"id":2,"title":"The Dispossessed"}]} <nil>
	// {"seq":5,"puts":[],"dels":[4],"schema":false} <nil>
	// {"seq":7,"puts":[{"id":4,"title":"Ubik"}],"dels":[1],"schema":false} <nil>
}
