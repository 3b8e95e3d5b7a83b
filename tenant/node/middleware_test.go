package node_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// manage opens a directory with the tenants acme and beta, who keep notes.
func manage(t *testing.T, opts tenant.Options) (*node.Node, string) {
	t.Helper()
	dir := t.TempDir()
	n, err := node.Open(dir, node.Options{Tenants: opts, AdminToken: serve.NewSecret("a")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	m := n.Tenants()
	for _, name := range []string{"acme", "beta"} {
		require.NoError(t, m.Provision(t.Context(), name, func(ctx context.Context, h *tenant.Handle) error {
			_, err := h.Exec(ctx, "create collection notes (who text)")
			return err
		}))
	}
	return n, dir
}

// whose answers with the name of the tenant and the path that the handler sees.
var whose = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	h, ok := tenant.FromContext(r.Context())
	if !ok {
		http.Error(w, "no handle", http.StatusInternalServerError)
		return
	}
	_, _ = io.WriteString(w, h.ID().String()+" "+r.URL.Path+" "+r.URL.EscapedPath())
})

// ask sends a request to a handler by itself.
func ask(h http.Handler, host, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "http://"+host+path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestMiddlewareOutcomes(t *testing.T) {
	n, dir := manage(t, tenant.Options{MaxInFlightTenant: 1, Wait: time.Millisecond})
	m := n.Tenants()
	for _, name := range []string{"busy", "young", "ill"} {
		require.NoError(t, m.Create(t.Context(), name))
	}
	require.NoError(t, m.SetStatus(t.Context(), "young", tenant.Provisioning))
	require.NoError(t, m.SetStatus(t.Context(), "ill", tenant.Degraded))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "torn.fenec"), []byte("no database"), 0o600))
	held, err := m.Acquire(t.Context(), "busy")
	require.NoError(t, err)
	defer held.Release()
	h := n.Middleware(tenant.ByHost{Registry: m, Domain: "example.com", Hosts: map[string]string{"beta.org": "beta"}})(whose)
	for _, c := range []struct {
		host, retry string
		status      int
		body        string
	}{
		{"acme.example.com", "", 200, "acme /notes /notes"},
		{"ACME.Example.com.:8080", "", 200, "acme /notes /notes"},
		{"beta.org", "", 200, "beta /notes /notes"},
		{"nobody.example.com", "", 404, `{"error":"tenant \"nobody\": no such tenant","code":"unknown-tenant"}`},
		{"example.com", "", 421, `{"error":"no tenant is served here"}`},
		{"a.acme.example.com", "", 421, `{"error":"no tenant is served here"}`},
		{"acme.org", "", 421, `{"error":"no tenant is served here"}`},
		{"a+b.example.com", "", 400, `{"error":"tenant name must be 1 to 64 characters of a-z, 0-9, _ and -: \"a+b\""}`},
		{"young.example.com", "1", 503, `{"error":"tenant \"young\": tenant is being set up","retry_after":1,"code":"tenant-provisioning"}`},
		{"ill.example.com", "1", 503, `{"error":"tenant is degraded; the node's log says why","retry_after":1,"code":"tenant-degraded"}`},
		{"torn.example.com", "1", 503, `{"error":"tenant is degraded; the node's log says why","retry_after":1,"code":"tenant-degraded"}`},
		{"busy.example.com", "1", 503, `{"error":"tenant \"busy\": tenant is busy: nothing it may run in became free in 1ms","retry_after":1}`},
	} {
		w := ask(h, c.host, "/notes", "X-Request-Id", "r1")
		require.Equal(t, c.status, w.Code, c.host)
		require.Equal(t, c.body, w.Body.String(), c.host)
		require.Equal(t, c.retry, w.Header().Get("Retry-After"), c.host)
		if c.status != 200 {
			require.Equal(t, "r1", w.Header().Get("X-Request-Id"), c.host)
		}
	}
	require.NotEmpty(t, ask(h, "acme.org", "/").Header().Get("X-Request-Id"), "of a request without one")
}

