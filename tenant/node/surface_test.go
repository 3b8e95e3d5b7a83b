package node_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/exchange"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// withNotes starts a node with the tenants acme and beta, who keep notes.
func withNotes(t *testing.T, opts node.Options) *client {
	t.Helper()
	opts.AdminToken = serve.NewSecret("a")
	c := start(t, opts)
	for _, name := range []string{"acme", "beta"} {
		c.want(201, "", "PUT", "/_admin/tenants/"+name, "a", "")
		status, body := c.query(name, "create collection notes (a int)")
		require.Equal(t, 200, status, body)
	}
	return c
}

func TestSurface(t *testing.T) {
	exchange.Run(t, exchange.Script(t, "N"), func(t *testing.T, fixture string) string {
		var opts node.Options
		if fixture == "node admin figures" {
			opts.Surface.MetricsToken = serve.NewSecret("a")
		}
		return withNotes(t, opts).url
	})
}

// An image is a tenant of its own once it is put under another name.
func TestImages(t *testing.T) {
	c := withNotes(t, node.Options{})
	c.want(201, "", "POST", "/t/acme/notes", "", `{"a":7}`)
	status, image := c.do("GET", "/_admin/tenants/acme/file", "a", "")
	require.Equal(t, 200, status)
	c.want(201, `{"imported":"copy"}`, "PUT", "/_admin/tenants/copy/file", "a", image)
	c.want(200, `[{"id":1,"a":7}]`, "GET", "/t/copy/notes", "", "")
	c.want(409, "", "PUT", "/_admin/tenants/copy/file", "a", image)
	for _, damaged := range []string{image[:len(image)/2], image + "x", "", strings.Repeat("x", len(image))} {
		c.want(400, "", "PUT", "/_admin/tenants/cut/file", "a", damaged)
	}
	c.want(404, "", "GET", "/_admin/tenants/nope/file", "a", "")
	c.want(404, "", "GET", "/t/cut/notes", "", "")
	left, err := filepath.Glob(filepath.Join(c.dir, "cut*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// The subscriptions of a tenant that goes are told why, and end.
func TestDeleteEndsStreams(t *testing.T) {
	c := withNotes(t, node.Options{})
	res, err := http.Get(c.url + "/t/acme/notes/changes")
	require.NoError(t, err)
	defer res.Body.Close()
	stream := bufio.NewReader(res.Body)
	first, err := stream.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "event: seed\n", first)
	c.want(204, "", "DELETE", "/_admin/tenants/acme", "a", "")
	events, err := io.ReadAll(stream)
	require.NoError(t, err)
	require.Contains(t, string(events), "event: error\ndata: {\"error\":\"the tenant is being deleted")
}

// A limit holds after the node was started anew, and is no file when it is gone.
func TestQuotasStay(t *testing.T) {
	dir := t.TempDir()
	begin := func() (*node.Node, func(method, path, body string) int) {
		n, err := node.Open(dir, node.Options{AdminToken: serve.NewSecret("a")})
		require.NoError(t, err)
		return n, func(method, path, body string) int {
			req, err := http.NewRequest(method, path, strings.NewReader(body))
			require.NoError(t, err)
			req.RequestURI = path
			req.Header.Set("Authorization", "Bearer a")
			w := &answered{header: http.Header{}}
			n.ServeHTTP(w, req)
			return w.status
		}
	}
	n, ask := begin()
	require.Equal(t, 201, ask("PUT", "/_admin/tenants/acme", ""))
	require.Equal(t, 200, ask("POST", "/t/acme/query", `{"query":"create collection notes (a int)"}`))
	require.Equal(t, 200, ask("PUT", "/_admin/tenants/acme/quota", `{"rows":1}`))
	require.FileExists(t, filepath.Join(dir, "acme.quota"))
	require.NoError(t, n.Close())
	n, ask = begin()
	require.Equal(t, 201, ask("POST", "/t/acme/notes", `{"a":1}`))
	require.Equal(t, 413, ask("POST", "/t/acme/notes", `{"a":2}`))
	require.Equal(t, 200, ask("PUT", "/_admin/tenants/acme/quota", `{}`))
	require.NoFileExists(t, filepath.Join(dir, "acme.quota"))
	require.Equal(t, 201, ask("POST", "/t/acme/notes", `{"a":2}`))
	require.NoError(t, n.Close())
}

// answered is a ResponseWriter that keeps the status.
type answered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *answered) Header() http.Header         { return w.header }
func (w *answered) Write(b []byte) (int, error) { return w.body.Write(b) }
func (w *answered) WriteHeader(status int)      { w.status = status }

// A tenant whose file is damaged says so, and no other is touched by it.
func TestDamagedTenant(t *testing.T) {
	c := withNotes(t, node.Options{Tenants: tenant.Options{}})
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "torn.fenec"), []byte("no database"), 0o600))
	status, body := c.do("GET", "/t/torn/notes", "", "")
	require.Equal(t, 503, status)
	require.Contains(t, body, `"code":"tenant-degraded"`)
	require.NotContains(t, body, c.dir, "no path of the server's is told")
	c.want(200, `[]`, "GET", "/t/acme/notes", "", "")
	_, body = c.do("GET", "/_admin/degraded", "a", "")
	require.Contains(t, body, `"name":"torn"`)
}

// Who waits for a write holds no place that the write would need.
func TestWaitersHoldNoPlace(t *testing.T) {
	c := withNotes(t, node.Options{
		Tenants: tenant.Options{MaxInFlightTenant: 1, Wait: 5 * time.Second},
		Surface: serve.Options{},
	})
	res, err := http.Get(c.url + "/t/acme/notes/changes")
	require.NoError(t, err)
	defer res.Body.Close()
	waiting := make(chan string)
	go func() {
		req, _ := http.NewRequest("GET", c.url+"/t/acme/notes", nil)
		req.Header.Set("Fenec-After", "2")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			waiting <- err.Error()
			return
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		waiting <- string(b)
	}()
	c.want(201, "", "POST", "/t/acme/notes", "", `{"a":1}`)
	require.Equal(t, `[{"id":1,"a":1}]`, <-waiting)
}
