// Package daemon starts fenec's daemons as child processes, for programs that
// show or measure whole clusters: it waits until a daemon says where it listens,
// keeps the last lines it wrote, and stops it.
//
// A daemon ends with the program that started it: by Stop, and on Linux also
// when the program is killed. Interrupts typed at a terminal reach the program
// alone, so that it can stop its daemons in order.
package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// startWithin is how long a daemon may take to say where it listens.
	startWithin = 10 * time.Second
	// stopWithin is how long it may take to end after it was asked to.
	stopWithin = 10 * time.Second
	// keptLines is how many of its last lines are kept.
	keptLines = 20

	listening = "listening on: http://"
)

// Process is a daemon that runs, or ran. Its methods are safe for concurrent
// use.
type Process struct {
	name string
	cmd  *exec.Cmd
	addr chan string   // receives the address once
	done chan struct{} // closed when the process has ended
	host string

	stop sync.Once

	mu    sync.Mutex // guards lines
	lines []string
}

// Start runs bin with args and returns once it says on its standard error where
// it listens. Errors carry the lines it wrote.
func Start(ctx context.Context, name, bin string, args ...string) (*Process, error) {
	p := &Process{
		name: name,
		cmd:  exec.Command(bin, args...),
		addr: make(chan string, 1),
		done: make(chan struct{}),
	}
	p.cmd.SysProcAttr = attributes()
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	go p.follow(stderr)
	if err := p.await(ctx); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// follow reads what the daemon writes until it ends.
func (p *Process) follow(stderr io.Reader) {
	defer close(p.done)
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		p.keep(lines.Text())
		if addr, ok := listenAddress(lines.Text()); ok {
			select {
			case p.addr <- addr:
			default:
			}
		}
	}
	// A line too long for the scanner ends it; the daemon must not block on it.
	_, _ = io.Copy(io.Discard, stderr)
	_ = p.cmd.Wait()
}

func (p *Process) keep(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines = append(p.lines, line); len(p.lines) > keptLines {
		p.lines = p.lines[1:]
	}
}

// listenAddress returns the host:port a start-up line names.
func listenAddress(line string) (string, bool) {
	_, rest, ok := strings.Cut(line, listening)
	addr, _, _ := strings.Cut(rest, " ")
	return addr, ok && addr != ""
}

// await returns once the daemon listens.
func (p *Process) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	select {
	case p.host = <-p.addr:
		return nil
	case <-p.done:
		return fmt.Errorf("%s ended before it listened\n%s", p.name, p.Log())
	case <-ctx.Done():
		return fmt.Errorf("%s does not listen: %w\n%s", p.name, ctx.Err(), p.Log())
	}
}

// Addr is the host:port the daemon listens on.
func (p *Process) Addr() string { return p.host }

// URL is where the daemon is reached, without a slash at its end.
func (p *Process) URL() string { return "http://" + p.host }

// Name is the name it was started under.
func (p *Process) Name() string { return p.name }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Log returns the last lines the daemon wrote to its standard error.
func (p *Process) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// Stop asks the daemon to end, waits for it, and kills it when it takes too
// long, which is an error. Stopping it again does nothing.
func (p *Process) Stop() error {
	var err error
	p.stop.Do(func() { err = p.end() })
	return err
}

func (p *Process) end() error {
	// The signal fails when the process has ended, and then done is closed.
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return nil
	case <-time.After(stopWithin):
	}
	_ = p.cmd.Process.Kill()
	<-p.done
	return fmt.Errorf("%s did not end within %v of being asked to", p.name, stopWithin)
}
