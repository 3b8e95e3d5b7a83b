package main

import (
	"context"
	"fmt"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// memoryBound is what an open database of items may take up before anything was
// asked.
const memoryBound = 8 << 20

// measureMemory reports what the open database of items takes up: what the heap
// and the stacks have grown by, and what the database itself counts. The pages of
// its file are the operating system's and not part of it.
func measureMemory(ctx context.Context, e *env) error {
	p, err := e.itemPair(ctx)
	if err != nil {
		return err
	}
	st, err := p.fenec.db.Stats()
	if err != nil {
		return err
	}
	opened := float64(p.opened-p.before) + float64(st.MemoryBytes)
	name := fmt.Sprintf("%d rows, 3 indexes, nothing asked yet", e.rows)
	e.out.Line(name, report.Size, opened, memoryBound, opened/memoryBound, report.AtMost(1))
	now := float64(measure.HeldMemory()-p.before) + float64(st.MemoryBytes)
	e.out.Line("  after what has run until now", report.Size, now, memoryBound, now/memoryBound, report.Goal{})
	return nil
}
