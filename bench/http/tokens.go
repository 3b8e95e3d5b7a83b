package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// measureTokens measures what a JSON Web Token costs that has been seen before,
// and a read that its rules narrow, against one that is narrowed by a filter.
func measureTokens(ctx context.Context, e *env) error {
	jwt, err := mint()
	if err != nil {
		return err
	}
	if err := measureCheck(ctx, e, jwt); err != nil {
		return err
	}
	p, err := e.filled(ctx)
	if err != nil {
		return err
	}
	for _, x := range scopedReads {
		if err := e.scoped(ctx, p, jwt, x.name, x.scoped, x.filtered); err != nil {
			return err
		}
	}
	return nil
}

// scopedReads are reads, and what says the same without a token's rules.
var scopedReads = []struct{ name, scoped, filtered string }{
	{"get by id", "/docs?id=7", "/docs?id=7&owner=ada"},
	{"filter, limit 10", "/docs?k=7&limit=10", "/docs?k=7&owner=ada&limit=10"},
}

// mint returns a token of the first owner.
func mint() (string, error) {
	tokens, err := serve.OpenTokens(serve.TokenOptions{Secret: serve.NewSecret(secret), Policy: policy})
	if err != nil {
		return "", err
	}
	end := time.Now().Add(24 * time.Hour).Unix()
	return tokens.Mint(fmt.Sprintf(`{"sub":%q,"exp":%d}`, owners[0], end))
}

// scoped compares a read under the token with one whose filter says the same.
func (e *env) scoped(ctx context.Context, p *process, jwt, name, scoped, filtered string) error {
	addr := p.addrs[front+surface]
	requests := [2][]byte{scopedGet(scoped, jwt), get(filtered)}
	var waits, uses [2]side
	var err error
	for i, r := range requests {
		if waits[i], err = e.latency(ctx, addr, r); err != nil {
			return err
		}
		if uses[i], err = e.cpu(ctx, p, 8, addr, r); err != nil {
			return err
		}
	}
	got, err := e.turns(ctx, waits[0], waits[1], uses[0], uses[1])
	if err != nil {
		return err
	}
	e.out.Line(name+", scoped against its filter, p50", report.Duration, got[0], got[1], got[0]/got[1], report.AtMost(1.2))
	e.out.Line(name+", CPU, 8 clients", report.Duration, got[2], got[3], got[2]/got[3], report.AtMost(1.2))
	return nil
}

// mostOfCheck is what the check of a token may take.
const mostOfCheck = float64(time.Microsecond)

// measureCheck measures a request that is let in and asks for nothing, under a
// JSON Web Token and under the server's own: the difference is the token's
// check, and the view of the database that it opens.
func measureCheck(ctx context.Context, e *env, jwt string) error {
	db, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	surface, err := newSurface()
	if err != nil {
		return err
	}
	defer surface.Close()
	handler := surface.Handler(db)
	var sides []side
	for _, bearer := range []string{jwt, token} {
		r, err := http.NewRequestWithContext(ctx, http.MethodOptions, "/docs", nil)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+bearer)
		w := &discarding{header: http.Header{}}
		sides = append(sides, func() (float64, error) {
			return measure.PerOp(e.Slice, func() error { return w.serve(handler, r) })
		})
	}
	got, err := e.turns(ctx, sides...)
	if err != nil {
		return err
	}
	cost := got[0] - got[1]
	e.out.Line("check of a token seen before, its bound", report.Duration, cost, mostOfCheck, cost/mostOfCheck, report.AtMost(1))
	return nil
}

// discarding is an http.ResponseWriter that keeps the status only.
type discarding struct {
	header http.Header
	status int
}

func (d *discarding) Header() http.Header         { return d.header }
func (d *discarding) WriteHeader(status int)      { d.status = status }
func (d *discarding) Write(b []byte) (int, error) { return len(b), nil }

// serve lets h answer r, with success.
func (d *discarding) serve(h http.Handler, r *http.Request) error {
	clear(d.header)
	h.ServeHTTP(d, r)
	if d.status/100 != 2 {
		return fmt.Errorf("answered %d", d.status)
	}
	return nil
}
