package node_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// What makes no sense is refused as what it is, brings nothing into being, and breaks
// nothing.
func TestRequestsThatMakeNoSense(t *testing.T) {
	c := withNotes(t, node.Options{})
	require.NoError(t, os.Symlink(filepath.Join(c.dir, "acme.fenec"), filepath.Join(c.dir, "link.fenec")))
	require.NoError(t, os.Mkdir(filepath.Join(c.dir, "folder.fenec"), 0o700))
	before := listing(t, c.dir)
	long := strings.Repeat("9", 400)
	for _, x := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/t/acme%00/", "", 400},
		{"GET", "/t/%2e%2e/", "", 400},
		{"GET", "/t/..%2facme/", "", 400},
		{"GET", "/t/acme%2f..%2fbeta/", "", 400},
		{"GET", "/t/acme.fenec/", "", 400},
		{"GET", "/t/.node/", "", 400},
		{"GET", "/t/.trash/", "", 400},
		{"GET", "/t/ACME/", "", 400},
		{"GET", "/t/%C3%A4/", "", 400},
		{"GET", "/t/link/", "", 404},
		{"GET", "/t/folder/", "", 404},
		{"GET", "/t//", "", 404},
		{"GET", "/t", "", 404},
		{"DELETE", "/t/acme", "", 404},
		{"PUT", "/_admin/tenants/.node", "", 400},
		{"PUT", "/_admin/tenants/..", "", 400},
		{"PUT", "/_admin/tenants/link", "", 409},
		{"PUT", "/_admin/tenants/folder", "", 409},
		{"DELETE", "/_admin/tenants/link", "", 404},
		{"DELETE", "/_admin/tenants/folder?purge=1", "", 404},
		{"PUT", "/_admin/tenants//acme", "", 409},
		{"PUT", "/_admin/tenants/acme/file/x", "", 404},
		{"PUT", "/_admin/tenants/new/file", "FENEC", 400},
		{"PUT", "/_admin/tenants/new/quota", `{"rows":1}`, 404},
		{"PUT", "/_admin/tenants/new/settings", `{"a":"b"}`, 404},
		{"POST", "/_admin/tenants/new/freeze", "", 404},
		{"POST", "/_admin/tenants/acme/freeze", `{"ms":9223372036854775807}`, 400},
		{"POST", "/_admin/tenants/acme/freeze", `{"ms":1e3}`, 400},
		{"POST", "/_admin/tenants/acme/freeze", `{"ms":-1}`, 400},
		{"POST", "/_admin/tenants/acme/freeze", `{"MS":1}`, 400},
		{"POST", "/_admin/tenants/acme/freeze", `{"seconds":1}`, 400},
		{"POST", "/_admin/tenants/acme/freeze", `{"ms":1,"and":2}`, 400},
		{"POST", "/_admin/tenants/acme/freeze", `{"ms":1,"ms":2}`, 400},
		{"POST", "/_admin/tenants/acme/freeze", `{"ms":1}x`, 400},
		{"POST", "/_admin/tenants/acme/freeze", `{"ms":1`, 400},
		{"POST", "/_admin/tenants/acme/freeze", `null`, 400},
		{"POST", "/_admin/tenants/acme/freeze", `[1]`, 400},
		{"DELETE", "/_admin/tenants/acme?purge=yes", "", 400},
		{"DELETE", "/_admin/tenants/acme?purge=0", "", 400},
		{"DELETE", "/_admin/tenants/acme?purge=", "", 400},
		{"DELETE", "/_admin/tenants/acme?purge=1&purge=0", "", 400},
		{"PUT", "/_admin/tenants/acme/settings", `{"a":null}`, 400},
		{"PUT", "/_admin/tenants/acme/settings", `{"a":1}`, 400},
		{"PUT", "/_admin/tenants/acme/settings", `{"a":"b","a":"c"}`, 400},
		{"PUT", "/_admin/tenants/acme/settings", `{"a":"b"}{}`, 400},
		{"PUT", "/_admin/tenants/acme/settings", `null`, 400},
		{"PUT", "/_admin/tenants/acme/settings", ``, 400},
		{"POST", "/_admin/tenants/acme/freeze", long + long + long, 413},
		{"PUT", "/_admin/tenants/acme/quota", `{"rows":` + long + `}`, 400},
		{"PUT", "/_admin/tenants/acme/quota", `{"rows":1.5}`, 400},
		{"PUT", "/_admin/tenants/acme/quota", `{"rows":1}{}`, 400},
		{"PUT", "/_admin/tenants/acme/quota", `{"rows":1,"rows":2}`, 400},
		{"PUT", "/_admin/tenants/acme/quota", `[]`, 400},
		{"PUT", "/_admin/tenants/acme/quota", strings.Repeat(" ", 5000), 413},
		{"GET", "/_admin/usage?since=-9223372036854775808", "", 200},
		{"GET", "/_admin/usage?since=9223372036854775807", "", 200},
		{"GET", "/_admin/usage?since=9999-12-31T23:59:59Z&top=2147483647", "", 200},
		{"GET", "/_admin/usage?top=-1", "", 400},
		{"GET", "/_admin/usage?top=" + long, "", 400},
	} {
		status, body := c.do(x.method, x.path, "a", x.body)
		require.Equal(t, x.want, status, "%s %s %.60s: %s", x.method, x.path, x.body, body)
	}
	require.Equal(t, before, listing(t, c.dir))
	c.want(200, `{}`, "GET", "/_admin/tenants/acme/settings", "a", "")
	_, told := c.do("PUT", "/_admin/tenants/new/file", "a", "FENEC and no more")
	require.Contains(t, told, "not a whole image")
	require.NotContains(t, told, c.dir, "where the files are is for the log")
	for _, path := range []string{"/t/acme/notes", "/t/beta/notes"} {
		c.want(200, `[]`, "GET", path, "", "")
	}
	most := `{"bytes":9223372036854775807,"rows":9223372036854775807,"streams":9223372036854775807,"requests":9223372036854775807,` +
		`"rows_per_second":9223372036854775807,"bytes_per_second":9223372036854775807,"requests_per_second":9223372036854775807}`
	c.want(200, most, "PUT", "/_admin/tenants/acme/quota", "a", most)
	for range 3 {
		c.want(201, "", "POST", "/t/acme/notes", "", `{"a":1}`)
	}
}

