package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// interrupt moves the tenant beside a writer, with writes held by the router and with
// writes refused, and tells for how long none was taken.
func (m *moveBench) interrupt(ctx context.Context) error {
	for _, r := range []struct {
		name  string
		flags []string
	}{
		{"writes held as by default", nil},
		{"writes refused (--hold 0)", []string{"--hold", "0"}},
	} {
		if err := m.route(ctx, r.flags...); err != nil {
			return err
		}
		var took time.Duration
		beside, err := m.beat(ctx, func() (err error) {
			took, _, err = m.move(ctx)
			return err
		})
		if err != nil {
			return err
		}
		alone, err := m.beat(ctx, func() error { return sleep(ctx, took) })
		if err != nil {
			return err
		}
		m.out.Line("longest without a write, none moving; "+r.name, report.Duration, float64(beside.longest),
			float64(alone.longest), float64(beside.longest)/float64(alone.longest), report.Goal{})
		m.note("  a move of %v, %d writes taken meanwhile and %d refused", took.Round(time.Millisecond), beside.taken, beside.refused)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// beats is what a writer saw.
type beats struct {
	taken, refused int
	longest        time.Duration // between two writes that were taken
}

// beat writes through the router one write after the other while job runs, from one
// that was taken before it to one that was taken after it.
func (m *moveBench) beat(ctx context.Context, job func() error) (beats, error) {
	var b beats
	last, err := m.write(ctx, &b)
	if err != nil {
		return b, err
	}
	done := make(chan error, 1)
	go func() { done <- job() }()
	for ended := false; !ended; {
		select {
		case err := <-done:
			if err != nil {
				return b, err
			}
			ended = true
		default:
		}
		now, err := m.write(ctx, &b)
		if err != nil && !ended {
			err = errors.Join(err, <-done)
		}
		if err != nil {
			return b, err
		}
		b.taken++
		b.longest = max(b.longest, now.Sub(last))
		last = now
	}
	return b, nil
}

// refusedPause is how long a writer waits before it tries again.
const refusedPause = time.Millisecond

// write writes until it is taken and returns when that was.
func (m *moveBench) write(ctx context.Context, b *beats) (time.Time, error) {
	body := fmt.Appendf(nil, `{"query":"put beats {id: 1, n: $1}","params":[%d]}`, b.taken)
	for {
		a, err := send(ctx, "POST", m.url+"/t/"+acme+"/query", dataToken, body)
		if err != nil {
			return time.Time{}, err
		}
		if a.Status != http.StatusServiceUnavailable {
			_, err := successful(a, nil)
			return time.Now(), err
		}
		b.refused++
		if err := sleep(ctx, refusedPause); err != nil {
			return time.Time{}, err
		}
	}
}
