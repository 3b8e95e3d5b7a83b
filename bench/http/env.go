package main

import (
	"context"
	"path/filepath"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// env is what the parts share: the flags, the report, a directory, a process with
// a filled database, which is started when first asked for, and the clients of
// the comparison that is being made.
type env struct {
	config
	dir     string
	out     *report.Report
	fenec   *process
	clients []*client
}

// filled returns the process that serves a filled database.
func (e *env) filled(ctx context.Context) (*process, error) {
	if e.fenec != nil {
		return e.fenec, nil
	}
	p, err := e.start(ctx, "fenec", e.path("filled.fenec"), e.rows, "250")
	e.fenec = p
	return p, err
}

func (e *env) path(name string) string { return filepath.Join(e.dir, name) }

func (e *env) close() error {
	e.hangUp()
	if e.fenec == nil {
		return nil
	}
	return e.fenec.Stop()
}

// dial returns n clients that send a request to addr, for the next comparison.
func (e *env) dial(ctx context.Context, n int, addr string, request []byte) ([]*client, error) {
	from := len(e.clients)
	for range n {
		c, err := dial(ctx, addr, request)
		if err != nil {
			return nil, err
		}
		e.clients = append(e.clients, c)
	}
	return e.clients[from:], nil
}

// hangUp lets all clients go.
func (e *env) hangUp() {
	for _, c := range e.clients {
		c.conn.Close()
	}
	e.clients = nil
}

// side is one side of a comparison, which works for a slice.
type side func() (float64, error)

// turns lets the sides of a comparison work in turns and returns their figures.
// It lets all clients go.
func (e *env) turns(ctx context.Context, sides ...side) ([]float64, error) {
	defer e.hangUp()
	cs := make([]measure.Contender, len(sides))
	for i, s := range sides {
		cs[i] = measure.Contender{Slice: s}
	}
	return measure.Interleave(ctx, e.Rounds, cs)
}

// latency is the median time that one client waits for the answer to a request.
func (e *env) latency(ctx context.Context, addr string, request []byte) (side, error) {
	cs, err := e.dial(ctx, 1, addr, request)
	if err != nil {
		return nil, err
	}
	return func() (float64, error) {
		took, err := measure.Latencies(e.Slice, cs[0].ask)
		return measure.Median(took), err
	}, nil
}

// cpu is the CPU time in nanoseconds that p spends on a request, of n clients who
// ask one of its addresses at once.
func (e *env) cpu(ctx context.Context, p *process, n int, addr string, request []byte) (side, error) {
	cs, err := e.dial(ctx, n, addr, request)
	if err != nil {
		return nil, err
	}
	return func() (float64, error) {
		before, err := p.cpu(ctx)
		if err != nil {
			return 0, err
		}
		asked, err := askAll(e.Slice, cs)
		if err != nil {
			return 0, err
		}
		after, err := p.cpu(ctx)
		return float64(after-before) / float64(asked), err
	}, nil
}
