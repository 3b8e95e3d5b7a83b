package router_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/router"
	tenants "github.com/fenec-go/fenecdb/tenant/node"
)

// realNode is a node as it is, over a directory of its own, with the token "good" for
// data and the admin token of the other nodes here.
func realNode(t *testing.T, opts serve.Options, before func(http.Handler) http.Handler) *httptest.Server {
	opts.Token = serve.NewSecret("good")
	n, err := tenants.Open(t.TempDir(), tenants.Options{Surface: opts, AdminToken: serve.NewSecret("admin-secret")})
	require.NoError(t, err)
	handler := http.Handler(n)
	if before != nil {
		handler = before(n)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() { server.Close(); require.NoError(t, n.Close()) })
	return server
}

// enlist records the node and has it make tenants.
func (g *rig) enlist(server *httptest.Server, tenants ...string) {
	g.t.Helper()
	status, body := g.call("PUT", "/_shard/nodes/n1", fmt.Sprintf(`{"addr":%q,"token":"admin-secret"}`, server.Listener.Addr()))
	require.Equal(g.t, 201, status, body)
	for _, name := range tenants {
		status, body = g.call("PUT", "/_shard/tenants/"+name, "")
		require.Equal(g.t, 201, status, body)
	}
}

const good = "Authorization: Bearer good"

// R31: the answer to a write with a key is lost on the way, and the write has run once.
func TestKeyedWriteIsReplayed(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		var lose atomic.Bool
		server := realNode(t, serve.Options{}, func(n http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Idempotency-Key") != "" && lose.CompareAndSwap(true, false) {
					n.ServeHTTP(httptest.NewRecorder(), r)
					panic(http.ErrAbortHandler)
				}
				n.ServeHTTP(w, r)
			})
		})
		g := startRouter(t, f, router.Options{})
		g.enlist(server, "acme")
		status, body := g.call("POST", "/t/acme/query", `{"query":"create collection notes (text text)"}`, good)
		require.Equal(t, 200, status, body)
		lose.Store(true)
		status, head, body := g.callHead("POST", "/t/acme/notes", `{"text":"once"}`, good, "Idempotency-Key: k1")
		require.Equal(t, 201, status, body)
		require.Equal(t, "true", head.Get("Idempotent-Replayed"))
		require.False(t, lose.Load())
		status, body = g.call("POST", "/t/acme/query", `{"query":"get notes count"}`, good)
		require.Equal(t, 200, status)
		require.Contains(t, body, "1")
		require.NotContains(t, body, "2")
	})
}

// R37, R39: one line in each log, with the same id; the node does not wait.
func TestRefusalInBothLogs(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		atRouter, atNode := &lines{}, &lines{}
		server := realNode(t, serve.Options{AuditLog: atNode}, nil)
		g := startRouter(t, f, router.Options{AuditLog: atRouter})
		g.enlist(server, "acme")
		status, head, _ := g.callHead("GET", "/t/acme/notes", "", "X-Request-Id: probe-3", "Authorization: Bearer bad")
		require.Equal(t, 401, status)
		require.Equal(t, "probe-3", head.Get("X-Request-Id"))
		for _, log := range []*lines{atRouter, atNode} {
			var refused []string
			for line := range strings.Lines(log.String()) {
				var e struct{ Event, Path, Tenant string }
				require.NoError(t, json.Unmarshal([]byte(line), &e))
				if e.Event == "refused" {
					require.Contains(t, line, `"request_id":"probe-3"`)
					refused = append(refused, e.Path+" "+e.Tenant)
				}
			}
			require.Equal(t, []string{"/t/acme/notes acme"}, refused)
		}
	})
}

// A stream, its end with the tenant, and what a node answers in pieces.
func TestRealStream(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		server := realNode(t, serve.Options{}, nil)
		g := startRouter(t, f, router.Options{})
		g.enlist(server, "acme")
		status, body := g.call("POST", "/t/acme/query", `{"query":"create collection notes (text text)"}`, good)
		require.Equal(t, 200, status, body)
		c := g.dial()
		c.send("GET", "/t/acme/notes/changes", "", good)
		resp, err := http.ReadResponse(c.r, nil)
		require.NoError(t, err)
		require.Equal(t, 200, resp.StatusCode)
		require.Contains(t, resp.Header.Get("Content-Type"), "text/event-stream")
		status, _ = g.call("POST", "/t/acme/notes", `{"text":"live"}`, good)
		require.Equal(t, 201, status)
		seen := make([]byte, 0, 4096)
		for piece := make([]byte, 512); !strings.Contains(string(seen), "live"); {
			n, err := resp.Body.Read(piece)
			require.NoError(t, err)
			seen = append(seen, piece[:n]...)
		}
		status, body = g.call("DELETE", "/_shard/tenants/acme", "")
		require.Equal(t, 204, status, body)
		_, err = io.ReadAll(resp.Body)
		require.NoError(t, err, "it ends with the tenant")
		status, _ = g.call("GET", "/t/acme/notes", "", good)
		require.Equal(t, 404, status)
	})
}