// The id that the program gave a request is that of its refusal.
func TestMiddlewareKeepsTheRequestID(t *testing.T) {
	n, _ := manage(t, tenant.Options{})
	inner := n.Middleware(nil)(whose)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "ours")
		inner.ServeHTTP(w, r)
	})
	w := ask(h, "localhost", "/t/nobody/", "X-Request-Id", "theirs")
	require.Equal(t, 404, w.Code)
	require.Equal(t, []string{"ours"}, w.Header().Values("X-Request-Id"))
}

func TestMiddlewarePaths(t *testing.T) {
	n, _ := manage(t, tenant.Options{})
	byPath := n.Middleware(nil)(whose)
	for path, want := range map[string]string{
		"/t/acme":             "acme / /",
		"/t/acme/":            "acme / /",
		"//t//acme/notes/1":   "acme /notes/1 /notes/1",
		"/t/acme/a%2Fb/c%20d": "acme /a/b/c d /a%2Fb/c%20d",
		"/t/acme/t/beta":      "acme /t/beta /t/beta",
		"/t/acme/%2e%2e/beta": "acme /../beta /%2e%2e/beta",
	} {
		require.Equal(t, want, ask(byPath, "localhost", path).Body.String(), path)
	}
	require.Equal(t, 421, ask(byPath, "localhost", "/notes").Code)
	require.Equal(t, 400, ask(byPath, "localhost", "/t/a%2Fb/").Code)

	// The caller's request is not changed, and the query stays.
	r := httptest.NewRequest("GET", "/t/acme/notes?a=1", nil)
	n.Middleware(nil)(http.HandlerFunc(func(_ http.ResponseWriter, in *http.Request) {
		require.Equal(t, "/notes?a=1", in.URL.String())
	})).ServeHTTP(httptest.NewRecorder(), r)
	require.Equal(t, "/t/acme/notes?a=1", r.URL.String())
	_, ok := tenant.FromContext(r.Context())
	require.False(t, ok)
}

// A proxy's header is believed, unless a client may have sent one beside it.
func TestMiddlewareBehindAProxy(t *testing.T) {
	n, _ := manage(t, tenant.Options{})
	m := n.Tenants()
	from := func(peer string) http.Handler {
		return n.Middleware(tenant.ByHeader{Registry: m, Header: "X-Tenant", Proxies: []netip.Prefix{netip.MustParsePrefix(peer)}})(whose)
	}
	proxy := from("192.0.2.0/24") // which httptest's requests come from
	require.Equal(t, 200, ask(proxy, "localhost", "/", "X-Tenant", "acme").Code)
	require.Equal(t, 421, ask(proxy, "localhost", "/").Code)
	require.Equal(t, 421, ask(proxy, "localhost", "/", "X-Tenant", "beta", "X-Tenant", "acme").Code)
	require.Equal(t, 421, ask(from("10.0.0.0/8"), "localhost", "/", "X-Tenant", "acme").Code)
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "@" // a Unix socket's
	r.Header.Set("X-Tenant", "acme")
	w := httptest.NewRecorder()
	from("0.0.0.0/0").ServeHTTP(w, r)
	require.Equal(t, 421, w.Code)
}

// resolverFunc is a resolver of a program's own.
type resolverFunc func(tenant.Request) (tenant.Resolution, error)

func (f resolverFunc) Resolve(_ context.Context, r tenant.Request) (tenant.Resolution, error) {
	return f(r)
}

