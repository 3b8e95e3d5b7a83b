package tenant

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// Request is what a resolver may go by.
type Request struct {
	Host   string                   // as the client sent it, with or without a port
	Path   string                   // as the client sent it, with its escapes
	Peer   netip.Addr               // who sent the request: a proxy, if there is one
	Header func(name string) string // the value of a header; nil if there are none
}

// Outcome says what is known of the tenant of a request.
type Outcome uint8

// The outcomes.
const (
	Found          Outcome = iota + 1
	Unknown                // there is no such tenant
	NotServed              // what the request names is nobody's here
	IsDegraded             // the tenant has the status Degraded
	IsProvisioning         // the tenant has the status Provisioning
)

// Resolution is a resolver's answer.
type Resolution struct {
	Outcome Outcome
	Name    string // of the tenant; "" if NotServed
	Path    string // what of the request's path is the tenant's own, with its escapes
}

// Resolver finds the tenant of a request. A name that no tenant can have is ErrName; other
// errors say that it cannot be told now. It must be safe for concurrent use.
type Resolver interface {
	Resolve(ctx context.Context, r Request) (Resolution, error)
}

// Registry knows who exists, and with which status: a Manager, a Cache, or a directory
// of several nodes. An unknown name is ErrNotFound.
type Registry interface {
	Status(ctx context.Context, name string) (Status, error)
}

// resolve asks for the status of the tenant that a request names.
func resolve(ctx context.Context, reg Registry, name, path string) (Resolution, error) {
	if err := CheckName(name); err != nil {
		return Resolution{}, err
	}
	res := Resolution{Outcome: Found, Name: name, Path: path}
	switch status, err := reg.Status(ctx, name); {
	case errors.Is(err, ErrNotFound):
		res.Outcome = Unknown
	case err != nil:
		return Resolution{}, err
	case status == Degraded:
		res.Outcome = IsDegraded
	case status == Provisioning:
		res.Outcome = IsProvisioning
	}
	return res, nil
}

// ByPath resolves /<Prefix>/<tenant>/…, where the rest is the tenant's own path.
type ByPath struct {
	Registry Registry
	Prefix   string // one segment; default "t"
}

// Resolve finds the tenant in the path. Empty segments do not count, and a segment is
// unescaped by itself: an escaped slash stays within it.
func (b ByPath) Resolve(ctx context.Context, r Request) (Resolution, error) {
	prefix := b.Prefix
	setDefault(&prefix, "t")
	first, rest := cutSegment(r.Path)
	if got, err := url.PathUnescape(first); err != nil || got != prefix {
		return Resolution{Outcome: NotServed}, nil
	}
	escaped, rest := cutSegment(rest)
	if escaped == "" {
		return Resolution{Outcome: NotServed}, nil
	}
	name, err := url.PathUnescape(escaped)
	if err != nil {
		return Resolution{}, CheckName(escaped)
	}
	if rest == "" {
		rest = "/"
	}
	return resolve(ctx, b.Registry, name, rest)
}

// cutSegment returns the first segment of a path that is not empty, and what follows
// it.
func cutSegment(path string) (first, rest string) {
	path = strings.TrimLeft(path, "/")
	if at := strings.IndexByte(path, '/'); at >= 0 {
		return path[:at], path[at:]
	}
	return path, ""
}

// ByHost resolves by the host that the client asked for, and by nothing else.
type ByHost struct {
	Registry Registry
	Hosts    map[string]string // tenants by host, in lower case
	Domain   string            // each of its subdomains, one label deep, is the tenant of that name; "" for none
}

// Resolve finds the tenant of the host. Case, a port and a dot at the end do not
// count.
func (b ByHost) Resolve(ctx context.Context, r Request) (Resolution, error) {
	host := hostname(r.Host)
	if name, ok := b.Hosts[host]; ok {
		return resolve(ctx, b.Registry, name, r.Path)
	}
	label, ok := strings.CutSuffix(host, "."+strings.ToLower(b.Domain))
	if b.Domain == "" || !ok || label == "" || strings.Contains(label, ".") {
		return Resolution{Outcome: NotServed}, nil
	}
	return resolve(ctx, b.Registry, label, r.Path)
}

// hostname returns a host without its port and the dot of an absolute name, in lower
// case. Hosts are ASCII: what is not stays as it is, and is no tenant's.
func hostname(host string) string {
	if !strings.HasSuffix(host, "]") {
		if at := strings.LastIndexByte(host, ':'); at >= 0 {
			host = host[:at]
		}
	}
	return strings.Map(lower, strings.TrimSuffix(host, "."))
}

func lower(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// ByHeader resolves by a header that a proxy sets, and believes the proxies that it
// was given only.
type ByHeader struct {
	Registry Registry
	Header   string         // its name
	Proxies  []netip.Prefix // whose word is taken
}

// Resolve finds the tenant in the header. A request from elsewhere, or without the
// header, is NotServed.
func (b ByHeader) Resolve(ctx context.Context, r Request) (Resolution, error) {
	if !b.trusts(r.Peer) || r.Header == nil {
		return Resolution{Outcome: NotServed}, nil
	}
	name := r.Header(b.Header)
	if name == "" {
		return Resolution{Outcome: NotServed}, nil
	}
	return resolve(ctx, b.Registry, name, r.Path)
}

func (b ByHeader) trusts(peer netip.Addr) bool {
	for _, p := range b.Proxies {
		if p.Contains(peer.Unmap().WithZone("")) {
			return true
		}
	}
	return false
}
