package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
)

// mix is a workload of YCSB: how often, of a hundred times, each thing is done.
type mix struct {
	name                                string
	read, update, scan, insert, rewrite int
}

var mixes = []mix{
	{name: "A: half reads, half updates", read: 50, update: 50},
	{name: "B: 95 % reads, 5 % updates", read: 95, update: 5},
	{name: "C: reads", read: 100},
	{name: "E: 95 % scans, 5 % inserts", scan: 95, insert: 5},
	{name: "F: half reads, half read and write", read: 50, rewrite: 50},
}

// writes reports whether a mix is worth measuring where every commit waits for
// the disk.
func (m mix) writes() bool { return m.update+m.rewrite >= 50 }

// do does one thing of the mix.
func (m mix) do(ctx context.Context, w *worker) error {
	p := w.rng.IntN(100)
	for _, c := range []struct {
		share int
		do    func(context.Context) error
	}{
		{m.read, w.read}, {m.update, w.update}, {m.scan, w.scanSome}, {m.insert, w.add}, {m.rewrite, w.readModifyWrite},
	} {
		if p -= c.share; p < 0 {
			return c.do(ctx)
		}
	}
	panic("the shares of a mix add up to less than a hundred")
}

// durability is when commits reach the disk, in the words of both engines.
type durability struct {
	name   string
	fenec  fenec.Sync
	sqlite string
}

var (
	buffered = durability{"buffered", fenec.SyncOff, "normal"} // at checkpoints
	durable  = durability{"durable", fenec.SyncAlways, "full"} // at every commit
)

// mixWorkers are how many goroutines work at once.
var mixWorkers = []int{1, 16}

// measureMixes runs the mixes over one table a side, first buffered and then
// durable, and reads all of it in the end.
func measureMixes(ctx context.Context, e *env) (err error) {
	m := &mixBench{env: e, pool: gen.MakeBodies(256, recordBody), keys: newZipf(e.rows)}
	defer func() { err = errors.Join(err, m.close()) }()
	if err := m.open(buffered); err != nil {
		return err
	}
	if err := m.load(ctx); err != nil {
		return err
	}
	if err := m.run(ctx, buffered, func(mix) bool { return true }); err != nil {
		return err
	}
	if err := m.reopen(durable); err != nil {
		return err
	}
	if err := m.run(ctx, durable, mix.writes); err != nil {
		return err
	}
	return errors.Join(m.fenec.verify(ctx), m.sqlite.verify(ctx))
}

// mixBench is a table of records on both sides.
type mixBench struct {
	*env
	pool          gen.Bodies
	keys          *zipf
	opened        []engine
	fenec, sqlite *records
}

func (m *mixBench) open(d durability) error {
	f, err := openFenec(m.path("records.fenec"), fenec.Options{Sync: d.fenec})
	if err != nil {
		return err
	}
	m.opened = append(m.opened, f)
	most := mixWorkers[len(mixWorkers)-1]
	s, err := openSQLite(m.path("records.sqlite"), liteOptions{sync: d.sqlite, readers: most, cache: m.cache})
	if err != nil {
		return err
	}
	m.opened = append(m.opened, s)
	return nil
}

func (m *mixBench) close() error {
	var err error
	for _, e := range m.opened {
		err = errors.Join(err, e.close())
	}
	m.opened = nil
	return err
}

func (m *mixBench) load(ctx context.Context) error {
	for i, t := range []**records{&m.fenec, &m.sqlite} {
		err := loadRecords(ctx, m.opened[i], m.rows, m.pool)
		if err != nil {
			return err
		}
		if *t, err = newRecords(m.opened[i], m.rows, m.pool); err != nil {
			return err
		}
	}
	return nil
}

func (m *mixBench) reopen(d durability) error {
	if err := m.close(); err != nil {
		return err
	}
	if err := m.open(d); err != nil {
		return err
	}
	return errors.Join(m.fenec.use(m.opened[0]), m.sqlite.use(m.opened[1]))
}

// run measures the mixes that are wanted, with each number of workers.
func (m *mixBench) run(ctx context.Context, d durability, wanted func(mix) bool) error {
	for _, n := range mixWorkers {
		for _, x := range mixes {
			if !wanted(x) {
				continue
			}
			if err := m.compare(ctx, x, n, d); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *mixBench) compare(ctx context.Context, x mix, n int, d durability) error {
	var cs []measure.Contender
	for _, t := range []*records{m.fenec, m.sqlite} {
		workers := make([]*worker, n)
		for i := range workers {
			workers[i] = newWorker(t, i, n, m.keys)
		}
		cs = append(cs, measure.Contender{
			Name: t.e.name(),
			Slice: func() (float64, error) {
				rate, err := measure.PerSecond(n, m.Slice, func(i int) error { return x.do(ctx, workers[i]) })
				if err != nil {
					err = fmt.Errorf("%s, %s: %w", t.e.name(), x.name, err)
				}
				return rate, err
			},
			Settle: func() error { return t.e.settle(ctx) },
		})
	}
	got, err := measure.Interleave(ctx, m.Rounds, cs)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s, %d at once", x.name, n)
	if d != buffered {
		name = fmt.Sprintf("%s, %d, %s", x.name, n, d.name)
	}
	m.out.Line(name, report.Rate, got[0], got[1], got[0]/got[1], fasterBy)
	return nil
}
