package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/rawconn"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/internal/daemon"
)

// measureLatency compares what one client waits for an answer with what it waits
// for a constant, on connections of one process. The goals are for the server
// that fenec-server has.
func measureLatency(ctx context.Context, e *env) error {
	p, err := e.filled(ctx)
	if err != nil {
		return err
	}
	for _, server := range []string{front, netHTTP} {
		goal := report.AtMost(1.5)
		if server == netHTTP {
			goal = report.Goal{}
			e.out.Note("mounted on net/http, where the constant costs more too:")
		}
		err := eachForm(func(a asked, rest bool) error {
			live, err := e.latency(ctx, p.addrs[server+surface], a.form(rest))
			if err != nil {
				return err
			}
			same, err := e.latency(ctx, p.addrs[server+constant(a.what, rest)], a.form(rest))
			if err != nil {
				return err
			}
			return e.line(ctx, a.what+", "+formName(rest), report.Duration, goal, live, same)
		})
		if err != nil {
			return err
		}
	}
	return compareBinary(ctx, e, p)
}

// measureCPU compares the CPU time of the server's process.
func measureCPU(ctx context.Context, e *env) error {
	p, err := e.filled(ctx)
	if err != nil {
		return err
	}
	for _, n := range []int{8, 64} {
		err := eachForm(func(a asked, rest bool) error {
			live, err := e.cpu(ctx, p, n, p.addrs[front+surface], a.form(rest))
			if err != nil {
				return err
			}
			same, err := e.cpu(ctx, p, n, p.addrs[front+constant(a.what, rest)], a.form(rest))
			if err != nil {
				return err
			}
			name := fmt.Sprintf("%s, %s, %d clients", a.what, formName(rest), n)
			return e.line(ctx, name, report.Duration, report.AtMost(1.5), live, same)
		})
		if err != nil {
			return err
		}
	}
	return eachForm(func(a asked, rest bool) error {
		return e.profileOf(ctx, p, a.what+" "+formName(rest), a.form(rest))
	})
}

// eachForm calls f with every request in both of its forms.
func eachForm(f func(a asked, rest bool) error) error {
	for _, a := range requests() {
		if err := errors.Join(f(a, true), f(a, false)); err != nil {
			return err
		}
	}
	return nil
}

// line lets two sides work in turns and reports the ratio of ours to the peer's.
func (e *env) line(ctx context.Context, name string, u report.Unit, goal report.Goal, ours, peer side) error {
	got, err := e.turns(ctx, ours, peer)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	e.out.Line(name, u, got[0], got[1], got[0]/got[1], goal)
	return nil
}

// profileTime is how long a profile is taken of each request.
const profileTime = 4 * time.Second

// profileOf writes a profile of p under a request of 8 clients, if profiles are
// wanted.
func (e *env) profileOf(ctx context.Context, p *process, name string, request []byte) error {
	if e.profile == "" {
		return nil
	}
	defer e.hangUp()
	clients, err := e.dial(ctx, 8, p.addrs[front+surface], request)
	if err != nil {
		return err
	}
	asking := make(chan error, 1)
	go func() {
		_, err := askAll(profileTime+time.Second, clients)
		asking <- err
	}()
	err = p.profile(ctx, profileTime, filepath.Join(e.profile, fileName(name)+".pprof"))
	return errors.Join(err, <-asking)
}

// fileName returns a name without what file names had better not hold.
func fileName(name string) string {
	b := []byte(name)
	for i, c := range b {
		if c == ' ' || c == '/' || c == ',' {
			b[i] = '-'
		}
	}
	return string(b)
}

// compareBinary shows that the process which is measured serves as fenec-server
// does.
func compareBinary(ctx context.Context, e *env, p *process) (err error) {
	if _, err := os.Stat(e.server); err != nil {
		return fmt.Errorf("%w (make build makes it)", err)
	}
	d, err := daemon.Start(ctx, "fenec-server", e.server, "--file", e.path("binary.fenec"), "--http", "127.0.0.1:0", "--http-token", token)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Stop()) }()
	doc := newWorld(e.rows).doc(7)
	err = send(ctx, d.Addr(),
		query(fenecSchema[0]),
		query("insert docs {id: $1, k: $2, owner: $3, body: $4}", doc.ID, doc.K, doc.Owner, doc.Body))
	if err != nil {
		return err
	}
	request := requests()[0].rest
	binary, err := e.latency(ctx, d.Addr(), request)
	if err != nil {
		return err
	}
	ours, err := e.latency(ctx, p.addrs[front+surface], request)
	if err != nil {
		return err
	}
	e.out.Note("to see that what is measured is what is shipped:")
	return e.line(ctx, "get by id, REST: fenec-server, the process above", report.Duration, report.Goal{}, binary, ours)
}

// send makes requests of their own.
func send(ctx context.Context, addr string, requests ...[]byte) error {
	conn, err := rawconn.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, r := range requests {
		if err := conn.Exchange(r); err != nil {
			return err
		}
	}
	return nil
}
