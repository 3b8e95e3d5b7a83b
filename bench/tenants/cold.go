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
		if err := c.report(ctx, "as filled"); err != nil {
			return err
		}
		if err := c.change(ctx, func(db *fenec.DB) error { return db.Compact(ctx) }); err != nil {
			return err
		}
		if err := c.report(ctx, "compacted"); err != nil {
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
	free  int64 // of bytes, in pages that hold nothing
}

const coldName = "cold"

// make fills a tenant until its file has size bytes.
func (c *coldTenant) make(ctx context.Context, size int64) error {
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return err
	}
	return c.change(ctx, func(db *fenec.DB) error {
		_, err := db.Exec(ctx, docsSchema)
		for err == nil && c.bytes < size {
			// As many as are missing by what those that are there take up.
			step := 1000
			if c.docs > 0 {
				step = max(step, int(float64(size-c.bytes)/float64(c.bytes)*float64(c.docs)))
			}
			err = errors.Join(c.grow(ctx, db, step), c.weigh(db))
		}
		return err
	})
}

// change calls fn with the database while no manager has it.
func (c *coldTenant) change(ctx context.Context, fn func(*fenec.DB) error) error {
	db, err := fenec.Open(c.file(), fenec.Options{})
	if err != nil {
		return err
	}
	err = fn(db)
	if err == nil {
		err = errors.Join(db.Checkpoint(ctx), c.weigh(db))
	}
	return errors.Join(err, db.Close())
}

func (c *coldTenant) file() string { return filepath.Join(c.dir, coldName+".fenec") }

// weigh looks up how large the file is.
func (c *coldTenant) weigh(db *fenec.DB) error {
	st, err := db.Stats()
	if err != nil {
		return err
	}
	info, err := os.Stat(c.file())
	if err == nil {
		c.bytes, c.free = info.Size(), st.FreeBytes
	}
	return err
}

func (c *coldTenant) grow(ctx context.Context, db *fenec.DB, n int) error {
	_, err := db.Load(ctx, docsInsert, func(yield func([]any, error) bool) {
		for i := range n {
			d := gen.MakeDocument(c.docs + i)
			if !yield([]any{c.docs + i + 1, d.Title, d.Body}, nil) {
				return
			}
		}
	})
	c.docs += n
	return errors.Join(err, db.Checkpoint(ctx))
}

// report measures the tenant in the state that it is in.
func (c *coldTenant) report(ctx context.Context, state string) error {
	c.note("%s, %s of it free pages:", state, report.SizeName(c.free))
	if err := c.reportGet(ctx); err != nil {
		return err
	}
	return c.reportMatch(ctx)
}

func (c *coldTenant) reportGet(ctx context.Context) error {
	pick := gen.NewSpread(int64(c.docs))
	a, err := c.answers(ctx, func(ctx context.Context, h *tenant.Handle) error {
		return get(ctx, h, docsGet, pick.Take()+1)
	})
	if err == nil {
		c.line("get by id", a)
	}
	return err
}

func (c *coldTenant) reportMatch(ctx context.Context) error {
	asked, found := 0, 0
	a, err := c.answers(ctx, func(ctx context.Context, h *tenant.Handle) error {
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
	if err == nil {
		c.line("match", a)
	}
	return err
}

// coldAnswers are the nanoseconds that answers took.
type coldAnswers struct {
	first []float64 // from before Acquire
	again []float64 // to a second question, the same for match, once the tenant is open
}

// line prints the slowest answers of the closed tenant, and the others beside them.
func (c *coldTenant) line(name string, a coldAnswers) {
	p99 := measure.Percentile(a.first, 0.99)
	c.atMost(report.SizeName(c.bytes)+": "+name, report.Duration, p99, firstAnswer)
	c.note("p50 %s; once open, p50 %s, p99 %s", report.Duration(measure.Median(a.first)),
		report.Duration(measure.Median(a.again)), report.Duration(measure.Percentile(a.again, 0.99)))
}

// answers asks the closed tenant, and once more when it is open, many times.
func (c *coldTenant) answers(ctx context.Context, ask func(context.Context, *tenant.Handle) error) (a coldAnswers, err error) {
	for range c.samples {
		err := manage(c.dir, tenant.Options{}, func(m *tenant.Manager) error {
			for _, took := range []*[]float64{&a.first, &a.again} {
				start := time.Now()
				if err := visit(ctx, m, coldName, ask); err != nil {
					return err
				}
				*took = append(*took, float64(time.Since(start)))
			}
			return nil
		})
		if err != nil {
			return a, err
		}
	}
	return a, nil
}
