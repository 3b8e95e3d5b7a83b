package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/router"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, "127.0.0.1:0", t.TempDir(), true))
	var statuses []string
	for _, m := range regexp.MustCompile(`(?m)^(\d{3}) `).FindAllStringSubmatch(out.String(), -1) {
		statuses = append(statuses, m[1])
	}
	require.Equal(t, []string{"201", "201", "201", "200", "401", "403", "421", "200", "200"}, statuses, out.String())
	require.Regexp(t, `(?m)^each of [1-9]\d* reads meanwhile was answered$`, out.String())
	require.Contains(t, out.String(), `[{"name":"acme","node":"n2","state":"active","epoch":2}`)
	require.NotContains(t, out.String(), "stays up")
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out cancelAt = func(text []byte) {
		if bytes.Contains(text, []byte("stays up")) {
			cancel()
		}
	}
	require.NoError(t, run(ctx, out, "127.0.0.1:0", t.TempDir(), false))
}

// cancelAt is told what is written.
type cancelAt func([]byte)

func (c cancelAt) Write(b []byte) (int, error) {
	c(b)
	return len(b), nil
}

func TestRunThatCannotListen(t *testing.T) {
	require.Error(t, run(t.Context(), new(bytes.Buffer), "127.0.0.1:x", t.TempDir(), true))
}

// What gets to a node is the customer's own, and has the node's token instead of the key.
func TestGateway(t *testing.T) {
	var forwarded []string
	node := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		forwarded = append(forwarded, r.RequestURI+" "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
	}))
	defer node.Close()
	directory, err := router.OpenDirectory(filepath.Join(t.TempDir(), "shard.fenec"))
	require.NoError(t, err)
	defer directory.Close()
	n1 := router.Node{Name: "n1", Addr: node.Listener.Addr().String(), Token: router.NewToken(nodeToken)}
	require.NoError(t, directory.PutNode(n1))
	require.NoError(t, directory.Place("acme", n1))
	require.NoError(t, directory.Place("beta", n1))
	h, rt, err := newGateway(directory, map[string]string{"of-acme": "acme", "of-gone": "gone"})
	require.NoError(t, err)
	defer rt.Shutdown(context.Background())

	for _, c := range []struct {
		name, host, target, key, auth string
		status                        int
		forwarded                     string
	}{
		{"own", "acme.example.test", "/notes?id=1", "of-acme", "", 200, "/t/acme/notes?id=1 Bearer data"},
		{"a token of its own is replaced", "ACME.example.test.:8080", "/", "of-acme", "Bearer admin", 200, "/t/acme/ Bearer data"},
		{"another customer's path", "acme.example.test", "/t/beta/notes", "of-acme", "", 200, "/t/acme/t/beta/notes Bearer data"},
		{"another customer's host", "beta.example.test", "/notes", "of-acme", "", 403, ""},
		{"no key", "acme.example.test", "/notes", "", "Bearer data", 401, ""},
		{"an unknown key", "acme.example.test", "/notes", "of-beta", "", 401, ""},
		{"a foreign host", "acme.example.com", "/notes", "of-acme", "", 421, ""},
		{"the domain itself", "example.test", "/notes", "of-acme", "", 421, ""},
		{"a host that is no name", "a*b.example.test", "/notes", "of-acme", "", 400, ""},
		{"a customer that is gone", "gone.example.test", "/notes", "of-gone", "", 404, ""},
		{"the directory is not for customers", "acme.example.test", "/_shard/tenants", "of-acme", "", 401, ""},
		{"nor in another guise", "acme.example.test", "/%5Fshard/tenants", "of-acme", "Bearer data", 401, ""},
		{"but for the operator", "acme.example.test", "/_shard/tenants", "", "Bearer shard", 200, ""},
		{"health", "localhost", "/_health", "", "", 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			forwarded = nil
			r := httptest.NewRequest(http.MethodGet, c.target, nil)
			r.Host = c.host
			r.Header.Set("X-Api-Key", c.key)
			r.Header.Set("Authorization", c.auth)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			require.Equal(t, c.status, w.Code, w.Body.String())
			if c.forwarded == "" {
				require.Empty(t, forwarded)
			} else {
				require.Equal(t, []string{c.forwarded}, forwarded)
			}
		})
	}
}
