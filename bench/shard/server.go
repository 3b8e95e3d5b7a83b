package main

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/internal/daemon"
)

// server is a process that is measured.
type server struct {
	*daemon.Process
	pid int
}

// becoming has a shell tell its process id and then become the program that is
// named by its arguments, whose id it is from then on.
const becoming = `echo "pid: $$" >&2; exec "$0" "$@"`

var pidLine = regexp.MustCompile(`(?m)^pid: (\d+)$`)

// start starts a program that says where it listens.
func start(ctx context.Context, name, bin string, args ...string) (*server, error) {
	return startAs(ctx, becoming, name, bin, args...)
}

// startAt starts a program that says nothing, and listens at addr.
func startAt(ctx context.Context, addr, name, bin string, args ...string) (*server, error) {
	s, err := startAs(ctx, `echo "listening on: http://`+addr+`" >&2; `+becoming, name, bin, args...)
	if err != nil {
		return nil, err
	}
	return s, s.await(ctx)
}

func startAs(ctx context.Context, script, name, bin string, args ...string) (*server, error) {
	p, err := daemon.Start(ctx, name, "sh", append([]string{"-c", script, bin}, args...)...)
	if err != nil {
		return nil, err
	}
	s := &server{Process: p}
	if m := pidLine.FindStringSubmatch(p.Log()); m != nil {
		s.pid, err = strconv.Atoi(m[1])
	}
	return s, err
}

// await returns once a connection is taken.
func (s *server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		conn, err := net.Dial("tcp", s.Addr())
		if err == nil {
			return conn.Close()
		}
		select {
		case <-s.Done():
			return fmt.Errorf("%s ended\n%s", s.Name(), s.Log())
		case <-ctx.Done():
			return fmt.Errorf("%s does not listen: %w\n%s", s.Name(), err, s.Log())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Steps in which a server has to be nearly idle until it counts as quiet.
const (
	quietStep  = 100 * time.Millisecond
	quietSteps = 10
	quietShare = 0.1 // of one core
)

// quiet waits until the server does next to nothing, which is when work in the
// background has ended, and returns since when it has been so.
func (s *server) quiet(ctx context.Context) (since time.Time, err error) {
	last, err := cpuTime(s.pid)
	if err != nil {
		return since, err
	}
	since = time.Now()
	for steps := 0; steps < quietSteps; steps++ {
		select {
		case <-ctx.Done():
			return since, ctx.Err()
		case <-time.After(quietStep):
		}
		now, err := cpuTime(s.pid)
		if err != nil {
			return since, err
		}
		if float64(now-last) > quietShare*float64(quietStep) {
			since, steps = time.Now(), -1
		}
		last = now
	}
	return since, nil
}

// freeAddr returns an address that nobody listens at.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
