package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/fenec-go/fenecdb/internal/secret"
)

// ErrHelp is what parse returns when it has printed the help that was asked for.
var ErrHelp = errors.New("help was asked for")

// UsageError is an error of what was asked for, found only when it was tried: a
// file named by a flag that makes no sense, say. It ends a daemon as a flag that
// makes no sense does.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.Err }

// The exit codes.
const (
	exitOK    = 0
	exitError = 1 // what was to be opened could not be
	exitUsage = 2 // the flags make no sense
)

// Run runs a daemon and returns its exit code: parse reads its arguments, serve
// does its work until the context ends, which SIGINT, SIGTERM and SIGHUP see to.
// Errors go to stderr with the program's name in front. What is written to it loses what
// looks like a secret. That nobody reads stderr any more ends nothing.
func Run[C any](
	name string, args []string, stderr io.Writer,
	parse func(args []string, stderr io.Writer) (C, error),
	serve func(ctx context.Context, cfg C, stderr io.Writer) error,
) int {
	signal.Ignore(syscall.SIGPIPE)
	stderr = secret.Scrubbed(stderr)
	cfg, err := parse(args, stderr)
	switch {
	case errors.Is(err, ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return exitUsage
	}
	// Before serve says where it listens, so that whoever waits for that line
	// may end the process.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := serve(ctx, cfg, stderr); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		if errors.As(err, new(*UsageError)) {
			return exitUsage
		}
		return exitError
	}
	return exitOK
}
