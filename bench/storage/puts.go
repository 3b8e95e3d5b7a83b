package main

import (
	"context"
	"errors"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
)

// putter stores one row at a time, each on its own.
type putter struct {
	name string
	put  func(id int64, body string) error
	// append stores a row past all others.
	append func(k int64, body string) error
	settle func() error // moves what was put to where it stays
	close  func() error
}

// measurePuts compares single puts into a base: first of new rows past its end,
// then of rows among the old ones. Each is measured alone, which is what a
// caller waits for, and once more together with the background work it leaves
// behind (a fold, a flush, a checkpoint).
func measurePuts(ctx context.Context, e *env) error {
	stores, err := putters(ctx, e)
	if err == nil {
		err = comparePuts(ctx, e, stores)
	}
	for _, s := range stores {
		err = errors.Join(err, s.close())
	}
	return err
}

func comparePuts(ctx context.Context, e *env, stores []putter) error {
	pool := e.bodies()
	last := make([]int64, len(stores))
	appendTo := func(i int) error {
		last[i]++
		return stores[i].append(last[i], pool.At(last[i]))
	}
	odd := make([]*gen.Spread, len(stores))
	for i := range odd {
		odd[i] = gen.NewSpread(int64(e.rows))
	}
	putInto := func(i int) error {
		id := 2*odd[i].Take() + 1
		return stores[i].put(id, pool.At(id))
	}
	if err := e.putLines(ctx, "past the end", stores, appendTo); err != nil {
		return err
	}
	return e.putLines(ctx, "among the old", stores, putInto)
}

// putGoals are in the order of putters, fenec itself left out.
var putGoals = []report.Goal{report.AtLeast(20), report.AtLeast(4), report.AtLeast(0.5)}

// putLines measures one order of ids and prints a line for each peer.
func (e *env) putLines(ctx context.Context, order string, stores []putter, op func(i int) error) error {
	var alone, whole []measure.Contender
	for i, s := range stores {
		do := func() error { return op(i) }
		alone = append(alone, measure.Contender{
			Name:   s.name,
			Slice:  func() (float64, error) { return measure.PerOp(e.Slice, do) },
			Settle: s.settle,
		})
		whole = append(whole, measure.Contender{
			Name:  s.name,
			Slice: func() (float64, error) { return measure.PerOpSettled(e.Slice, do, s.settle) },
		})
	}
	one, err := measure.Interleave(ctx, e.Rounds, alone)
	if err != nil {
		return err
	}
	all, err := measure.Interleave(ctx, e.Rounds, whole)
	if err != nil {
		return err
	}
	for i, s := range stores[1:] {
		e.out.Line(order+", "+s.name, report.Duration, one[0], one[i+1], one[i+1]/one[0], putGoals[i])
	}
	for i, s := range stores[1:] {
		e.out.Line("  its background work included, "+s.name, report.Duration, all[0], all[i+1], all[i+1]/all[0], report.Goal{})
	}
	return nil
}

// putters makes the stores and fills each with the base, fenec first.
func putters(ctx context.Context, e *env) ([]putter, error) {
	var out []putter
	for _, make := range []func(context.Context, *env) (putter, error){
		fenecPutter, boltPutter, sqlitePutter, pebblePutter,
	} {
		p, err := make(ctx, e)
		if p.close != nil {
			out = append(out, p)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func fenecPutter(ctx context.Context, e *env) (putter, error) {
	f, err := openFenec(e.path("puts.fenec"), fenec.Options{})
	if err != nil {
		return putter{}, err
	}
	return putter{
		name:   "fenec",
		put:    func(id int64, body string) error { return f.put(ctx, id, body) },
		append: func(k int64, body string) error { return f.append(ctx, k, body) },
		settle: func() error { return f.db.Checkpoint(ctx) },
		close:  f.close,
	}, f.fill(ctx, e.rows, e.bodies())
}

func boltPutter(ctx context.Context, e *env) (putter, error) {
	b, err := openBolt(e.path("puts.bolt"))
	if err != nil {
		return putter{}, err
	}
	end := e.pastTheEnd()
	return putter{
		name:   "bbolt Update",
		put:    b.put,
		append: func(_ int64, body string) error { return b.put(end(), body) },
		settle: func() error { return nil },
		close:  b.close,
	}, b.fill(ctx, e.rows, e.bodies())
}

func sqlitePutter(ctx context.Context, e *env) (putter, error) {
	s, err := openSQLite(e.path("puts.sqlite"), "normal")
	if err != nil {
		return putter{}, err
	}
	return putter{
		name:   "SQLite WAL",
		put:    s.put,
		append: s.append,
		settle: s.settle,
		close:  s.close,
	}, s.fill(ctx, e.rows, e.bodies())
}

func pebblePutter(ctx context.Context, e *env) (putter, error) {
	p, err := openPebble(e.path("puts.pebble"))
	if err != nil {
		return putter{}, err
	}
	end := e.pastTheEnd()
	return putter{
		name:   "Pebble Set",
		put:    p.put,
		append: func(_ int64, body string) error { return p.put(end(), body) },
		settle: p.settle,
		close:  p.close,
	}, p.fill(ctx, e.rows, e.bodies())
}

// pastTheEnd counts ids up from the last one of the base.
func (e *env) pastTheEnd() func() int64 {
	id := baseID(e.rows)
	return func() int64 { id++; return id }
}
