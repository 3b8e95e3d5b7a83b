package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// child is a daemon that runs.
type child struct {
	addr string // where it listens
	kill func() // as the end of its machine would, and waits
}

// startWithin is how long a daemon may take to listen.
const startWithin = 15 * time.Second

// start starts a daemon in a directory and returns once it listens.
func start(ctx context.Context, dir string, env []string, line ...string) (*child, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, append(os.Environ(), env...), attributes()
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	said, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		listen(stderr, said)
		_ = cmd.Wait() // that it was killed is no news
	}()
	c := &child{kill: func() { cancel(); <-ended }}
	select {
	case c.addr = <-said:
		return c, nil
	case <-ended:
		err = errors.New("it has ended")
	case <-time.After(startWithin):
		err = errors.New("it does not listen")
	}
	c.kill()
	return nil, fmt.Errorf("%s: %w", strings.Join(line, " "), err)
}

// listen reads what a daemon says to its end, and passes on where it listens.
func listen(stderr io.Reader, said chan<- string) {
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if _, rest, ok := strings.Cut(lines.Text(), "listening on: http://"); ok {
			addr, _, _ := strings.Cut(rest, " ")
			select {
			case said <- addr:
			default: // that is known
			}
		}
	}
	// A line too long for the scanner ends it; the daemon must not block on it.
	_, _ = io.Copy(io.Discard, stderr)
}
