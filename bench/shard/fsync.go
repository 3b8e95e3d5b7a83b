package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/rawconn"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// syncs are files that are appended to and synced, to know what that takes beside what is
// measured.
type syncs struct {
	file *os.File
	took []float64
}

func (e *env) newSyncs(name string) (*syncs, error) {
	f, err := os.Create(e.path(name))
	return &syncs{file: f}, err
}

// once appends as much as a small write and syncs it.
func (s *syncs) once() error {
	var piece [256]byte
	start := time.Now()
	_, err := s.file.Write(piece[:])
	err = errors.Join(err, s.file.Sync())
	s.took = append(s.took, float64(time.Since(start)))
	return err
}

// oneSync returns what one sync takes now, in nanoseconds.
func (e *env) oneSync() (took float64, err error) {
	const times = 50
	s, err := e.newSyncs("syncs")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for range times {
		if err := s.once(); err != nil {
			return 0, err
		}
	}
	return s.median(), nil
}

func (s *syncs) median() float64 { return measure.Median(s.took) }

func (s *syncs) close() error { return s.file.Close() }

// lags are of writes to one tenant, in nanoseconds.
type lags struct {
	answered []float64 // until the primary answers
	behind   []float64 // from then until the follower's own count shows it
}

// lagWrites is how many writes a lag is measured over.
const lagWrites = 200

// lag writes through the router to a tenant and waits for each write at the node that
// follows, after a sync of a file.
func (c *near) lag(ctx context.Context, name string, follower *nearNode, s *syncs) (got lags, err error) {
	to, err := rawconn.Dial(ctx, c.url[len("http://"):])
	if err != nil {
		return got, err
	}
	defer to.Close()
	at, err := rawconn.Dial(ctx, follower.listen)
	if err != nil {
		return got, err
	}
	defer at.Close()
	write := rawconn.Request("POST", "/t/"+name+"/docs", []byte(`{"n":1}`), "Authorization: Bearer "+dataToken)
	count := rawconn.Request("POST", "/t/"+name+"/query", []byte(`{"query":"get docs count"}`), "Authorization: Bearer "+dataToken)
	for i := range lagWrites {
		if err := s.once(); err != nil {
			return got, err
		}
		begun := time.Now()
		if err := to.Exchange(write); err != nil {
			return got, err
		}
		answered := time.Now()
		if err := awaitCount(ctx, at, count, i+1); err != nil {
			return got, err
		}
		got.answered = append(got.answered, float64(answered.Sub(begun)))
		got.behind = append(got.behind, float64(time.Since(answered)))
	}
	return got, nil
}

// awaitCount asks until there are as many documents.
func awaitCount(ctx context.Context, at *rawconn.Conn, count []byte, want int) error {
	for {
		body, err := at.Ask(count)
		if err != nil {
			return err
		}
		var got int
		if _, err := fmt.Sscanf(string(body), `[{"count":%d}]`, &got); err != nil {
			return fmt.Errorf("a count is %q: %w", body, err)
		}
		if got >= want {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// tellLag prints what lags are against one sync of a file, the median.
func (e *env) tellLag(got lags, s *syncs) {
	sync := s.median()
	e.note("answered: p50 %s, p99 %s; one fsync: %s, p99 %s", report.Duration(measure.Percentile(got.answered, 0.5)),
		report.Duration(measure.Percentile(got.answered, 0.99)), report.Duration(sync), report.Duration(measure.Percentile(s.took, 0.99)))
	for _, x := range []struct {
		name  string
		share float64
		most  float64
	}{{"p50", 0.5, 0.5}, {"p99", 0.99, 2}} {
		lag := measure.Percentile(got.behind, x.share)
		e.out.Line("lag, "+x.name+", one fsync", report.Duration, lag, sync, lag/sync, report.AtMost(x.most))
	}
}
