package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/fenec-go/fenecdb/bench/internal/rawconn"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// measureSQLite compares the surface, in its REST form, with SQLite behind
// net/http: what one client waits, and the CPU time of a request of eight.
func measureSQLite(ctx context.Context, e *env) (err error) {
	ours, err := e.filled(ctx)
	if err != nil {
		return err
	}
	lite, err := e.start(ctx, "sqlite", e.path("lite.db"), e.rows, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lite.Stop()) }()
	for _, a := range requests() {
		err := sameAnswers(ctx, a, ours.addrs[front+surface], lite.addrs[netHTTP+surface])
		if err == nil {
			err = a.againstSQLite(ctx, e, ours, lite)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", a.what, err)
		}
	}
	return nil
}

func (a asked) againstSQLite(ctx context.Context, e *env, ours, lite *process) error {
	var waits, uses []side
	for _, at := range []struct {
		p    *process
		addr string
	}{
		{ours, ours.addrs[front+surface]}, {lite, lite.addrs[netHTTP+surface]}, {ours, ours.addrs[netHTTP+surface]},
	} {
		wait, err := e.latency(ctx, at.addr, a.rest)
		if err != nil {
			return err
		}
		use, err := e.cpu(ctx, at.p, 8, at.addr, a.rest)
		if err != nil {
			return err
		}
		waits, uses = append(waits, wait), append(uses, use)
	}
	got, err := e.turns(ctx, append(waits, uses...)...)
	if err != nil {
		return err
	}
	for i, name := range []string{", p50", ", CPU, 8 clients"} {
		ours, lite, mounted := got[3*i], got[3*i+1], got[3*i+2]
		e.out.Line(a.what+name, report.Duration, ours, lite, lite/ours, report.AtLeast(1))
		e.out.Line(a.what+name+", both on net/http", report.Duration, mounted, lite, lite/mounted, report.Goal{})
	}
	return nil
}

// sameAnswers says how the answers to a request differ. Of a search only the ids
// are compared, of which an index of vectors may miss one.
func sameAnswers(ctx context.Context, a asked, ours, peer string) error {
	var ids [2][]int64
	var bodies [2]string
	for i, addr := range []string{ours, peer} {
		conn, err := rawconn.Dial(ctx, addr)
		if err != nil {
			return err
		}
		defer conn.Close()
		body, err := conn.Ask(a.rest)
		if err != nil {
			return err
		}
		bodies[i], ids[i] = string(body), idsOf(body)
	}
	missing := 0
	for _, id := range ids[1] {
		if !slices.Contains(ids[0], id) {
			missing++
		}
	}
	near := len(ids[0]) == top && len(ids[1]) == top && missing <= 1
	if bodies[0] != bodies[1] && !(a.what == "near, top 10" && near) {
		return fmt.Errorf("answers differ:\n%s\n%s", bodies[0], bodies[1])
	}
	return nil
}

// idsOf returns the ids of the rows of an answer; none if it holds no rows.
func idsOf(body []byte) []int64 {
	var rows []struct {
		ID int64 `json:"id"`
	}
	if json.Unmarshal(body, &rows) != nil {
		return nil
	}
	out := make([]int64, len(rows))
	for i, r := range rows {
		out[i] = r.ID
	}
	return out
}
