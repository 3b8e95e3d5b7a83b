package router_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/router"
	"github.com/fenec-go/fenecdb/tenant"
)

// hostRig is a router that serves tenants by host, with acme on a node of which the
// heads are kept.
func hostRig(t *testing.T, f face) (*rig, *recorder) {
	dir := openDirectory(t, "")
	hosts, err := router.OpenHosts(router.HostOptions{Registry: dir, Domain: "Example.com"})
	require.NoError(t, err)
	g := startRouter(t, f, router.Options{Directory: dir, Resolver: hosts})
	rec := &recorder{}
	g.place("n1", rawNode(t, rec.handle), "acme", "acme-2")
	return g, rec
}

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		name, target, host string
		header             []string
		status             int
		forwarded          string
	}{
		{"tenant", "/notes?a=1&b=%2F+", "acme.example.com", nil, 200, "/t/acme/notes?a=1&b=%2F+"},
		{"bytes of the target", "//n%6Ftes//?", "acme.example.com", nil, 200, "/t/acme//n%6Ftes//?"},
		{"root", "/", "acme.example.com", nil, 200, "/t/acme/"},
		{"port and case", "/notes", "ACME.example.COM.:8090", nil, 200, "/t/acme/notes"},
		{"another tenant", "/notes", "acme-2.example.com", nil, 200, "/t/acme-2/notes"},
		{"absolute form", "http://acme.example.com/notes?x", "acme-2.example.com", nil, 200, "/t/acme/notes?x"},
		{"absolute form without a path", "http://acme.example.com?x", "acme.example.com", nil, 200, "/t/acme/?x"},
		{"a path that looks like another tenant's", "/t/beta/notes", "acme.example.com", nil, 200, "/t/acme/t/beta/notes"},
		{"dots", "/../acme-2/notes", "acme.example.com", nil, 200, "/t/acme/../acme-2/notes"},
		{"no header makes a difference", "/notes", "acme.example.com",
			[]string{"X-Tenant: acme-2", "X-Forwarded-Host: acme-2.example.com", "Forwarded: host=acme-2.example.com"}, 200, "/t/acme/notes"},
		{"nor does it help", "/notes", "elsewhere.example",
			[]string{"X-Tenant: acme", "X-Forwarded-Host: acme.example.com"}, 421, ""},
		{"unknown tenant", "/notes", "beta.example.com", nil, 404, ""},
		{"foreign host", "/notes", "elsewhere.example", nil, 421, ""},
		{"the domain itself", "/notes", "example.com", nil, 421, ""},
		{"two labels deep", "/notes", "www.acme.example.com", nil, 421, ""},
		{"address", "/notes", "127.0.0.1:8090", nil, 421, ""},
		{"no tenant's name", "/notes", "a%20b.example.com", nil, 400, ""},
		{"by path", "/t/acme/notes", "elsewhere.example", nil, 421, ""},
		{"health", "/_health", "elsewhere.example", nil, 200, ""},
		{"readiness", "/_ready", "acme.example.com", nil, 200, ""},
		{"metrics", "/_metrics", "127.0.0.1", nil, 200, ""},
		{"directory", "/_shard/nodes", "acme.example.com", nil, 200, ""},
		{"written otherwise", "//%5Fshard/nodes", "acme.example.com", nil, 200, ""},
		{"feed", "/_replication", "acme.example.com", nil, 404, ""},
		{"a tenant's own", "/_whoami", "acme.example.com", nil, 200, "/t/acme/_whoami"},
	} {
		t.Run(c.name, func(t *testing.T) {
			faces(t, func(t *testing.T, f face) {
				if f == httpFace && strings.Contains(c.host, "%") {
					t.Skip("net/http refuses the host")
				}
				g, rec := hostRig(t, f)
				conn := g.dial()
				conn.write("GET " + c.target + " HTTP/1.1\r\nHost: " + c.host + "\r\n" +
					strings.Join(append(c.header, "X-Request-Id: r1"), "\r\n") + "\r\n\r\n")
				resp, body := conn.answer("GET")
				require.Equal(t, c.status, resp.StatusCode, body)
				require.Equal(t, "r1", resp.Header.Get("X-Request-Id"))
				if c.forwarded == "" {
					require.Empty(t, rec.heads)
					if c.status == 404 && c.host == "beta.example.com" {
						require.Contains(t, body, `"code":"unknown-tenant"`)
					}
					return
				}
				head, _ := rec.last()
				line, _, _ := strings.Cut(head, "\r\n")
				require.Equal(t, "GET "+c.forwarded+" HTTP/1.1", line)
				require.NotContains(t, head, c.host)
			})
		})
	}
}

// A Host field that comes twice is refused before anybody could go by either.
func TestTwoHosts(t *testing.T) {
	g, rec := hostRig(t, ownFace)
	c := g.dial()
	c.write("GET /notes HTTP/1.1\r\nHost: acme.example.com\r\nHost: acme-2.example.com\r\n\r\n")
	resp, _ := c.answer("GET")
	require.Equal(t, 400, resp.StatusCode)
	require.Empty(t, rec.heads)
}

// resolver is a resolver of a function.
type resolver func(tenant.Request) (tenant.Resolution, error)

