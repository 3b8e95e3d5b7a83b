package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// measureBuild compares how long it takes until all vectors are in an index: made
// over rows that are there, by one core and by two, and kept by puts. What fenec
// does in the background until then is counted. CPU time is what tells on a machine
// that does something else, too.
func measureBuild(ctx context.Context, e *env) error {
	s := e.clustered()
	b := &buildBench{env: e, set: s, took: map[string][]float64{}, cpu: map[string][]float64{}}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	for range max(e.builds, 1) {
		if err := b.round(ctx); err != nil {
			return err
		}
	}
	b.report()
	return nil
}

// buildBench builds indexes in turns.
type buildBench struct {
	*env
	set  *vectorSet
	rows string               // the file of a database that has the vectors and no index
	took map[string][]float64 // nanoseconds by what was built
	cpu  map[string][]float64
}

const (
	buildOne  = "create index, GOMAXPROCS=1"
	buildTwo  = "create index, GOMAXPROCS=2"
	buildPuts = "puts of 1,000 into an index, GOMAXPROCS=2"
)

func (b *buildBench) prepare(ctx context.Context) error {
	if b.peersOnly {
		return nil
	}
	b.rows = b.path("rows.fenec")
	f, err := openFenec(b.rows)
	if err != nil {
		return err
	}
	return errors.Join(f.fillVectors(ctx, b.set), f.close())
}

// round builds each index once.
func (b *buildBench) round(ctx context.Context) error {
	g, err := b.buildInNode(ctx, hnswlibName, b.set)
	if err != nil {
		return err
	}
	if g != nil {
		b.took[hnswlibName] = append(b.took[hnswlibName], g.took)
		b.cpu[hnswlibName] = append(b.cpu[hnswlibName], g.cpu)
	}
	if b.peersOnly {
		return nil
	}
	for _, x := range []struct {
		name  string
		cores int
		build func(context.Context) (spent, error)
	}{{buildOne, 1, b.createIndex}, {buildTwo, 2, b.createIndex}, {buildPuts, 2, b.puts}} {
		before := runtime.GOMAXPROCS(x.cores)
		sp, err := x.build(ctx)
		runtime.GOMAXPROCS(before)
		if err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		b.took[x.name] = append(b.took[x.name], float64(sp.wall))
		b.cpu[x.name] = append(b.cpu[x.name], float64(sp.cpu))
	}
	return nil
}

// createIndex makes the index in a copy of the database of rows.
func (b *buildBench) createIndex(ctx context.Context) (sp spent, err error) {
	path := b.path("indexed.fenec")
	content, err := os.ReadFile(b.rows)
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		return sp, err
	}
	return b.inDatabase(path, func(f *fenecDB) (spent, error) { return f.indexVectors(ctx, b.set) })
}

// puts fills a collection that has the index from the beginning.
func (b *buildBench) puts(ctx context.Context) (spent, error) {
	return b.inDatabase(b.path("put.fenec"), func(f *fenecDB) (spent, error) {
		if err := f.run(ctx, fmt.Sprintf(vectorSchema, b.set.dim)); err != nil {
			return spent{}, err
		}
		if err := f.run(ctx, vectorIndex); err != nil {
			return spent{}, err
		}
		return f.link(ctx, b.set, func() error { return f.putVectors(ctx, b.set) })
	})
}

// inDatabase works in a database that is removed afterwards.
func (b *buildBench) inDatabase(path string, work func(*fenecDB) (spent, error)) (spent, error) {
	f, err := openFenec(path)
	if err != nil {
		return spent{}, err
	}
	sp, err := work(f)
	return sp, errors.Join(err, f.close(), removeDatabase(path))
}

func (b *buildBench) report() {
	if b.peersOnly {
		for _, took := range b.took[hnswlibName] {
			b.note("hnswlib, one thread: %s", report.Duration(took))
		}
		return
	}
	for _, name := range []string{buildOne, buildTwo, buildPuts} {
		goal := report.Goal{}
		if name == buildOne {
			goal = report.AtLeast(1)
		}
		b.line(name, report.Duration, b.medians(b.took, name), hnswlibName, peerOverOurs, goal)
		b.line("  CPU time", report.Duration, b.medians(b.cpu, name), hnswlibName, peerOverOurs, report.Goal{})
	}
	if runtime.NumCPU() > 1 {
		two, one := measure.Median(b.took[buildTwo]), measure.Median(b.took[buildOne])
		b.out.Line("two cores against one", report.Duration, two, one, one/two, report.AtLeast(1.5))
	}
}

// medians returns the figures of what fenec built by a name, and of hnswlib's index
// if there is one.
func (b *buildBench) medians(of map[string][]float64, name string) figures {
	got := figures{fenecName: measure.Median(of[name])}
	if peer := of[hnswlibName]; len(peer) > 0 {
		got[hnswlibName] = measure.Median(peer)
	}
	return got
}
