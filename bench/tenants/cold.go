package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

// firstAnswer is what a closed tenant may take to answer, its opening included.
const firstAnswer = float64(5 * time.Millisecond)

// Documents whose text is indexed.
const (
	docsSchema = "create collection docs (title text, body text @text)"
	docsInsert = "insert docs {id: $1, title: $2, body: $3}"
	docsGet    = "get docs where id = $1"
	docsMatch  = "get id from docs match body $1 limit 10"
)

// measureCold acquires tenants that are closed and asks each once.
func measureCold(ctx context.Context, e *env) error {
	sizes := []int64{e.small}
	if e.big > 0 {
		sizes = append(sizes, e.big)
	} else {
		e.note("a large tenant is left out: -big 1000 makes one")
	}
	for _, size := range sizes {
		c := &coldTenant{env: e, dir: e.path("cold-" + report.SizeName(size))}
		if err := c.make(ctx, size); err != nil {
			return err
		}
		if err := c.report(ctx); err != nil {
			return err
		}
	}
	return nil
}

// coldTenant is a directory of one tenant, which every question finds closed.
type coldTenant struct {
	*env
	dir   string
	docs  int
	bytes int64 // of the file
}

const coldName = "cold"

// make fills a tenant until its file has size bytes.
func (c *coldTenant) make(ctx context.Context, size int64) error {
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return err
	}
	path := filepath.Join(c.dir, coldName+".fenec")
	db, err := fenec.Open(path, fenec.Options{})
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, docsSchema)
	for err == nil && c.bytes < size {
		// As many as are missing by what those that are there take up.
		step := 1000
		if c.docs > 0 {
			step = max(step, int(float64(size-c.bytes)/float64(c.bytes)*float64(c.docs)))
		}
		err = c.grow(ctx, db, path, step)
	}
	return errors.Join(err, db.Close())
}

func (c *coldTenant) grow(ctx context.Context, db *fenec.DB, path string, n int) error {
	_, err := db.Load(ctx, docsInsert, func(yield func([]any, error) bool) {
		for i := range n {
			d := gen.MakeDocument(c.docs + i)
			if !yield([]any{c.docs + i + 1, d.Title, d.Body}, nil) {
				return
			}
		}
	})
	c.docs += n
	if err := errors.Join(err, db.Checkpoint(ctx)); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil {
		c.bytes = info.Size()
	}
	return err
}

func (c *coldTenant) report(ctx context.Context) error {
	pick := gen.NewSpread(int64(c.docs))
	size := report.SizeName(c.bytes)
	byID, err := c.samples99(ctx, func(ctx context.Context, h *tenant.Handle) error {
		return get(ctx, h, docsGet, pick.Take()+1)
	})
	if err != nil {
		return err
	}
	c.atMost(size+": get by id", report.Duration, byID.first, firstAnswer)
	asked, found := 0, 0
	match, err := c.samples99(ctx, func(ctx context.Context, h *tenant.Handle) error {
		asked++
		res, err := h.Query(ctx, docsMatch, gen.MakeQuestion((asked-1)/2))
		if err == nil {
			found += res.Len()
		}
		return err
	})
	if err == nil && found < asked { // of ten, at the most, a question
		err = fmt.Errorf("%s: %d questions found %d documents", docsMatch, asked, found)
	}
	if err != nil {
		return err
	}
	c.atMost(size+": match", report.Duration, match.first, firstAnswer)
	c.out.Line("  against the same question asked again", report.Duration, match.first, match.again, match.first/match.again, report.Goal{})
	return nil
}

// coldAnswers are 99th percentiles in nanoseconds.
type coldAnswers struct {
	first float64 // from before Acquire
	again float64 // of a second question, once the tenant is open
}

// samples99 asks the closed tenant, and once more when it is open, many times.
func (c *coldTenant) samples99(ctx context.Context, ask func(context.Context, *tenant.Handle) error) (coldAnswers, error) {
	var first, again []float64
	for range c.samples {
		err := manage(c.dir, tenant.Options{}, func(m *tenant.Manager) error {
			for _, took := range []*[]float64{&first, &again} {
				start := time.Now()
				if err := visit(ctx, m, coldName, ask); err != nil {
					return err
				}
				*took = append(*took, float64(time.Since(start)))
			}
			return nil
		})
		if err != nil {
			return coldAnswers{}, err
		}
	}
	return coldAnswers{measure.Percentile(first, 0.99), measure.Percentile(again, 0.99)}, nil
}
