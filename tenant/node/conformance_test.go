package node_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// The cases here are those of a node that a script cannot say: they need time, sizes, or
// requests that overlap.

// openNow returns the tenants that are open.
func (c *client) openNow() (names []string) {
	c.t.Helper()
	status, body := c.do("GET", "/_admin/open", "a", "")
	require.Equal(c.t, 200, status)
	var list []struct{ Name string }
	require.NoError(c.t, json.Unmarshal([]byte(body), &list))
	for _, x := range list {
		names = append(names, x.Name)
	}
	return names
}

// held is a function of the query language, hold(n), that holds a statement up.
type held struct {
	begun, goOn chan struct{}
}

func newHeld() *held { return &held{make(chan struct{}, 16), make(chan struct{})} }

func (h *held) functions() map[string]fenec.Function {
	return map[string]fenec.Function{"hold": {Least: 1, Most: 1, Of: func([]any) (any, error) {
		h.begun <- struct{}{}
		<-h.goOn
		return true, nil
	}}}
}

// read sends a read of a tenant's notes that is held up, and returns its answer's status.
func (h *held) read(c *client, name string) <-chan int {
	status := make(chan int, 1)
	go func() {
		body := `{"query":"get notes where hold(1)"}`
		res, err := http.Post(c.url+"/t/"+name+"/query", "application/json", strings.NewReader(body))
		if err != nil {
			status <- 0
			return
		}
		status <- res.StatusCode
		_ = res.Body.Close()
	}()
	return status
}

// follows subscribes to a tenant's notes until the test ends, and returns what comes after
// the first line.
func (c *client) follows(name string) *bufio.Reader {
	c.t.Helper()
	res, err := http.Get(c.url + "/t/" + name + "/notes/changes")
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = res.Body.Close() })
	stream := bufio.NewReader(res.Body)
	first, err := stream.ReadString('\n')
	require.NoError(c.t, err)
	require.Equal(c.t, "event: seed\n", first)
	return stream
}

// N34: an ordinary request has its ceiling, an image has none but the disk's.
func TestLargeBodies(t *testing.T) {
	c := withNotes(t, node.Options{Tenants: tenant.Options{DB: fenec.Options{Sync: fenec.SyncOff}}})
	const size = 65 << 20
	req, err := http.NewRequest("POST", c.url+"/t/acme/query", io.LimitReader(zeros{}, size))
	require.NoError(t, err)
	req.ContentLength = size
	res, err := http.DefaultClient.Do(req)
	if err == nil { // or the server has hung up while the body was on its way
		require.Equal(t, 413, res.StatusCode)
		require.NoError(t, res.Body.Close())
	}

	acme, err := c.node.Tenants().Lookup(t.Context(), "acme")
	require.NoError(t, err)
	blob := strings.Repeat("0123456789abcdef", 64<<10)
	require.NoError(t, c.node.Tenants().Do(t.Context(), acme, func(ctx context.Context, h *tenant.Handle) error {
		_, err := h.Exec(ctx, "create collection blobs (s text)")
		for i := 0; i < 66 && err == nil; i++ {
			_, err = h.Exec(ctx, "put blobs {s: $1}", blob)
		}
		return err
	}))
	get, err := http.NewRequest("GET", c.url+"/_admin/tenants/acme/file", nil)
	require.NoError(t, err)
	get.Header.Set("Authorization", "Bearer a")
	image, err := http.DefaultClient.Do(get)
	require.NoError(t, err)
	defer image.Body.Close()
	require.Greater(t, image.ContentLength, int64(size))
	put, err := http.NewRequest("PUT", c.url+"/_admin/tenants/copy/file", image.Body)
	require.NoError(t, err)
	put.ContentLength = image.ContentLength
	put.Header.Set("Authorization", "Bearer a")
	res, err = http.DefaultClient.Do(put)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 201, res.StatusCode)
	c.want(200, `{"count":66}`, "GET", "/t/copy/blobs?count", "", "")
}

// zeros is as many zeros as anybody wants.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// N36: a tenant that is in use for too long is not deleted, and goes on.
func TestDeleteOfATenantInUse(t *testing.T) {
	slow := newHeld()
	c := withNotes(t, node.Options{Tenants: tenant.Options{DeleteWait: 20 * time.Millisecond, DB: fenec.Options{Functions: slow.functions()}}})
	c.want(201, "", "POST", "/t/acme/notes", "", `{"a":1}`)
	answered := slow.read(c, "acme")
	<-slow.begun
	status, body := c.do("DELETE", "/_admin/tenants/acme", "a", "")
	require.Equal(t, 409, status, body)
	require.FileExists(t, filepath.Join(c.dir, "acme.fenec"))
	c.want(201, "", "POST", "/t/acme/notes", "", `{"a":2}`)
	stream := c.follows("acme")
	c.want(201, "", "POST", "/t/acme/notes", "", `{"a":3}`)
	for line := ""; !strings.Contains(line, `"a":3`); {
		var err error
		line, err = stream.ReadString('\n')
		require.NoError(t, err, "subscriptions begin again")
	}
	close(slow.goOn)
	require.Equal(t, 200, <-answered)
	c.want(204, "", "DELETE", "/_admin/tenants/acme", "a", "")
}

