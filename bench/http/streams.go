package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// mostMemory is what a server with mostStreams idle subscriptions may take up.
const (
	mostMemory  = 400 << 20
	mostStreams = 10_000
)

// What fills the socket of a reader that does not read: a seed of so many
// documents of so many bytes, which no buffer of a socket holds.
const (
	heavyDocs  = 16
	heavyBytes = 1 << 20
	stalled    = 10 // readers that do not read

	hearingRounds = 5
	writes        = 3 // in a turn of a round
)

// measureStreams measures many subscriptions of one server: its memory while
// nothing happens, and how long it takes until all have heard of a write, beside
// readers that do not read and without.
func measureStreams(ctx context.Context, e *env) (err error) {
	n, err := e.streamsToOpen()
	if err != nil {
		return err
	}
	p, err := e.start(ctx, "fenec", e.path("streams.fenec"), 0, "250")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	before, err := p.memory(ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	crowd, err := gather(ctx, p.addrs[front+surface], n)
	if err != nil {
		return err
	}
	defer crowd.leave()
	e.out.Note(fmt.Sprintf("%d streams were opened and seeded in %v", n, time.Since(start).Round(time.Millisecond)))
	if err := e.reportMemory(ctx, p, before, n); err != nil {
		return err
	}
	return errors.Join(e.reportHearing(ctx, crowd), crowd.failure())
}

// streamsToOpen returns how many streams the limits of descriptors allow.
func (e *env) streamsToOpen() (int, error) {
	files, err := raiseFiles(e.streams + spareFiles)
	if err != nil || files >= e.streams+spareFiles {
		return e.streams, err
	}
	n := files - spareFiles
	e.out.Note(fmt.Sprintf("ONLY %d STREAMS: the limit of descriptors is %d and cannot be raised (ulimit -Hn)", n, files))
	if n <= 0 {
		return 0, errors.New("too few descriptors")
	}
	return n, nil
}

// reportMemory lets the streams be for a while and tells the memory of the
// server's process.
func (e *env) reportMemory(ctx context.Context, p *process, before int64, n int) error {
	select {
	case <-time.After(e.idle):
	case <-ctx.Done():
		return ctx.Err()
	}
	took, err := p.memory(ctx)
	if err != nil {
		return err
	}
	var goal report.Goal
	if n >= mostStreams {
		goal = report.AtMost(1)
	}
	e.out.Line(fmt.Sprintf("memory of the process with %d streams, bound", n), report.Size,
		float64(took), mostMemory, float64(took)/mostMemory, goal)
	e.out.Note(fmt.Sprintf("%.1f KiB a stream, over %s before them", float64(took-before)/float64(n)/1024, report.Size(float64(before))))
	return nil
}

// reportHearing tells how long it takes until all have heard of a write.
func (e *env) reportHearing(ctx context.Context, c *crowd) error {
	heavy := make([]map[string]any, heavyDocs)
	for i := range heavy {
		heavy[i] = map[string]any{"k": 2, "body": strings.Repeat("x", heavyBytes)}
	}
	if _, err := c.hear(ctx, post("/docs", heavy)); err != nil {
		return err
	}
	got, err := measure.Interleave(ctx, hearingRounds, []measure.Contender{
		{Name: "beside stalled readers", Slice: func() (float64, error) {
			release, err := c.stall(ctx, stalled)
			if err != nil {
				return 0, err
			}
			defer release()
			return c.hearing(ctx)
		}},
		{Name: "without", Slice: func() (float64, error) { return c.hearing(ctx) }},
	})
	if err != nil {
		return err
	}
	e.out.Note(fmt.Sprintf("a write was heard by all %d within %s, which is %s a stream", c.size,
		report.Duration(got[1]), report.Duration(got[1]/float64(c.size))))
	e.out.Line(fmt.Sprintf("the same beside %d that do not read, without", stalled), report.Duration,
		got[0], got[1], got[0]/got[1], report.AtMost(1.2))
	return nil
}

// hearing is the median time until all have heard of one of a few writes.
func (c *crowd) hearing(ctx context.Context) (float64, error) {
	var took []float64
	for range writes {
		d, err := c.hear(ctx, post("/docs", map[string]any{"k": followedK, "body": "news"}))
		if err != nil {
			return 0, err
		}
		took = append(took, float64(d))
	}
	return measure.Median(took), nil
}
