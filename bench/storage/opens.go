package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
)

// openBody is the text of a row in the files to open: what counts there is the
// file's size, and large rows reach it sooner.
const openBody = 3_000

// measureOpens compares opening a small and a large database, reading one row
// and closing, with both files in the page cache.
func measureOpens(ctx context.Context, e *env) error {
	small, err := makeSized(ctx, e, "small.fenec", e.small)
	if err != nil {
		return err
	}
	big, err := makeSized(ctx, e, "big.fenec", e.big)
	if err != nil {
		return err
	}
	got, err := measure.Interleave(ctx, e.Rounds, []measure.Contender{
		{Name: "small", Slice: func() (float64, error) { return openings(ctx, small, e.Slice) }},
		{Name: "big", Slice: func() (float64, error) { return openings(ctx, big, e.Slice) }},
	})
	if err != nil {
		return err
	}
	e.out.Line(report.SizeName(big.bytes)+" against "+report.SizeName(small.bytes), report.Duration, got[1], got[0], got[1]/got[0], report.AtMost(1.5))
	const two = float64(2 * time.Millisecond)
	e.out.Line(report.SizeName(big.bytes)+" against 2 ms", report.Duration, got[1], two, got[1]/two, report.AtMost(1))
	return nil
}

// sized is a closed database of a wanted size.
type sized struct {
	path  string
	rows  int
	bytes int64
}

// makeSized fills a database until its file holds at least want bytes.
func makeSized(ctx context.Context, e *env, name string, want int64) (sized, error) {
	s := sized{path: e.path(name)}
	f, err := openFenec(s.path, fenec.Options{})
	if err != nil {
		return s, err
	}
	err = s.grow(ctx, f, want)
	return s, errors.Join(err, f.close())
}

func (s *sized) grow(ctx context.Context, f *fenecDB, want int64) error {
	const step = 1_000
	pool := gen.MakeBodies(256, openBody)
	for s.bytes < want {
		// Most of what is missing in one go, as a checkpoint sees the file grow
		// by more than the rows.
		for range max(1, int(want-s.bytes)*9/10/openBody/step) {
			ids := make([]int64, step)
			for i := range ids {
				ids[i] = baseID(s.rows + i)
			}
			if err := f.block(ctx, insertText, ids, pool); err != nil {
				return err
			}
			s.rows += step
		}
		if err := f.db.Checkpoint(ctx); err != nil {
			return err
		}
		info, err := os.Stat(s.path)
		if err != nil {
			return err
		}
		s.bytes = info.Size()
	}
	return nil
}

// openings opens, reads and closes for about d and returns the median cost.
func openings(ctx context.Context, s sized, d time.Duration) (float64, error) {
	pick := gen.NewSpread(int64(s.rows))
	took, err := measure.Latencies(d, func() error {
		db, err := fenec.Open(s.path, fenec.Options{})
		if err != nil {
			return err
		}
		res, err := db.Query(ctx, getText, baseID(int(pick.Take())))
		if err == nil && res.Len() != 1 {
			err = errors.New("the row is missing")
		}
		return errors.Join(err, db.Close())
	})
	return measure.Median(took), err
}