// listing returns the names in a directory.
func listing(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// A quota that cannot be read keeps its tenant closed, and nobody else's, until another is
// set.
func TestDamagedQuota(t *testing.T) {
	dir := t.TempDir()
	n, err := node.Open(dir, node.Options{AdminToken: secretA})
	require.NoError(t, err)
	for _, name := range []string{"acme", "beta"} {
		require.Equal(t, 201, admin(t, n, "PUT", "/_admin/tenants/"+name, "", nil))
	}
	require.NoError(t, n.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "acme.quota"), []byte(`{"rows":`), 0o600))
	n, err = node.Open(dir, node.Options{AdminToken: secretA})
	require.NoError(t, err)
	defer func() { require.NoError(t, n.Close()) }()
	w := send(n, "GET", "/t/acme/", "")
	require.Equal(t, 503, w.Code)
	require.Contains(t, w.Body.String(), `"code":"tenant-degraded"`)
	require.Equal(t, 200, send(n, "GET", "/t/beta/", "").Code)
	require.Equal(t, 500, admin(t, n, "GET", "/_admin/tenants/acme/quota", "", nil))
	limit(t, n, `{"rows":1}`)
	require.Equal(t, 200, admin(t, n, "GET", "/_admin/tenants/acme/quota", "", nil))
}

