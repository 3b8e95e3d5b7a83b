package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// What the first searches after opening may take while the file is in memory,
// and how much longer opening may take than without indexes.
const (
	firstMatch = float64(5 * time.Millisecond)
	firstNear  = float64(50 * time.Millisecond)
	openFactor = 1.5
)

// measureCold opens a database of vectors and documents and searches each once,
// with the file in memory and, where that is allowed, without.
func measureCold(ctx context.Context, e *env) error {
	if e.peersOnly {
		e.note("fenec alone is measured here")
		return nil
	}
	b := &coldBench{env: e, set: e.clustered(), docs: documents(e.n, chunk)}
	if err := errors.Join(b.make(ctx, b.path("plain.fenec"), false), b.make(ctx, b.path("cold.fenec"), true)); err != nil {
		return err
	}
	if err := b.warm(ctx); err != nil {
		return err
	}
	if !b.drop {
		return nil
	}
	return b.cold(ctx)
}

// coldBench has two closed databases with the same rows, one of them with indexes.
type coldBench struct {
	*env
	set  *vectorSet
	docs *corpus
	next int // the question asked next
}

func (b *coldBench) make(ctx context.Context, path string, indexed bool) error {
	f, err := openFenec(path)
	if err != nil {
		return err
	}
	err = f.fillVectors(ctx, b.set)
	if err == nil {
		err = f.fillTexts(ctx, b.docs.texts)
	}
	if err == nil && indexed {
		_, err = f.indexVectors(ctx, b.set)
	}
	if err == nil && indexed {
		_, err = f.indexTexts(ctx)
	}
	return errors.Join(err, f.close())
}

// opened is what a database took to open, and its first searches.
type opened struct{ open, match, near float64 } // nanoseconds

// open opens a database, searches it if search is set, and closes it.
func (b *coldBench) open(ctx context.Context, path string, search bool) (o opened, err error) {
	start := time.Now()
	f, err := openFenec(path)
	if err != nil {
		return o, err
	}
	o.open = float64(time.Since(start))
	if search {
		err = b.search(ctx, f, &o)
	}
	return o, errors.Join(err, f.close())
}

func (b *coldBench) search(ctx context.Context, f *fenecDB, o *opened) (err error) {
	b.next++
	o.match, err = f.first(ctx, matchText, b.docs.questions[b.next%len(b.docs.questions)])
	if err != nil {
		return err
	}
	o.near, err = f.first(ctx, fmt.Sprintf(nearText, filterEF), b.set.asked[b.next%len(b.set.asked)])
	return err
}

// first runs a statement that was not prepared and returns the nanoseconds it
// took.
func (f *fenecDB) first(ctx context.Context, text string, args ...any) (float64, error) {
	start := time.Now()
	res, err := f.db.Query(ctx, text, args...)
	took := float64(time.Since(start))
	if err == nil && res.Len() == 0 {
		err = fmt.Errorf("%s: nothing is answered", text)
	}
	return took, err
}

// turns opens the databases in turns, after prepare, and returns the medians for
// the one with indexes and for the one without.
func (b *coldBench) turns(ctx context.Context, prepare func() error) (full, plain opened, err error) {
	var match, near []float64
	got, err := measure.Interleave(ctx, b.Rounds, []measure.Contender{
		{Name: "indexes", Slice: func() (float64, error) {
			if err := prepare(); err != nil {
				return 0, err
			}
			o, err := b.open(ctx, b.path("cold.fenec"), true)
			match, near = append(match, o.match), append(near, o.near)
			return o.open, err
		}},
		{Name: "plain", Slice: func() (float64, error) {
			if err := prepare(); err != nil {
				return 0, err
			}
			o, err := b.open(ctx, b.path("plain.fenec"), false)
			return o.open, err
		}},
	})
	if err != nil {
		return full, plain, err
	}
	full = opened{open: got[0], match: measure.Median(match[1:]), near: measure.Median(near[1:])}
	return full, opened{open: got[1]}, nil
}

// openings is how often the databases are opened and closed to compare how long
// that takes.
const openings = 101

// opening returns the median times to open the database with indexes and the one
// without. Nothing is searched: what a search has left behind is cleared away while
// the next database opens.
func (b *coldBench) opening(ctx context.Context) (full, plain float64, err error) {
	var times [2][]float64
	for range openings {
		for i, name := range []string{"cold.fenec", "plain.fenec"} {
			o, err := b.open(ctx, b.path(name), false)
			if err != nil {
				return 0, 0, err
			}
			times[i] = append(times[i], o.open)
		}
	}
	return measure.Median(times[0]), measure.Median(times[1]), nil
}

func (b *coldBench) warm(ctx context.Context) error {
	full, _, err := b.turns(ctx, func() error { return nil })
	if err != nil {
		return err
	}
	indexed, plain, err := b.opening(ctx)
	if err != nil {
		return err
	}
	b.bound("first match, the file in memory", report.Duration, full.match, firstMatch)
	b.bound("first near, the file in memory", report.Duration, full.near, firstNear)
	b.out.Line("opening, against the same rows without indexes", report.Duration, indexed, plain, indexed/plain, report.AtMost(openFactor))
	return nil
}

func (b *coldBench) cold(ctx context.Context) error {
	if err := dropCaches(); err != nil {
		b.note("the same from disk is left out: %v", err)
		return nil
	}
	full, plain, err := b.turns(ctx, dropCaches)
	if err != nil {
		return err
	}
	b.note("from disk: first match %s, first near %s", report.Duration(full.match), report.Duration(full.near))
	b.out.Line("opening from disk, against no indexes", report.Duration, full.open, plain.open, full.open/plain.open, report.Goal{})
	return nil
}
