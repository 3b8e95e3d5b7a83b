package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/internal/process"
	"github.com/fenec-go/fenecdb/replication/mirror"
)

// parse reads the flags, then what they leave open from the environment, and
// refuses what contradicts itself.
func parse(args []string, stderr io.Writer) (config, error) {
	var cfg config
	fs := flags{flag.NewFlagSet("fenec-server", flag.ContinueOnError)}
	fs.SetOutput(io.Discard)
	cfg.bindData(fs)
	cfg.bindTenants(fs)
	cfg.bindReplicas(fs)
	cfg.bindListener(fs)
	cfg.bindAccess(fs)
	cfg.bindTokens(fs)
	cfg.bindRequests(fs)
	cfg.bindTracing(fs)
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stderr, usage)
		return cfg, process.ErrHelp
	} else if err != nil {
		return cfg, err
	}
	if fs.NArg() > 0 {
		return cfg, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if err := cfg.readEnvironment(); err != nil {
		return cfg, err
	}
	return cfg, cfg.check()
}

// bindData declares the flags of what is served.
func (c *config) bindData(fs flags) {
	fs.StringVar(&c.file, "f", "", "")
	fs.StringVar(&c.file, "file", "", "")
	fs.StringVar(&c.dir, "dir", "", "")
	fs.Func("sync", "", func(s string) (err error) {
		c.db.Sync, err = fenec.ParseSync(s)
		return err
	})
	fs.count(&c.db.HistoryEntries, "changes", 1_000_000, 1)
	fs.BoolVar(&c.cdc, "cdc", false, "")
	fs.mebibytes(&c.db.FeedBytes, "replication-buffer", 64, 1)
	fs.mebibytes(&c.db.MaxMemory, "max-memory", 0, 0)
	fs.BoolVar(&c.db.NoCheckpoint, "no-checkpoint", false, "")
	fs.Func("auto-compact", "", func(s string) (err error) {
		c.db.CompactRatio, err = parseRatio(s)
		return err
	})
	fs.Func("warm", "", func(s string) (err error) {
		c.warm, err = parseWarmth(s)
		return err
	})
	fs.Bool("no-mmap", false, "") // of published servers; there is nothing to turn off
	fs.BoolVar(&c.ping, "ping", false, "")
}

// bindTenants declares the flags of a directory of tenants.
func (c *config) bindTenants(fs flags) {
	t := &c.tenants
	fs.seconds(&t.IdleClose, "idle-close", 300, 0)
	fs.count(&t.MaxOpen, "max-open", 0, 0)
	fs.count(&t.MaxInFlight, "max-in-flight", 0, 0)
	fs.count(&t.MaxInFlightTenant, "max-in-flight-tenant", 0, 0)
	fs.milliseconds(&t.Wait, "in-flight-wait", 5000, 1)
	fs.seconds(&t.TrashKeep, "trash-keep", 86400, 0)
	fs.mebibytes(&t.MaxImport, "max-import", 0, 0)
	fs.BoolVar(&c.lease, "lease", false, "")
}

// bindReplicas declares the flags of replication.
func (c *config) bindReplicas(fs flags) {
	r := &c.replicas
	fs.secret(&r.token, "replication-token")
	fs.Func("replica-of", "", func(s string) (err error) {
		r.primary, err = mirror.ParsePrimary(s)
		return err
	})
	r.held = -1
	fs.count(&r.held, "replicas-held", noDefault, 0)
	fs.BoolVar(&r.promote, "promote", false, "")
}

// bindListener declares the flags of where and how it is served.
func (c *config) bindListener(fs flags) {
	fs.StringVar(&c.listen, "http", "127.0.0.1:8080", "")
	fs.StringVar(&c.metrics, "metrics", "", "")
	fs.StringVar(&c.tls.cert, "tls-cert", "", "")
	fs.StringVar(&c.tls.key, "tls-key", "", "")
	fs.count(&c.maxConnections, "max-connections", 100, 0)
	fs.seconds(&c.idleTimeout, "idle-timeout", 60, 0)
}