// Of many who make a tenant of one name, by a create, an image or the trash, one does; and
// of many who delete it.
func TestManyForOneName(t *testing.T) {
	c := withNotes(t, node.Options{Tenants: tenant.Options{MaxOpen: 2}})
	c.want(201, "", "POST", "/t/acme/notes", "", `{"a":7}`)
	_, image := c.do("GET", "/_admin/tenants/acme/file", "a", "")
	for range 5 {
		var made, gone, other atomic.Int64
		try := func(counts *atomic.Int64, good int, bad ...int) func(method, path, body string) {
			return func(method, path, body string) {
				status, _ := c.try(method, path, body)
				switch {
				case status == good:
					counts.Add(1)
				default:
					for _, b := range bad {
						if status == b {
							return
						}
					}
					other.Add(1)
				}
			}
		}
		var all sync.WaitGroup
		for i := range 24 {
			all.Go(func() {
				switch i % 3 {
				case 0:
					try(&made, 201, 409)("PUT", "/_admin/tenants/one", "")
				case 1:
					try(&made, 201, 409, 503)("PUT", "/_admin/tenants/one/file", image)
				case 2:
					try(&made, 200, 404, 409)("POST", "/_admin/tenants/one/undelete", "")
				}
			})
		}
		all.Wait()
		require.EqualValues(t, 1, made.Load())
		for range 8 {
			all.Go(func() { try(&gone, 204, 404)("DELETE", "/_admin/tenants/one", "") })
		}
		all.Wait()
		require.EqualValues(t, 1, gone.Load())
		require.Zero(t, other.Load())
	}
	left, err := filepath.Glob(filepath.Join(c.dir, "one*"))
	require.NoError(t, err)
	require.Empty(t, left)
	c.want(200, `[{"id":1,"a":7}]`, "GET", "/t/acme/notes", "", "")
}

// try sends a request under the admin token, from any goroutine.
func (c *client) try(method, path, body string) (status int, answer string) {
	req, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer a")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, fmt.Sprint(string(b), err)
}

// Many writers at the edge of every ceiling, over HTTP, beside a change of it: neither is
// passed, and what is refused is told as that.
func TestWritersAtTheEdge(t *testing.T) {
	c := withNotes(t, node.Options{})
	c.want(200, "", "PUT", "/_admin/tenants/acme/quota", "a", `{"rows":40}`)
	var landed, refused, other atomic.Int64
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for range 3 {
				switch status, _ := c.try("POST", "/t/acme/notes", `{"a":1}`); status {
				case 201:
					landed.Add(1)
				case 413:
					refused.Add(1)
				default:
					other.Add(1)
				}
			}
		})
	}
	all.Go(func() { c.try("PUT", "/_admin/tenants/acme/quota", `{"rows":100}`) })
	all.Wait()
	require.Zero(t, other.Load())
	require.LessOrEqual(t, landed.Load(), int64(100))
	require.GreaterOrEqual(t, landed.Load(), int64(40))
	require.EqualValues(t, 192, landed.Load()+refused.Load())
	c.want(200, fmt.Sprintf(`{"count":%d}`, landed.Load()), "GET", "/t/acme/notes?count", "", "")
	var use struct{ Rows int64 }
	require.Equal(t, 200, admin(t, c.node, "GET", "/_admin/tenants/acme/usage", "", &use))
	require.Equal(t, landed.Load(), use.Rows)
}

// An image whose sender gives up leaves nothing, and its name free.
func TestImageThatBreaksOff(t *testing.T) {
	c := withNotes(t, node.Options{})
	_, image := c.do("GET", "/_admin/tenants/acme/file", "a", "")
	half := io.MultiReader(bytes.NewReader([]byte(image[:len(image)/2])), iotest.ErrReader(io.ErrUnexpectedEOF))
	req, err := http.NewRequest("PUT", c.url+"/_admin/tenants/copy/file", half)
	require.NoError(t, err)
	req.ContentLength = int64(len(image))
	req.Header.Set("Authorization", "Bearer a")
	if res, err := http.DefaultClient.Do(req); err == nil {
		require.NoError(t, res.Body.Close())
		require.Equal(t, 400, res.StatusCode)
	}
	require.Eventually(t, func() bool {
		status, _ := c.try("PUT", "/_admin/tenants/copy/file", image)
		return status == 201
	}, 5*time.Second, time.Millisecond)
	c.want(200, `[]`, "GET", "/t/copy/notes", "", "")
}
