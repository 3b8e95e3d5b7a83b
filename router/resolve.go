package router

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/fenec-go/fenecdb/internal/http1"
	"github.com/fenec-go/fenecdb/internal/problem"
	"github.com/fenec-go/fenecdb/tenant"
)

// destination is where a tenant's request goes.
type destination struct {
	tenant []byte // its name
	place  *place
	target []byte // what the node finds in the request line
}

// route finds out where a request goes. ours tells that it goes nowhere, being for the
// router itself. Without a resolver nothing is allocated.
func (rt *Router) route(ctx context.Context, in *incoming) (d destination, ours bool, err error) {
	if rt.opts.Resolver != nil {
		return rt.resolve(ctx, in)
	}
	name, ok := tenantOf(in.Target)
	if !ok {
		return d, true, nil
	}
	d = destination{tenant: name, target: in.Target}
	d.place, err = rt.locate(name)
	return d, false, err
}

// tenantOf returns the second segment of a target's path if the first is "t".
// The segment is nil if there is none.
func tenantOf(target []byte) (tenant []byte, ok bool) {
	first, rest := http1.NextSegment(http1.Path(target))
	if string(http1.Unescape(nil, first)) != "t" {
		return nil, false
	}
	segment, _ := http1.NextSegment(rest)
	return http1.Unescape(nil, segment), true
}

// locate returns where a tenant is, or why it is not served.
func (rt *Router) locate(name []byte) (*place, error) {
	p, ok := rt.directory.find(name)
	switch {
	case ok && p.status == tenant.Active:
		return p, nil
	case ok && p.noticed && (rt.follows() || rt.degradations.lets(name)):
		return p, nil // it is for its primary to let some through
	case ok:
		return nil, notServed(string(name), p.status)
	case len(name) == 0:
		return nil, errNotFound
	case !ValidName(name):
		return nil, ErrName
	case !rt.directory.arrived.Load():
		return nil, errNotArrived
	}
	return nil, unknownTenant(string(name))
}

// errNotArrived is the refusal of a router that follows another and knows no tenant yet.
var errNotArrived = refusing(http.StatusServiceUnavailable, "the directory has not come yet from the router that this one follows")

func unknownTenant(name string) error { return fmt.Errorf("tenant %s: %w", name, ErrUnknownTenant) }

// notServed is the refusal of a tenant for its status.
func notServed(name string, s tenant.Status) *refusal {
	p := problem.TenantDegraded
	if s == tenant.Provisioning {
		p = problem.TenantProvisioning
	}
	return &refusal{status: p.Status, text: fmt.Sprintf("tenant %s: %v", name, s), code: p.Code, retry: p.Wait}
}

// resolve is route by the resolver.
func (rt *Router) resolve(ctx context.Context, in *incoming) (d destination, ours bool, err error) {
	path := http1.Path(in.Target)
	if first, _ := http1.NextSegment(path); isOurs(http1.Unescape(nil, first)) {
		return d, true, nil
	}
	res, err := rt.opts.Resolver.Resolve(ctx, described(in, path))
	if err != nil {
		return d, false, rt.unresolved(in, err)
	}
	if res.Outcome == tenant.Unknown && !rt.directory.arrived.Load() {
		return d, false, errNotArrived
	}
	if d, err = resolved(in, res); err == nil {
		d.place, err = rt.locate(d.tenant)
	}
	return d, false, err
}

// isOurs reports whether paths that begin with the segment are the router's own,
// whoever the resolver would think they are for.
func isOurs(first []byte) bool {
	switch string(first) {
	case "_health", "_ready", "_metrics", "_shard", "_replication", "_studio":
		return true
	}
	return false
}

// described returns what a resolver may go by.
func described(in *incoming, path []byte) tenant.Request {
	peer, _ := netip.ParseAddrPort(in.remote) // the zero address, of a Unix socket, is nobody's
	return tenant.Request{
		Host: in.hostAskedFor(),
		Path: string(path),
		Peer: peer.Addr(),
		Header: func(name string) (value string) {
			name = strings.ToLower(name)
			times := 0
			for i := range in.Fields {
				if in.Fields[i].Is(name) {
					value = string(in.Fields[i].Value)
					times++
				}
			}
			if times != 1 {
				return "" // one that came twice may be a client's own before that of a proxy
			}
			return value
		},
	}
}

// resolved turns a resolver's answer into a destination, or into the refusal that it
// stands for.
func resolved(in *incoming, res tenant.Resolution) (d destination, err error) {
	switch res.Outcome {
	case tenant.Found:
		target, err := retarget(in.Target, res)
		return destination{tenant: []byte(res.Name), target: target}, err
	case tenant.Unknown:
		return d, unknownTenant(res.Name)
	case tenant.IsDegraded:
		return d, notServed(res.Name, tenant.Degraded)
	case tenant.IsProvisioning:
		return d, notServed(res.Name, tenant.Provisioning)
	}
	return d, refusing(http.StatusMisdirectedRequest, "no tenant is served here")
}

// retarget returns the target by which a node finds what a resolver has found: the
// path within the tenant under /t/<tenant>, and the query as it came.
func retarget(target []byte, res tenant.Resolution) ([]byte, error) {
	if !ValidName(res.Name) {
		return nil, ErrName
	}
	to := append([]byte("/t/"), res.Name...)
	if !strings.HasPrefix(res.Path, "/") {
		to = append(to, '/')
	}
	to = append(to, res.Path...)
	if !http1.ValidTarget(to) || bytes.IndexByte(to, '?') >= 0 {
		return nil, errors.New("the resolver's path cannot stand in a request")
	}
	if at := bytes.IndexByte(target, '?'); at >= 0 {
		to = append(to, target[at:]...)
	}
	return to, nil
}

// unresolved is the refusal for a resolver's error. What it is in full is for the log.
func (rt *Router) unresolved(in *incoming, err error) error {
	if errors.Is(err, tenant.ErrName) {
		return ErrName
	}
	rt.logf("resolving: %v request_id=%s", err, in.id)
	return refusing(http.StatusServiceUnavailable, "it cannot be told now whose request this is")
}

// hostAskedFor returns the host that a request asks for: that of its target in the
// absolute form, else that of its Host field (RFC 9112, 3.2.2).
func (in *incoming) hostAskedFor() string {
	if in.host != "" {
		return in.host
	}
	if scheme, rest, ok := bytes.Cut(in.Target, []byte("://")); ok && len(scheme) > 0 && in.Target[0] != '/' {
		if end := bytes.IndexAny(rest, "/?"); end >= 0 {
			rest = rest[:end]
		}
		return string(rest)
	}
	host, _ := http1.Find(in.Fields, "host")
	return string(host)
}