// N38 and N39: a tenant that nobody uses is closed after its time, and opened by the next
// request; one with a request or a subscription is not closed.
func TestIdleTenantsAreClosed(t *testing.T) {
	var later atomic.Int64 // by how much the node's clock goes before ours
	slow := newHeld()
	c := withNotes(t, node.Options{Tenants: tenant.Options{
		IdleClose: time.Minute, DB: fenec.Options{Functions: slow.functions()},
		Clock: func() time.Time { return time.Now().Add(time.Duration(later.Load())) },
	}})
	c.want(201, "", "PUT", "/_admin/tenants/gamma", "a", "")
	for _, name := range []string{"acme", "beta"} {
		c.want(201, "", "POST", "/t/"+name+"/notes", "", `{"a":1}`)
	}
	answered := slow.read(c, "acme")
	<-slow.begun
	c.follows("beta")
	later.Store(int64(time.Hour))
	require.Eventually(t, func() bool { return slices.Equal(c.openNow(), []string{"acme", "beta"}) }, 20*time.Second, 10*time.Millisecond)
	c.want(200, "", "GET", "/t/gamma/", "", "")
	later.Store(int64(2 * time.Hour))
	require.Eventually(t, func() bool { return slices.Equal(c.openNow(), []string{"acme", "beta"}) }, 20*time.Second, 10*time.Millisecond)
	close(slow.goOn)
	require.Equal(t, 200, <-answered)
	later.Store(int64(3 * time.Hour))
	require.Eventually(t, func() bool { return slices.Equal(c.openNow(), []string{"beta"}) }, 20*time.Second, 10*time.Millisecond)
	c.want(200, `[{"id":1,"a":1}]`, "GET", "/t/acme/notes", "", "")
}

// N40: where tenants are never closed for being idle, they are not.
func TestIdleTenantsStayOpen(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		n, err := node.Open(dir, node.Options{AdminToken: secretA, Tenants: tenant.Options{IdleClose: -1}})
		require.NoError(t, err)
		require.Equal(t, 201, admin(t, n, "PUT", "/_admin/tenants/acme", "", nil))
		time.Sleep(24 * time.Hour) // of the bubble's time
		require.Len(t, n.Tenants().Opened(), 1)
		require.NoError(t, n.Close())
	})
}

// N41 to N43: under a ceiling of memory idle tenants make room, the longest unused first,
// and none is refused where there are none.
func TestMemoryCeiling(t *testing.T) {
	c := withNotes(t, node.Options{Tenants: tenant.Options{MaxMemory: 1, DB: fenec.Options{MaxMemory: 1 << 30}}})
	c.want(201, "", "PUT", "/_admin/tenants/gamma", "a", "")
	c.want(201, "", "POST", "/t/acme/notes", "", `{"a":1}`)
	c.want(201, "", "POST", "/t/beta/notes", "", `{"a":2}`)
	require.Equal(t, []string{"beta"}, c.openNow())
	c.want(200, `[{"id":1,"a":1}]`, "GET", "/t/acme/notes", "", "")

	c.follows("acme")
	c.follows("beta")
	c.want(200, "", "GET", "/t/gamma/", "", "")
	require.Equal(t, []string{"acme", "beta", "gamma"}, c.openNow(), "all are busy, and one more opens")
}

func TestLeastRecentlyUsedGoFirst(t *testing.T) {
	c := withNotes(t, node.Options{Tenants: tenant.Options{MaxOpen: 3}})
	for _, name := range []string{"gamma", "delta"} {
		c.want(201, "", "PUT", "/_admin/tenants/"+name, "a", "")
	}
	for _, name := range []string{"acme", "beta", "gamma", "delta"} {
		c.want(200, "", "GET", "/t/"+name+"/", "", "")
	}
	require.Equal(t, []string{"beta", "delta", "gamma"}, c.openNow())
}

// N44: a tenant that is over the ceiling by itself takes what does not let it grow.
func TestTenantOverTheCeiling(t *testing.T) {
	c := withNotes(t, node.Options{Tenants: tenant.Options{MaxMemory: 1 << 30, DB: fenec.Options{MaxMemory: 1}}})
	status, body := 201, ""
	for i := 0; i < 10 && status == 201; i++ {
		status, body = c.do("POST", "/t/acme/notes", "", `{"a":1}`)
	}
	require.Equal(t, 507, status, body)
	c.want(200, "", "GET", "/t/acme/notes?limit=1", "", "")
	c.want(200, "", "POST", "/t/acme/query", "", `{"query":"del notes"}`)
}

