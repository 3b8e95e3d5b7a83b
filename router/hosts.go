package router

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/tenant"
)

// HostOptions say which hosts are whose.
type HostOptions struct {
	// Registry knows the tenants: the router's directory.
	Registry tenant.Registry
	// Domain is one whose subdomains, one label deep, are tenants of that name; ""
	// for none.
	Domain string
	// File is the path of a file with more hosts, "" for none. Each line holds a
	// host and the name of its tenant, with white space between; empty lines and
	// those that begin with # do not count. It is read again when it has changed.
	File string
	// ErrorLog is told when the file has changed and cannot be read; what it said
	// last stays. nil is the standard logger of package log.
	ErrorLog *log.Logger
}

// Hosts resolves requests by the host that their client asks for, and by nothing else: no
// header makes a difference. It is a tenant.Resolver and safe for concurrent use.
type Hosts struct {
	opts HostOptions

	mu     sync.Mutex // guards the fields below; held while the file is read
	byName tenant.ByHost
	looked time.Duration // when the file was looked at last, in ticks
	seen   stamp
}

// stamp tells one state of a file from another.
type stamp struct {
	changed time.Time
	size    int64
}

// lookAtHosts is how often the file of hosts is looked at, at most.
const lookAtHosts = time.Second

// OpenHosts returns a resolver by host.
func OpenHosts(opts HostOptions) (*Hosts, error) {
	if opts.ErrorLog == nil {
		opts.ErrorLog = log.Default()
	}
	h := &Hosts{opts: opts, byName: tenant.ByHost{Registry: opts.Registry, Domain: opts.Domain}}
	if opts.File == "" {
		return h, nil
	}
	return h, h.look()
}

// Resolve finds the tenant of the host.
func (h *Hosts) Resolve(ctx context.Context, r tenant.Request) (tenant.Resolution, error) {
	return h.current().Resolve(ctx, r)
}

// current returns the hosts as they are, read again if need be.
func (h *Hosts) current() tenant.ByHost {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.opts.File != "" && ticks()-h.looked >= lookAtHosts {
		if err := h.look(); err != nil {
			h.opts.ErrorLog.Printf("%v; what it said last stays", err)
		}
	}
	return h.byName
}

// look reads the file if it has changed. One that cannot be read is tried again when it
// changes.
func (h *Hosts) look() error {
	now := stampOf(h.opts.File)
	if h.looked != 0 && now == h.seen {
		h.looked = ticks()
		return nil
	}
	h.looked, h.seen = ticks(), now
	text, err := os.ReadFile(h.opts.File)
	if err != nil {
		return err
	}
	hosts, err := parseHosts(text)
	if err != nil {
		return fmt.Errorf("%s: %w", h.opts.File, err)
	}
	h.byName.Hosts = hosts
	return nil
}

// stampOf returns the state of a file, the zero stamp if it is not there.
func stampOf(file string) stamp {
	info, err := os.Stat(file)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// parseHosts reads the lines of a file of hosts.
func parseHosts(text []byte) (map[string]string, error) {
	hosts := map[string]string{}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		words := strings.Fields(string(line))
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("line %d: want a host and a tenant", number)
		}
		host, name := strings.ToLower(strings.TrimSuffix(words[0], ".")), words[1]
		if err := tenant.CheckName(name); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if strings.ContainsAny(host, ":/@") || host == "" {
			return nil, fmt.Errorf("line %d: %q is no host, which has neither scheme nor port", number, host)
		}
		if before, ok := hosts[host]; ok && before != name {
			return nil, fmt.Errorf("line %d: %s is there twice, for %s and for %s", number, host, before, name)
		}
		hosts[host] = name
	}
	return hosts, nil
}
