package tenant_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant"
)

var (
	loopback = netip.MustParseAddr("127.0.0.1")
	proxies  = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
)

// registry is one of fixed statuses, that counts what it is asked.
type registry struct {
	statuses map[string]tenant.Status
	err      error
	asked    int
	during   func() // called while it is asked
}

func (r *registry) Status(_ context.Context, name string) (tenant.Status, error) {
	r.asked++
	status, ok := r.statuses[name]
	if r.during != nil {
		r.during()
	}
	switch {
	case r.err != nil:
		return 0, r.err
	case !ok:
		return 0, tenant.ErrNotFound
	}
	return status, nil
}

func theRegistry() *registry {
	return &registry{statuses: map[string]tenant.Status{"acme": tenant.Active, "new": tenant.Provisioning, "ill": tenant.Degraded}}
}

func TestResolvers(t *testing.T) {
	reg := theRegistry()
	path := tenant.ByPath{Registry: reg}
	host := tenant.ByHost{Registry: reg, Domain: "Example.com", Hosts: map[string]string{"acme.io": "acme", "gone.io": "gone"}}
	header := tenant.ByHeader{Registry: reg, Header: "X-Tenant", Proxies: proxies}
	sent := func(name, value, peer string) tenant.Request {
		return tenant.Request{Path: "/notes", Host: "acme.io", Peer: netip.MustParseAddr(peer), Header: func(asked string) string {
			if asked == name {
				return value
			}
			return ""
		}}
	}
	found := func(path string) tenant.Resolution {
		return tenant.Resolution{Outcome: tenant.Found, Name: "acme", Path: path}
	}
	nobody := tenant.Resolution{Outcome: tenant.NotServed}
	for _, c := range []struct {
		name string
		by   tenant.Resolver
		r    tenant.Request
		want tenant.Resolution
	}{
		{"path", path, tenant.Request{Path: "/t/acme/notes/1"}, found("/notes/1")},
		{"path without a rest", path, tenant.Request{Path: "/t/acme"}, found("/")},
		{"path with empty segments", path, tenant.Request{Path: "//t//acme//notes"}, found("//notes")},
		{"path with escapes", path, tenant.Request{Path: "/%74/%61cme/a%2Fb"}, found("/a%2Fb")},
		{"path of another prefix", tenant.ByPath{Registry: reg, Prefix: "db"}, tenant.Request{Path: "/db/acme/x"}, found("/x")},
		{"path elsewhere", path, tenant.Request{Path: "/notes"}, nobody},
		{"path without a tenant", path, tenant.Request{Path: "/t/"}, nobody},
		{"path of nobody", path, tenant.Request{Path: "/t/nope/x"}, tenant.Resolution{Outcome: tenant.Unknown, Name: "nope", Path: "/x"}},
		{"path of a new one", path, tenant.Request{Path: "/t/new"}, tenant.Resolution{Outcome: tenant.IsProvisioning, Name: "new", Path: "/"}},
		{"path of an ill one", path, tenant.Request{Path: "/t/ill"}, tenant.Resolution{Outcome: tenant.IsDegraded, Name: "ill", Path: "/"}},
		{"path believes no header", path, sent("X-Tenant", "acme", "127.0.0.1"), nobody},

		{"subdomain", host, tenant.Request{Host: "acme.example.com", Path: "/notes"}, found("/notes")},
		{"subdomain with a port, case and a dot", host, tenant.Request{Host: "ACME.example.COM.:8080", Path: "/"}, found("/")},
		{"host of its own", host, tenant.Request{Host: "acme.io", Path: "/"}, found("/")},
		{"host of nobody", host, tenant.Request{Host: "gone.io", Path: "/"}, tenant.Resolution{Outcome: tenant.Unknown, Name: "gone", Path: "/"}},
		{"subdomain of nobody", host, tenant.Request{Host: "nope.example.com"}, tenant.Resolution{Outcome: tenant.Unknown, Name: "nope"}},
		{"two labels", host, tenant.Request{Host: "a.acme.example.com"}, nobody},
		{"the domain itself", host, tenant.Request{Host: "example.com"}, nobody},
		{"an empty label", host, tenant.Request{Host: ".example.com"}, nobody},
		{"two dots", host, tenant.Request{Host: "acme..example.com"}, nobody},
		{"a longer domain", host, tenant.Request{Host: "acmeexample.com"}, nobody},
		{"another domain", host, tenant.Request{Host: "acme.example.com.evil.org"}, nobody},
		{"an address", host, tenant.Request{Host: "[::1]:80"}, nobody},
		{"an address without a port", host, tenant.Request{Host: "[::1]"}, nobody},
		{"no domain", tenant.ByHost{Registry: reg}, tenant.Request{Host: "acme"}, nobody},
		{"host believes no header", host, tenant.Request{Host: "x.org", Header: func(string) string { return "acme" }}, nobody},

		{"header of a proxy", header, sent("X-Tenant", "acme", "127.0.0.1"), found("/notes")},
		{"header of a proxy mapped to IPv6", header, sent("X-Tenant", "acme", "::ffff:127.0.0.1"), found("/notes")},
		{"header of a proxy with a zone", header, sent("X-Tenant", "acme", "fd00::1%eth0"), found("/notes")},
		{"header of somebody", header, sent("X-Tenant", "acme", "10.0.0.1"), nobody},
		{"another header", header, sent("X-Forwarded-Host", "acme", "127.0.0.1"), nobody},
		{"header of nobody known", header, tenant.Request{Header: func(string) string { return "acme" }}, nobody},
		{"no headers", header, tenant.Request{Peer: loopback}, nobody},
	} {
		got, err := c.by.Resolve(t.Context(), c.r)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, got, c.name)
	}
	for _, r := range []tenant.Request{{Host: "ünder.example.com"}, {Host: "a b.example.com"}} {
		_, err := host.Resolve(t.Context(), r)
		require.ErrorIs(t, err, tenant.ErrName, r.Host)
	}
	_, err := path.Resolve(t.Context(), tenant.Request{Path: "/t/%zz/"})
	require.ErrorIs(t, err, tenant.ErrName)
	reg.err = errors.New("unreachable")
	_, err = path.Resolve(t.Context(), tenant.Request{Path: "/t/acme"})
	require.ErrorIs(t, err, reg.err)
}

