package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/internal/cors"
	"github.com/fenec-go/fenecdb/internal/process"
	"github.com/fenec-go/fenecdb/router"
)

// config is what the flags say.
type config struct {
	listen, directory string
	insecure          bool
	audit             string // file, "" for none
	tls               certFiles
	hosts             hostFlags
	options           router.Options
	file              router.DirectoryOptions
}

// certFiles names the files of a certificate and its key; both or neither.
type certFiles struct{ cert, key string }

// hostFlags say which hosts are tenants'. With neither, tenants are found by path.
type hostFlags struct {
	domain string
	file   string
}

func (h hostFlags) on() bool { return h != hostFlags{} }

func (c config) guard() process.Guard {
	return process.Guard{
		Token:     !c.options.Token.IsZero(),
		TLS:       c.tls.cert != "",
		Insecure:  c.insecure,
		TokenFlag: "--token",
	}
}

// parse reads the flags, and refuses what contradicts itself.
func parse(args []string, stderr io.Writer) (config, error) {
	var cfg config
	fs := flags{flag.NewFlagSet("fenec-shard", flag.ContinueOnError)}
	fs.SetOutput(io.Discard)
	cfg.bindListener(fs)
	cfg.bindAccess(fs)
	cfg.bindTenants(fs)
	cfg.bindReplication(fs)
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stderr, usage)
		return cfg, process.ErrHelp
	} else if err != nil {
		return cfg, spelled(err)
	}
	if fs.NArg() > 0 {
		return cfg, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if cfg.options.Token.IsZero() {
		cfg.options.Token = router.NewToken(os.Getenv("FENEC_SHARD_TOKEN"))
	}
	return cfg, cfg.check()
}

// bindListener declares the flags of where and how it is served.
func (c *config) bindListener(fs flags) {
	o := &c.options
	for _, name := range []string{"l", "listen"} {
		fs.StringVar(&c.listen, name, "127.0.0.1:8090", "")
	}
	fs.StringVar(&c.tls.cert, "tls-cert", "", "")
	fs.StringVar(&c.tls.key, "tls-key", "", "")
	fs.number("max-connections", router.DefaultMaxConnections, 0, maxNumber, func(n int) { o.MaxConnections = orNone(n) })
	fs.number("max-body", router.DefaultMaxBody>>20, 1, maxMiB, func(n int) { o.MaxBody = int64(n) << 20 })
	fs.number("upstream-timeout", int(router.DefaultUpstreamTimeout/time.Second), 1, maxSeconds, func(n int) {
		o.UpstreamTimeout = time.Duration(n) * time.Second
	})
}

// bindAccess declares the flags of who may do what.
func (c *config) bindAccess(fs flags) {
	o := &c.options
	fs.Func("token", "", func(s string) error {
		o.Token = router.NewToken(s)
		return nil
	})
	fs.BoolVar(&c.insecure, "insecure", false, "")
	fs.Func("http-cors", "", func(s string) error {
		o.AllowOrigin = s
		return cors.Check(s)
	})
	fs.number("auth-delay", 100, 0, maxNumber, func(n int) { o.RefusalDelay = time.Duration(n) * time.Millisecond })
	fs.StringVar(&c.audit, "audit", "", "")
}

// bindTenants declares the flags of where tenants are and how they move.
func (c *config) bindTenants(fs flags) {
	o := &c.options
	for _, name := range []string{"d", "directory"} {
		fs.StringVar(&c.directory, name, "shard.fenec", "")
	}
	fs.StringVar(&c.hosts.domain, "host-suffix", "", "")
	fs.StringVar(&c.hosts.file, "hosts", "", "")
	fs.number("hold", int(router.DefaultHold/time.Millisecond), 0, maxNumber, func(n int) {
		o.Hold = orNone(time.Duration(n) * time.Millisecond)
	})
	fs.number("moves", router.DefaultMoves, 1, maxNumber, func(n int) { o.Moves = n })
	fs.BoolVar(&o.Replicas, "replicas", false, "")
	fs.number("auto-failover", 0, 1, maxSeconds, func(n int) { o.AutoFailover = time.Duration(n) * time.Second })
}

// check refuses flags that make no sense together.
func (c *config) check() error {
	switch {
	case c.directory == "":
		return errors.New("--directory must not be empty")
	case (c.tls.cert == "") != (c.tls.key == ""):
		return errors.New("--tls-cert and --tls-key need each other")
	}
	return c.checkReplication()
}

// orNone returns what means "no limit", or "not at all", to the library for the 0 that
// means it to the flags.
func orNone[T ~int | ~int64](n T) T {
	if n == 0 {
		return -1
	}
	return n
}
