package fenec_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
)

// The smith is one more worker: it changes definitions, and builds indexes while
// the others write. What it does is a cycle of steps, so that how many of them
// are done says how the definitions are and what the documents of shapes hold.

// crashSmith is the number of the worker.
const crashSmith = crashWorkers

// opShape is what the smith does.
const opShape = "shape"

// shapeStart is what the cycle starts from, besides the collection docs.
var shapeStart = []string{
	`create collection shapes (key text @unique, j json)`,
	`put shapes [{key: "a"}, {key: "b"}, {key: "c"}, {key: "d"}, {key: "e"}, {key: "f"}, {key: "g"}]`,
	`set shapes {j.x: id}`,
}

// shapeCycle leads back to where it starts.
var shapeCycle = []string{
	`alter collection shapes add f text`,
	`create index on shapes (f) @hash`,
	`set shapes {f: key}`,
	`alter collection docs add meta json`,
	`create index on docs (meta.rev) @sorted`,
	`alter collection shapes rename f to g`,
	`set docs {meta.rev: rev}`,
	`alter collection heap add note text`,
	`set heap {note: key} where owner >= 0`,
	`create index on heap (note) @unique`,
	`create index on shapes (j.x) @unique`,
	`alter collection shapes add h int @sorted`,
	`alter collection shapes drop g`,
	`alter collection docs drop meta`,
	`alter collection docs add note text`,
	`alter collection shapes drop h`,
	`set docs {note: key}`,
	`alter collection heap rename note to mark`,
	`alter collection heap drop mark`,
	`alter collection heap add tag json`,
	`set heap {tag.x: rev} where owner >= 0`,
	`create index on heap (tag.x) @sorted`,
	`alter collection heap drop tag`,
	`alter collection heap add tale text`,
	`set heap {tale: key} where owner >= 0`,
	`create index on heap (tale) @text`,
	`alter collection heap add v vector<2>`,
	`set heap {v: [1, 2]} where owner >= 0`,
	`create index on heap (v) @hnsw`,
	`alter collection heap drop tale`,
	`alter collection heap drop v`,
	`create index on docs (note) @hash`,
	`alter collection shapes drop j`,
	`alter collection shapes add j json`,
	`alter collection docs drop note`,
	`set shapes {j.x: id}`,
}

// shapeOf says how the definitions are and what shapes holds.
func shapeOf(query queryFunc) (string, error) {
	var parts []string
	for _, text := range []string{`describe docs`, `describe heap`, `describe shapes`, `get shapes`, `get shapes where key > "c" order key desc`} {
		res, err := query(ctx, text)
		if err != nil {
			return "", err
		}
		b, err := res.AppendJSON(nil)
		if err != nil {
			return "", err
		}
		parts = append(parts, string(b))
	}
	return strings.Join(parts, "\n"), nil
}

// shapes returns what shapeOf says before each step of the cycle, and checks
// that it is one.
func shapes() (out []string, err error) {
	db, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, text := range append([]string{crashDocs, crashPile}, shapeStart...) {
		if _, err := db.Query(ctx, text); err != nil {
			return nil, err
		}
	}
	for _, text := range append(shapeCycle, "collections") {
		s, err := shapeOf(db.Query)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
		if _, err := db.Query(ctx, text); err != nil {
			return nil, err
		}
	}
	if last := len(shapeCycle); out[last] != out[0] {
		return nil, fmt.Errorf("the cycle leads from\n%s\nto\n%s", out[0], out[last])
	}
	return out[:len(shapeCycle)], nil
}

// checkShape checks that the database is as the steps that were acknowledged
// leave it, or with the one more that was begun, and takes note of which.
func (w *crashWorld) checkShape(db *fenec.DB, pending *crashOp) error {
	got, err := shapeOf(db.Query)
	if err != nil {
		return err
	}
	n := len(w.shapes)
	switch {
	case got == w.shapes[w.shape%n]:
		return nil
	case pending != nil && got == w.shapes[(w.shape+1)%n]:
		w.shape++
		return nil
	}
	return fmt.Errorf("after %d steps, the next begun: %t, found\n%s\nwant\n%s", w.shape, pending != nil, got, w.shapes[w.shape%n])
}

// forge takes the smith's steps, saying what it is about to do and what it has
// done.
func (c *crashChild) forge(stop <-chan struct{}) error {
	for n := c.Shape; ; n++ {
		for seen := c.done.Load(); c.done.Load() < seen+4; {
			select {
			case <-stop:
				return nil
			default:
				runtime.Gosched()
			}
		}
		text := shapeCycle[n%len(shapeCycle)]
		if err := c.say(crashLine{Worker: crashSmith, Op: &crashOp{Kind: opShape, Rev: int64(n)}}); err != nil {
			return err
		}
		res, err := c.db.Query(ctx, text)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		count := res.Affected()
		if res.Kind() == fenec.KindMessage {
			count = 1
		}
		if err := c.say(crashLine{Worker: crashSmith, Seq: res.Seq(), Count: count}); err != nil {
			return err
		}
	}
}