// N45: writers lose nothing to closes that come between, and write nothing twice.
func TestWritersAndCloses(t *testing.T) {
	c := withNotes(t, node.Options{Tenants: tenant.Options{MaxOpen: 1, IdleClose: time.Nanosecond, DB: fenec.Options{Sync: fenec.SyncOff}}})
	const writers, each = 4, 200
	failed := make(chan string, writers*each)
	stop := make(chan struct{})
	var writing, closing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				res, err := http.Post(c.url+"/t/acme/notes", "application/json", strings.NewReader(fmt.Sprintf(`{"a":%d}`, w*each+i)))
				if err != nil {
					failed <- err.Error()
					continue
				}
				if _ = res.Body.Close(); res.StatusCode != 201 {
					failed <- res.Status
				}
			}
		})
	}
	closing.Go(func() { // for one to be open is for the other to close
		for {
			select {
			case <-stop:
				return
			default:
				if res, err := http.Get(c.url + "/t/beta/"); err == nil {
					_ = res.Body.Close()
				}
			}
		}
	})
	writing.Wait()
	close(stop)
	closing.Wait()
	require.Empty(t, failed)
	c.want(200, `{"count":800}`, "GET", "/t/acme/notes?count", "", "")
	status, body := c.query("acme", "get notes select a, count(*) as n group a having n > 1")
	require.Equal(t, 200, status, body)
	require.Equal(t, `[]`, body)
}

// N46: a tenant that takes long to open holds up its own requests only.
func TestASlowOpen(t *testing.T) {
	opening, goOn := make(chan struct{}), make(chan struct{})
	dir := t.TempDir()
	n, err := node.Open(dir, node.Options{AdminToken: secretA, Tenants: tenant.Options{MaxOpen: 1}})
	require.NoError(t, err)
	for _, name := range []string{"slow", "quick"} {
		require.Equal(t, 201, admin(t, n, "PUT", "/_admin/tenants/"+name, "", nil))
	}
	require.NoError(t, n.Close())
	n, err = node.Open(dir, node.Options{AdminToken: secretA, Tenants: tenant.Options{OnOpen: func(id tenant.ID, _ *fenec.DB) error {
		if id.String() == "slow" {
			close(opening)
			<-goOn
		}
		return nil
	}}})
	require.NoError(t, err)
	defer func() { require.NoError(t, n.Close()) }()
	answered := make(chan int, 1)
	go func() { answered <- send(n, "GET", "/t/slow/", "").Code }()
	<-opening
	require.Equal(t, 200, send(n, "GET", "/t/quick/", "").Code)
	require.Equal(t, 200, admin(t, n, "GET", "/_admin/stats", "", nil))
	require.Equal(t, 200, admin(t, n, "GET", "/_admin/open", "", nil))
	require.Equal(t, 200, admin(t, n, "GET", "/_admin/usage", "", nil))
	require.Empty(t, answered)
	close(goOn)
	require.Equal(t, 200, <-answered)
}

// N48: what comes while the node closes is told to come again, and writes nothing.
func TestRequestsAfterTheEnd(t *testing.T) {
	n, dir := manage(t, tenant.Options{})
	require.Equal(t, 200, send(n, "GET", "/_ready", "").Code)
	require.NoError(t, n.Close())
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/t/acme/notes", ""},
		{"POST", "/t/acme/notes", `{"who":"x"}`},
		{"GET", "/t/nobody/notes", ""},
		{"GET", "/_ready", ""},
	} {
		w := send(n, c.method, c.path, c.body)
		require.Equal(t, 503, w.Code, "%s %s: %s", c.method, c.path, w.Body.String())
		require.Equal(t, "1", w.Header().Get("Retry-After"))
	}
	require.Equal(t, 503, admin(t, n, "PUT", "/_admin/tenants/new", "", nil))
	require.NoFileExists(t, filepath.Join(dir, "new.fenec"))
	require.Equal(t, 200, send(n, "GET", "/_health", "").Code, "it is alive")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, file := range left {
		require.NotContains(t, file.Name(), "-log", "all was folded")
	}
}

// X20: requests beyond the places there are wait for one, so long; a batch takes one.
func TestPlacesOverHTTP(t *testing.T) {
	slow := newHeld()
	c := withNotes(t, node.Options{Tenants: tenant.Options{MaxInFlight: 2, Wait: 30 * time.Millisecond, DB: fenec.Options{Functions: slow.functions()}}})
	c.want(201, "", "POST", "/t/acme/notes", "", `{"a":1}`)
	answers := []<-chan int{slow.read(c, "acme")}
	batch := make(chan int, 1)
	go func() {
		lines := `{"query":"get notes where hold(1)"}` + "\n" + `{"query":"get notes where hold(2)"}`
		res, err := http.Post(c.url+"/t/acme/batch", "application/x-ndjson", strings.NewReader(lines))
		if err != nil {
			batch <- 0
			return
		}
		batch <- res.StatusCode
		_ = res.Body.Close()
	}()
	answers = append(answers, batch)
	<-slow.begun
	<-slow.begun
	for _, name := range []string{"acme", "beta"} {
		status, body := c.do("GET", "/t/"+name+"/notes", "", "")
		require.Equal(t, 503, status)
		require.Contains(t, body, `"retry_after":1`)
	}
	c.want(200, "", "GET", "/_admin/stats", "a", "")
	close(slow.goOn)
	for _, answer := range answers {
		require.Equal(t, 200, <-answer)
	}
	c.want(200, "", "GET", "/t/beta/notes", "", "")
}