// bindAccess declares the flags of who may do what.
func (c *config) bindAccess(fs flags) {
	fs.secret(&c.token, "http-token")
	fs.secret(&c.adminToken, "admin-token")
	fs.BoolVar(&c.insecure, "insecure", false, "")
	fs.BoolVar(&c.readOnly, "http-read-only", false, "")
	fs.Func("http-cors", "", func(s string) error {
		c.cors = s
		return checkOrigin(s, true)
	})
	fs.milliseconds(&c.authDelay, "auth-delay", 100, 0)
	fs.StringVar(&c.audit, "audit", "", "")
	fs.BoolVar(&c.studio, "studio", false, "")
	fs.Func("studio-connect", "", func(s string) error {
		c.studioConnect = s
		return checkOrigin(s, false)
	})
}

// bindTokens declares the flags of JSON Web Tokens.
func (c *config) bindTokens(fs flags) {
	j := &c.jwt
	fs.secret(&j.secret, "jwt-secret")
	fs.StringVar(&j.secretFile, "jwt-secret-file", "", "")
	fs.StringVar(&j.keys, "jwt-keys", "", "")
	fs.StringVar(&j.policy, "policy", "", "")
	fs.onOff(&j.requireExp, "jwt-require-exp", true)
	fs.seconds(&j.maxAge, "jwt-max-age", 0, 0)
	fs.StringVar(&j.tenantClaim, "jwt-tenant-claim", "tenant", "")
	fs.BoolVar(&j.unbound, "jwt-unbound-tenants", false, "")
	fs.Func("mint-token", "", func(s string) error {
		j.mint = s
		return checkClaims(s)
	})
}

// bindRequests declares the flags of how requests are answered.
func (c *config) bindRequests(fs flags) {
	fs.count(&c.maxStreams, "http-max-streams", 64, 0)
	fs.seconds(&c.keepAlive, "http-keepalive", 20, 1)
	fs.seconds(&c.idempotencyTTL, "idempotency-ttl", 86_400, 1)
	fs.milliseconds(&c.statementTimeout, "statement-timeout", 0, 0)
	c.slow = -1
	fs.milliseconds(&c.slow, "slow-ms", noDefault, 0)
}

// bindTracing declares the flags of traces.
func (c *config) bindTracing(fs flags) {
	o := &c.otlp
	fs.Func("otlp-endpoint", "", func(s string) (err error) {
		o.url, err = tracesURL(s, tracesPath)
		return err
	})
	fs.Func("otlp-header", "", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return errors.New("want name=value")
		}
		o.headers = append(o.headers, [2]string{name, value})
		return nil
	})
	o.sample = 1
	fs.Func("trace-sample", "", func(s string) (err error) {
		o.sample, err = parseShare(s)
		return err
	})
}

// parseRatio reads the share of a file that must be free before it is rewritten.
func parseRatio(s string) (float64, error) {
	if s == "off" {
		return -1, nil
	}
	ratio, err := parseShare(s)
	if ratio == 0 {
		// Zero options stand for the default.
		ratio = math.SmallestNonzeroFloat64
	}
	return ratio, err
}

func parseShare(s string) (float64, error) {
	share, err := strconv.ParseFloat(s, 64)
	if err != nil || !(share >= 0 && share <= 1) {
		return 0, errors.New("want a number from 0 to 1")
	}
	return share, nil
}

func parseWarmth(s string) (warmth, error) {
	switch s {
	case "all":
		return warmth{all: true}, nil
	case "off":
		return warmth{}, nil
	}
	names := strings.Split(s, ",")
	for i := range names {
		if names[i] = strings.TrimSpace(names[i]); names[i] == "" {
			return warmth{}, errors.New("want all, off or names of collections")
		}
	}
	return warmth{collections: names}, nil
}
