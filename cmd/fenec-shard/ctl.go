package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fenec-go/fenecdb/internal/process"
	"github.com/fenec-go/fenecdb/router"
)

// ctl asks a running router, as its operator, and returns the exit code.
func ctl(args []string, stdout, stderr io.Writer) int {
	c := console{out: stdout, pause: pause, now: time.Now}
	if isTerminal(stderr) {
		c.progress = &progress{w: stderr}
	}
	return control(args, c, stderr)
}

// control is ctl with a console of the caller's.
func control(args []string, c console, stderr io.Writer) int {
	return process.Run("fenec-shard ctl", args, stderr, parseCtl,
		func(ctx context.Context, o order, _ io.Writer) error {
			c.shard, c.raw = newShard(o.router, o.token), o.raw
			if err := o.run(ctx, &c, o.operands); err != nil {
				return fmt.Errorf("%s: %w", o.command, err)
			}
			return nil
		})
}

// console is what a command works with.
type console struct {
	shard    *shard
	out      io.Writer
	raw      bool      // answers are printed as the router gave them
	progress *progress // nil where nobody watches
	pause    func(ctx context.Context, d time.Duration) error
	now      func() time.Time
}

// pause waits, and returns early with ctx's error if that ends.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// command is one thing that ctl does.
type command struct {
	name     string // a word or two
	operands string // <in brackets> those that must be there, [the others] last
	flags    string
	help     string
	// declare adds the command's flags and returns what runs once they are read.
	declare func(fs *flag.FlagSet) action
}

// action runs a command with its operands.
type action func(ctx context.Context, c *console, operands []string) error

// misuse is the error of a command that was called the wrong way.
func misuse(text string) error { return &process.UsageError{Err: errors.New(text)} }

// bare declares no flags.
func bare(run action) func(*flag.FlagSet) action {
	return func(*flag.FlagSet) action { return run }
}

// order is what the arguments of ctl say.
type order struct {
	router   *url.URL
	token    router.Token
	raw      bool
	command  string
	operands []string
	run      action
}

// flagSet returns the flags that every command takes, wherever they stand.
func (o *order) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("ctl", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Func("router", "", func(s string) (err error) {
		o.router, err = parseRouter(s)
		return err
	})
	fs.Func("token", "", func(s string) error {
		o.token = router.NewToken(s)
		return nil
	})
	fs.BoolVar(&o.raw, "json", o.raw, "")
	return fs
}

func parseRouter(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errors.New("want a URL such as http://127.0.0.1:8090")
	}
	return u, nil
}

func parseCtl(args []string, stderr io.Writer) (order, error) {
	o := order{
		router: &url.URL{Scheme: "http", Host: "127.0.0.1:8090"},
		token:  router.NewToken(os.Getenv("FENEC_SHARD_TOKEN")),
	}
	first := o.flagSet()
	if err := first.Parse(args); err != nil {
		return o, orHelp(err, stderr, commands...)
	}
	cmd, rest, err := findCommand(first.Args())
	if err != nil {
		return o, err
	}
	fs := o.flagSet()
	o.command, o.run = cmd.name, cmd.declare(fs)
	if o.operands, err = parseAll(fs, rest); err != nil {
		return o, orHelp(err, stderr, cmd)
	}
	return o, cmd.checkOperands(o.operands)
}

// parseAll parses flags and operands in any order and returns the operands.
func parseAll(fs *flag.FlagSet, args []string) (operands []string, err error) {
	for {
		if err := fs.Parse(args); err != nil || fs.NArg() == 0 {
			return operands, err
		}
		operands = append(operands, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// findCommand returns the command that the words begin with, and what follows it. One
// of two words goes before one of its first word.
func findCommand(words []string) (cmd command, rest []string, err error) {
	for n := min(2, len(words)); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		for _, cmd := range commands {
			if cmd.name == name {
				return cmd, words[n:], nil
			}
		}
	}
	if len(words) == 0 {
		return command{}, nil, errors.New("no command; --help lists them")
	}
	return command{}, nil, fmt.Errorf("unknown command %q; --help lists them", strings.Join(words[:min(2, len(words))], " "))
}

// checkOperands says which operand is missing or one too many.
func (c command) checkOperands(given []string) error {
	want := strings.Fields(c.operands)
	switch {
	case len(given) > len(want):
		return fmt.Errorf("%s: unexpected argument %q", c.name, given[len(want)])
	case len(given) < len(want) && want[len(given)][0] == '<':
		return fmt.Errorf("%s: %s is missing", c.name, want[len(given)])
	}
	for i, operand := range given {
		if kind := strings.Trim(want[i], "<>[]"); (kind == "tenant" || kind == "node") && !router.ValidName(operand) {
			return fmt.Errorf("%s: %s %q: %w", c.name, kind, operand, router.ErrName)
		}
	}
	return nil
}

// orHelp prints the help on the commands if it was asked for, and returns the error
// that says so.
func orHelp(err error, stderr io.Writer, about ...command) error {
	if !errors.Is(err, flag.ErrHelp) {
		return spelled(err)
	}
	fmt.Fprint(stderr, "fenec-shard ctl asks a running router.\n\n"+
		"  fenec-shard ctl [--router <url>] [--token <t>] [--json] <command>\n\n")
	w := tabwriter.NewWriter(stderr, 0, 0, 2, ' ', 0)
	for _, c := range about {
		fmt.Fprintf(w, "  %s\t%s\n", strings.Join(strings.Fields(c.name+" "+c.operands), " "), c.help)
		for line := range strings.Lines(c.flags) {
			fmt.Fprintf(w, "  \t  %s\n", strings.TrimSpace(line))
		}
	}
	w.Flush()
	fmt.Fprint(stderr, `
      --router <url>  where it listens (http://127.0.0.1:8090)
      --token <t>     its token; also FENEC_SHARD_TOKEN
      --json          print the router's answers as they come
  -h, --help          this text, or that on one command

Sizes are whole numbers of bytes, or end in kB, MB, GB, TB, KiB, MiB, GiB or TiB.
The exit code is 0, 1 if the router refused or a move failed, 2 for a mistake here.
`)
	return process.ErrHelp
}