func TestCache(t *testing.T) {
	reg, now := theRegistry(), time.UnixMilli(0)
	ill := map[string]error{}
	c := tenant.NewCache(reg, tenant.CacheOptions{
		TTL: time.Second, Entries: 4, Clock: func() time.Time { return now },
		Degraded: func(name string) error { return ill[name] },
	})
	check := func(name string, want tenant.Status, asked int) {
		t.Helper()
		got, err := c.Status(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, asked, reg.asked)
	}
	check("acme", tenant.Active, 1)
	reg.statuses["acme"] = tenant.Degraded
	now = now.Add(999 * time.Millisecond)
	check("acme", tenant.Active, 1)
	now = now.Add(time.Millisecond)
	check("acme", tenant.Degraded, 2)
	reg.statuses["acme"] = tenant.Active
	c.Invalidate("acme")
	check("acme", tenant.Active, 3)

	for range 2 {
		_, err := c.Status(t.Context(), "nope")
		require.ErrorIs(t, err, tenant.ErrNotFound)
	}
	require.Equal(t, 4, reg.asked, "that a name is nobody's is remembered")
	reg.statuses["nope"] = tenant.Active
	c.Invalidate("nope")
	check("nope", tenant.Active, 5)

	ill["acme"] = errors.New("damaged")
	check("acme", tenant.Degraded, 5)
	reg.err = errors.New("unreachable")
	c.Invalidate("acme")
	check("acme", tenant.Degraded, 5)
	delete(ill, "acme")
	_, err := c.Status(t.Context(), "acme")
	require.ErrorIs(t, err, reg.err)
	reg.err = nil
	check("acme", tenant.Active, 7)

	// A change while the registry is asked: its answer is not kept.
	reg.during = func() {
		reg.statuses["new"] = tenant.Active
		c.Invalidate("new")
	}
	check("new", tenant.Provisioning, 8)
	reg.during = nil
	check("new", tenant.Active, 9)
}

func TestCacheIsBounded(t *testing.T) {
	reg := theRegistry()
	c := tenant.NewCache(reg, tenant.CacheOptions{Entries: 10})
	for i := range 1000 {
		_, err := c.Status(t.Context(), string(rune('a'+i%26))+string(rune('a'+i/26)))
		require.ErrorIs(t, err, tenant.ErrNotFound)
		require.LessOrEqual(t, c.Len(), 10)
	}
}

// TestCacheOfAManager sees every change of one at once.
func TestCacheOfAManager(t *testing.T) {
	m := open(t, t.TempDir(), tenant.Options{})
	c := tenant.NewCache(m, tenant.CacheOptions{TTL: time.Hour, Degraded: m.DegradedHere})
	ctx := t.Context()
	unknown := func(name string) {
		t.Helper()
		_, err := c.Status(ctx, name)
		require.ErrorIs(t, err, tenant.ErrNotFound)
	}
	is := func(name string, want tenant.Status) {
		t.Helper()
		got, err := c.Status(ctx, name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	unknown("acme")
	require.NoError(t, m.Create(ctx, "acme"))
	is("acme", tenant.Active)
	require.NoError(t, m.SetStatus(ctx, "acme", tenant.Degraded))
	is("acme", tenant.Degraded)
	require.NoError(t, m.SetStatus(ctx, "acme", tenant.Active))
	is("acme", tenant.Active)
	unknown("beta")
	require.NoError(t, m.Rename(ctx, "acme", "beta"))
	unknown("acme")
	is("beta", tenant.Active)
	require.NoError(t, m.Delete(ctx, "beta"))
	unknown("beta")
	require.NoError(t, m.Undelete(ctx, "beta"))
	is("beta", tenant.Active)
	unknown("copy")
	importCopy(t, m, "beta", "copy")
	is("copy", tenant.Active)
}
