package main

import (
	"context"
	"errors"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
)

// lots is a limit that nothing here comes near.
const lots = 1 << 50

// everyLimit sets all of them.
var everyLimit = quota.Limits{
	Bytes: lots, Rows: lots, Streams: lots, Requests: lots,
	RowsPerSecond: lots, BytesPerSecond: lots, RequestsPerSecond: lots,
}

// What a tenant holds, and is asked.
const (
	schemaText = "create collection rows (n int, body text)"
	putText    = "put rows {id: $1, n: $2, body: 'a text of a common length, as notes have'}"
	getText    = "get rows where id = $1"
	rows       = 1000
)

// kind is a way to put.
type kind struct {
	name   string
	limits quota.Limits
	put    func(*quota.Quota, func() error) error
	goal   report.Goal
}

// plain is what the kinds are held against. It is one of them, too, which tells how
// far the ratios can be trusted.
var plain = kind{name: "the same, against itself", put: plainly}

var kinds = []kind{
	plain,
	{name: "no limit set", put: asked, goal: report.AtMost(1.01)},
	{name: "bytes and rows", limits: quota.Limits{Bytes: lots, Rows: lots}, put: asked},
	{name: "and bytes a second", limits: quota.Limits{Bytes: lots, Rows: lots, BytesPerSecond: lots}, put: asked},
	{name: "every limit", limits: everyLimit, put: asked, goal: report.AtMost(1.1)},
}

// plainly is a write of a program that knows nothing of quotas.
//
//go:noinline
func plainly(_ *quota.Quota, write func() error) error { return write() }

// asked is a write that its quota is asked about.
//
//go:noinline
func asked(q *quota.Quota, write func() error) error {
	if err := q.Enter(); err != nil {
		return err
	}
	defer q.Leave()
	if err := q.MayWrite(); err != nil {
		return err
	}
	return write()
}

// measurePuts puts rows in one database under one kind of quota after the other. The
// disk is left to the checkpoints between the turns: flushes by the clock would fall
// into the same turn over and over.
func measurePuts(ctx context.Context, e *env) error {
	db, err := fenec.Open(e.path("puts.fenec"), fenec.Options{Sync: fenec.SyncOff})
	if err != nil {
		return err
	}
	p := &putBench{env: e, db: db}
	return errors.Join(p.measure(ctx), db.Close())
}

// putBench is a database of which rows are replaced.
type putBench struct {
	*env
	db   *fenec.DB
	stmt *fenec.Stmt
	n    int // puts
}

func (p *putBench) measure(ctx context.Context) (err error) {
	if _, err := p.db.Exec(ctx, schemaText); err != nil {
		return err
	}
	if p.stmt, err = p.db.Prepare(putText); err != nil {
		return err
	}
	for _, k := range kinds {
		got, err := measure.Interleave(ctx, p.Rounds, []measure.Contender{p.side(ctx, k), p.side(ctx, plain)})
		if err != nil {
			return err
		}
		p.out.Line(k.name, report.Duration, got[0], got[1], got[0]/got[1], k.goal)
	}
	return nil
}

func (p *putBench) side(ctx context.Context, k kind) measure.Contender {
	return measure.Contender{
		Name:   k.name,
		Slice:  func() (float64, error) { return p.puts(ctx, k) },
		Settle: func() error { return p.db.Checkpoint(ctx) },
	}
}

// puts puts rows for a while and returns the median of what one took, which others at
// work on the machine disturb less than the mean.
func (p *putBench) puts(ctx context.Context, k kind) (float64, error) {
	var q *quota.Quota
	if k.limits != (quota.Limits{}) {
		q = quota.New(p.db, k.limits, nil)
		defer q.Remove()
	}
	put := func() error {
		p.n++
		_, err := p.stmt.Exec(ctx, p.n%rows+1, p.n)
		return err
	}
	once := func() error { return k.put(q, put) }
	// The first write counts what the database holds.
	if err := once(); err != nil {
		return 0, err
	}
	took, err := measure.Latencies(p.Slice, once)
	return measure.Median(took), err
}