func (r resolver) Resolve(_ context.Context, q tenant.Request) (tenant.Resolution, error) {
	return r(q)
}

func TestResolver(t *testing.T) {
	found := func(name, path string) resolver {
		return func(tenant.Request) (tenant.Resolution, error) {
			return tenant.Resolution{Outcome: tenant.Found, Name: name, Path: path}, nil
		}
	}
	outcome := func(o tenant.Outcome) resolver {
		return func(tenant.Request) (tenant.Resolution, error) {
			return tenant.Resolution{Outcome: o, Name: "acme"}, nil
		}
	}
	for _, c := range []struct {
		name      string
		resolver  resolver
		status    int
		says      string
		forwarded string
	}{
		{"path of its own", found("acme", "/a/b%20c"), 200, "", "GET /t/acme/a/b%20c?q HTTP/1.1"},
		{"path without a slash", found("acme", "a"), 200, "", "GET /t/acme/a?q HTTP/1.1"},
		{"no path", found("acme", ""), 200, "", "GET /t/acme/?q HTTP/1.1"},
		{"path that cannot be sent", found("acme", "/a b"), 500, "path", ""},
		{"line break", found("acme", "/a\r\nX: y"), 500, "path", ""},
		{"query", found("acme", "/a?b"), 500, "path", ""},
		{"name that is none", found("../acme", "/a"), 400, "", ""},
		{"found but not in the directory", found("beta", "/a"), 404, `"code":"unknown-tenant"`, ""},
		{"unknown", outcome(tenant.Unknown), 404, `"code":"unknown-tenant"`, ""},
		{"not served", outcome(tenant.NotServed), 421, "no tenant", ""},
		{"no outcome", outcome(0), 421, "no tenant", ""},
		{"degraded", outcome(tenant.IsDegraded), 503, `"code":"tenant-degraded","retry_after":1`, ""},
		{"provisioning", outcome(tenant.IsProvisioning), 503, `"code":"tenant-provisioning","retry_after":1`, ""},
		{"no tenant's name", func(tenant.Request) (tenant.Resolution, error) { return tenant.Resolution{}, tenant.CheckName("A") }, 400, "", ""},
		{"cannot tell", func(tenant.Request) (tenant.Resolution, error) {
			return tenant.Resolution{}, errors.New("the registry's password is wrong")
		}, 503, `"retry_after":1`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			faces(t, func(t *testing.T, f face) {
				g := startRouter(t, f, router.Options{Resolver: c.resolver})
				rec := &recorder{}
				g.place("n1", rawNode(t, rec.handle), "acme")
				status, head, body := g.callHead("GET", "/whatever?q", "")
				require.Equal(t, c.status, status, body)
				require.Contains(t, body, c.says)
				require.NotContains(t, body, "password")
				require.Len(t, head.Values("X-Request-Id"), 1)
				if c.forwarded == "" {
					require.Empty(t, rec.heads)
					return
				}
				got, _ := rec.last()
				require.True(t, strings.HasPrefix(got, c.forwarded+"\r\n"), got)
			})
		})
	}
}

func TestResolverSeesTheRequest(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		var seen tenant.Request
		var once, twice string
		g := startRouter(t, f, router.Options{Resolver: resolver(func(q tenant.Request) (tenant.Resolution, error) {
			seen, once, twice = q, q.Header("X-Once"), q.Header("x-twice")
			return tenant.Resolution{Outcome: tenant.NotServed}, nil
		})})
		g.call("GET", "/a%2Fb?c", "", "X-once: 1", "X-Twice: 2", "X-Twice: 3")
		require.Equal(t, "router", seen.Host)
		require.Equal(t, "/a%2Fb", seen.Path)
		require.Equal(t, "127.0.0.1", seen.Peer.String())
		require.Equal(t, "1", once)
		require.Empty(t, twice, "whose it is cannot be told")
	})
}

// A proxy that is believed names the tenant in a header; nobody else's word is taken.
func TestResolverByHeader(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		dir := openDirectory(t, "")
		g := startRouter(t, f, router.Options{Directory: dir, Resolver: tenant.ByHeader{Registry: dir, Header: "X-Tenant"}})
		g.place("n1", newNode(t).addr(), "acme")
		status, _ := g.call("GET", "/notes", "", "X-Tenant: acme")
		require.Equal(t, 421, status)
	})
}

// X2: what a tenant's status says is answered without its node.
func TestStatuses(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		rec := &recorder{}
		g.place("n1", rawNode(t, rec.handle), "acme")
		for _, c := range []struct {
			status tenant.Status
			want   int
			code   string
		}{
			{tenant.Degraded, 503, "tenant-degraded"},
			{tenant.Provisioning, 503, "tenant-provisioning"},
			{tenant.Active, 200, ""},
		} {
			require.NoError(t, g.rt.Directory().SetStatus("acme", c.status))
			before := len(rec.heads)
			for _, method := range []string{"GET", "POST"} {
				status, head, body := g.callHead(method, "/t/acme/notes", "")
				require.Equal(t, c.want, status)
				if c.code == "" {
					continue
				}
				require.Contains(t, body, `"code":"`+c.code+`"`)
				require.Equal(t, "1", head.Get("Retry-After"))
				require.Len(t, rec.heads, before, "the node is not asked")
			}
		}
	})
}