// A resolver may answer with a name alone, and what it fails by is for the log.
func TestMiddlewareResolversOfOthers(t *testing.T) {
	n, _ := manage(t, tenant.Options{})
	answers := func(res tenant.Resolution, err error) http.Handler {
		return n.Middleware(resolverFunc(func(tenant.Request) (tenant.Resolution, error) { return res, err }))(whose)
	}
	w := ask(answers(tenant.Resolution{Outcome: tenant.Found, Name: "acme"}, nil), "x", "/a%2Fb")
	require.Equal(t, "acme /a/b /a%2Fb", w.Body.String())
	require.Equal(t, 421, ask(answers(tenant.Resolution{}, nil), "x", "/").Code, "no outcome")
	require.Equal(t, 404, ask(answers(tenant.Resolution{Outcome: tenant.Found, Name: "gone"}, nil), "x", "/").Code)
	require.Equal(t, 400, ask(answers(tenant.Resolution{Outcome: tenant.Found, Name: "../acme"}, nil), "x", "/").Code)
	require.Equal(t, 500, ask(answers(tenant.Resolution{Outcome: tenant.Found, Name: "acme", Path: "/%zz"}, nil), "x", "/").Code)

	var told bytes.Buffer
	srv := httptest.NewUnstartedServer(answers(tenant.Resolution{}, errors.New("registry at 10.1.2.3 is down")))
	srv.Config.ErrorLog = log.New(&told, "", 0)
	srv.Start()
	res, err := http.Get(srv.URL + "/notes")
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, errors.Join(err, res.Body.Close()))
	srv.Close()
	require.Equal(t, 500, res.StatusCode)
	require.NotContains(t, string(body), "10.1.2.3")
	require.Contains(t, told.String(), "/notes: registry at 10.1.2.3 is down request_id="+res.Header.Get("X-Request-Id"))
}

func TestMiddlewareReleasesTheHandle(t *testing.T) {
	n, _ := manage(t, tenant.Options{MaxInFlightTenant: 1, Wait: time.Millisecond, DeleteWait: time.Millisecond})
	m := n.Tenants()
	for name, end := range map[string]func(){
		"returns":  func() {},
		"panics":   func() { panic("a bug") },
		"hangs up": func() { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			var kept *tenant.Handle
			h := n.Middleware(nil)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				kept, _ = tenant.FromContext(r.Context())
				_, err := kept.Exec(r.Context(), "put notes {who: $1}", name)
				require.NoError(t, err)
				end()
			}))
			func() {
				defer func() { _ = recover() }()
				ask(h, "localhost", "/t/acme/")
			}()
			require.NotNil(t, kept)
			_, err := kept.Query(t.Context(), "get notes")
			require.ErrorIs(t, err, tenant.ErrReleased)
			again, err := m.Acquire(t.Context(), "acme")
			require.NoError(t, err, "its place is free")
			again.Release()
		})
	}
	require.NoError(t, m.Delete(t.Context(), "acme"), "nobody uses it")
}

// follow streams the notes of a tenant, a line each, until the tenant goes.
func follow(ended chan<- error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, _ := tenant.FromContext(r.Context())
		sub, err := h.Subscribe(r.Context(), fenec.Shape{Collection: "notes"}, fenec.NoCursor)
		for err == nil {
			var ev fenec.Event
			if ev, err = sub.Next(r.Context()); err != nil {
				break
			}
			line, _ := ev.AppendJSON(nil)
			_, _ = w.Write(append(line, '\n'))
			err = http.NewResponseController(w).Flush()
		}
		ended <- err
	})
}

// A stream gets what others write meanwhile, through the only place there is, and ends
// with its tenant.
func TestMiddlewareStreams(t *testing.T) {
	n, _ := manage(t, tenant.Options{MaxInFlightTenant: 1})
	m := n.Tenants()
	ended := make(chan error, 1)
	srv := httptest.NewServer(n.Middleware(nil)(follow(ended)))
	defer srv.Close()
	res, err := http.Get(srv.URL + "/t/acme/")
	require.NoError(t, err)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), `"rows":[]`)
	acme, err := m.Lookup(t.Context(), "acme")
	require.NoError(t, err)
	require.NoError(t, m.Do(t.Context(), acme, func(ctx context.Context, h *tenant.Handle) error {
		_, err := h.Exec(ctx, `put notes {who: "me"}`)
		return err
	}))
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), `"puts":[{"id":1,"who":"me"}]`)
	require.NoError(t, m.Delete(t.Context(), "acme"))
	require.ErrorIs(t, <-ended, tenant.ErrEnded)
	require.False(t, lines.Scan())
}
