package node_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// admin asks a node something under its admin token, and reads the answer into v.
func admin(t *testing.T, n *node.Node, method, path, body string, v any) int {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer a")
	w := httptest.NewRecorder()
	n.ServeHTTP(w, r)
	if v != nil {
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), v), w.Body.String())
	}
	return w.Code
}

// limit gives acme a quota.
func limit(t *testing.T, n *node.Node, quota string) {
	t.Helper()
	require.Equal(t, 200, admin(t, n, "PUT", "/_admin/tenants/acme/quota", quota, nil))
}

// noting writes and reads notes in the handler of another program.
var noting = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	h, _ := tenant.FromContext(r.Context())
	if r.Method == http.MethodGet {
		res, err := h.Query(r.Context(), "get notes")
		if err != nil {
			node.Error(w, r, err)
			return
		}
		body, _ := res.AppendJSON(nil)
		_, _ = w.Write(body)
		return
	}
	who, _ := io.ReadAll(r.Body)
	if _, err := h.Exec(r.Context(), "put notes {who: $1}", string(who)); err != nil {
		node.Error(w, r, err)
	}
})

// send sends a request to a handler by itself.
func send(h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w
}

// Handlers of other programs are held to the limits that the node's own routes are.
func TestMiddlewareHoldsToQuotas(t *testing.T) {
	n, _ := manage(t, tenant.Options{})
	h := n.Middleware(nil)(noting)
	refused := func(w *httptest.ResponseRecorder, status int, key string) {
		t.Helper()
		require.Equal(t, status, w.Code, w.Body.String())
		require.Contains(t, w.Body.String(), fmt.Sprintf(`"quota":%q`, key))
		require.Equal(t, status == 429, w.Header().Get("Retry-After") != "")
	}
	limit(t, n, `{"requests_per_second":2}`)
	require.Equal(t, 200, send(h, "GET", "/t/acme/", "").Code)
	require.Equal(t, 200, send(h, "GET", "/t/acme/", "").Code)
	refused(send(h, "GET", "/t/acme/", ""), 429, "requests_per_second")
	require.Equal(t, 200, send(h, "GET", "/t/beta/", "").Code, "another tenant's limit")

	limit(t, n, `{"rows":2}`)
	require.Equal(t, 200, send(h, "POST", "/t/acme/", "a").Code)
	require.Equal(t, 200, send(h, "POST", "/t/acme/", "b").Code)
	refused(send(h, "POST", "/t/acme/", "c"), 413, "rows")

	limit(t, n, `{"rows_per_second":1}`)
	require.Equal(t, 200, send(h, "POST", "/t/acme/", "c").Code)
	refused(send(h, "POST", "/t/acme/", "d"), 429, "rows_per_second")
	require.Equal(t, 200, send(h, "GET", "/t/acme/", "").Code, "reads go on")

	limit(t, n, `{"requests":1}`)
	slow := n.Middleware(nil)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refused(send(h, "GET", "/t/acme/", ""), 429, "requests")
		var use struct{ Requests int }
		require.Equal(t, 200, admin(t, n, "GET", "/_admin/tenants/acme/usage", "", &use))
		require.Equal(t, 1, use.Requests)
	}))
	require.Equal(t, 200, send(slow, "GET", "/t/acme/", "").Code)
	func() {
		defer func() { _ = recover() }()
		send(n.Middleware(nil)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a bug") })), "GET", "/t/acme/", "")
	}()
	require.Equal(t, 200, send(h, "GET", "/t/acme/", "").Code, "a request that panicked is over")
}

// A subscription counts as a stream, and no longer as a request.
func TestMiddlewareStreamsAreCounted(t *testing.T) {
	n, _ := manage(t, tenant.Options{})
	limit(t, n, `{"requests":1,"streams":1}`)
	h := n.Middleware(nil)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, _ := tenant.FromContext(r.Context())
		shape := fenec.Shape{Collection: "notes"}
		sub, err := h.Subscribe(r.Context(), shape, fenec.NoCursor)
		require.NoError(t, err)
		_, err = h.Subscribe(r.Context(), shape, fenec.NoCursor)
		node.Error(w, r, err)
		require.Equal(t, 200, send(n.Middleware(nil)(noting), "GET", "/t/acme/", "").Code)
		require.NoError(t, sub.Close())
		sub, err = h.Subscribe(r.Context(), shape, fenec.NoCursor)
		require.NoError(t, err, "its place is free")
		_, err = h.Subscribe(r.Context(), fenec.Shape{Collection: "nothing"}, fenec.NoCursor)
		require.Error(t, err)
		_ = sub // which ends with the handle
	}))
	w := send(h, "GET", "/t/acme/", "")
	require.Equal(t, 429, w.Code)
	require.Contains(t, w.Body.String(), `"quota":"streams","limit":1`)
	var use struct{ Requests, Streams int }
	require.Equal(t, 200, admin(t, n, "GET", "/_admin/tenants/acme/usage", "", &use))
	require.Zero(t, use.Requests+use.Streams)
}

// The node's own subscriptions take no place of requests either.
func TestStreamsAreNoRequests(t *testing.T) {
	c := withNotes(t, node.Options{})
	c.want(200, "", "PUT", "/_admin/tenants/acme/quota", "a", `{"requests":1,"streams":1}`)
	res, err := http.Get(c.url + "/t/acme/notes/changes")
	require.NoError(t, err)
	defer res.Body.Close()
	_, err = bufio.NewReader(res.Body).ReadString('\n')
	require.NoError(t, err)
	c.want(200, "", "GET", "/t/acme/notes", "", "")
	status, body := c.do("GET", "/t/acme/notes/changes", "", "")
	require.Equal(t, 429, status)
	require.Contains(t, body, `"quota":"streams"`)
}

// used returns what a tenant has used.
type used struct {
	Requests     int64   `json:"requests"`
	RowsRead     int64   `json:"rows_read"`
	RowsWritten  int64   `json:"rows_written"`
	BytesRead    int64   `json:"bytes_read"`
	BytesWritten int64   `json:"bytes_written"`
	CPU          int64   `json:"cpu_ms"`
	ByteHours    float64 `json:"byte_hours"`
}

func usageOf(t *testing.T, n *node.Node, name string) used {
	t.Helper()
	var rep struct {
		Tenants []struct {
			Tenant string
			Usage  used
		}
	}
	require.Equal(t, 200, admin(t, n, "GET", "/_admin/usage", "", &rep))
	for _, x := range rep.Tenants {
		if x.Tenant == name {
			return x.Usage
		}
	}
	return used{}
}

func TestMiddlewareMeters(t *testing.T) {
	n, _ := manage(t, tenant.Options{})
	h := n.Middleware(nil)(noting)
	before := usageOf(t, n, "acme")
	for range 3 {
		require.Equal(t, 200, send(h, "POST", "/t/acme/", "me").Code)
	}
	w := send(h, "GET", "/t/acme/", "")
	require.Equal(t, 200, w.Code)
	after := usageOf(t, n, "acme")
	require.Equal(t, before.Requests+4, after.Requests)
	require.Equal(t, before.RowsWritten+3, after.RowsWritten)
	require.Equal(t, before.BytesWritten+6, after.BytesWritten)
	require.Equal(t, before.RowsRead+3, after.RowsRead)
	require.EqualValues(t, before.BytesRead+int64(w.Body.Len()), after.BytesRead)
}

// A handler that waits is not at work.
func TestMiddlewareMetersNoWaits(t *testing.T) {
	n, _ := manage(t, tenant.Options{})
	const wait = 200 * time.Millisecond
	h := n.Middleware(nil)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, _ := tenant.FromContext(r.Context())
		sub, err := h.Subscribe(r.Context(), fenec.Shape{Collection: "notes"}, fenec.NoCursor)
		require.NoError(t, err)
		_, err = sub.Next(r.Context()) // the seed
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(r.Context(), wait)
		defer cancel()
		_, err = sub.Next(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}))
	before := usageOf(t, n, "acme")
	require.Equal(t, 200, send(h, "GET", "/t/acme/", "").Code)
	require.Less(t, usageOf(t, n, "acme").CPU-before.CPU, wait.Milliseconds())
}

// A quota that is set while its tenant is opened holds, and holds up nobody.
func TestQuotasWhileTenantsOpen(t *testing.T) {
	opening, on := make(chan struct{}), make(chan struct{})
	var once sync.Once
	n, err := node.Open(t.TempDir(), node.Options{Tenants: tenant.Options{
		OnOpen: func(tenant.ID, *fenec.DB) error {
			once.Do(func() {
				close(opening)
				<-on
			})
			return nil
		},
	}, AdminToken: secretA})
	require.NoError(t, err)
	defer func() { require.NoError(t, n.Close()) }()
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { _ = n.Tenants().Create(context.Background(), "acme") })
	<-opening
	set := make(chan int, 1)
	all.Go(func() {
		// acme is not there before it is open, and the quota waits until that is known.
		set <- admin(t, n, "PUT", "/_admin/tenants/acme/quota", `{"requests":1}`, nil)
	})
	require.Equal(t, 404, send(n, "GET", "/t/other/", "").Code, "others are served meanwhile")
	close(on)
	<-set
	limit(t, n, `{"requests_per_second":1}`)
	require.Equal(t, 200, send(n, "GET", "/t/acme/", "").Code)
	require.Equal(t, 429, send(n, "GET", "/t/acme/", "").Code)
}

// Quotas that are set by many at once, beside opens, closes and requests, come to the
// one that is kept.
func TestQuotasRace(t *testing.T) {
	n, _ := manage(t, tenant.Options{MaxOpen: 1})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 10 {
				admin(t, n, "PUT", "/_admin/tenants/acme/quota", fmt.Sprintf(`{"rows":%d}`, 1+i*10+k), nil)
				send(n, "GET", "/t/beta/", "")
				send(n, "GET", "/t/acme/", "")
			}
		})
	}
	all.Wait()
	var kept struct{ Rows int64 }
	require.Equal(t, 200, admin(t, n, "GET", "/_admin/tenants/acme/quota", "", &kept))
	landed := int64(0)
	for ; landed < 100; landed++ {
		if send(n, "POST", "/t/acme/notes", `{"who":"x"}`).Code != 201 {
			break
		}
	}
	require.Equal(t, kept.Rows, landed)
}

// What a tenant holds is known while it is closed, also of one that came as an image, and
// is nothing once it is deleted.
func TestHoldingOfClosedTenants(t *testing.T) {
	n, _ := manage(t, tenant.Options{IdleClose: -1, MaxOpen: 1})
	type holding struct{ Bytes, Rows int64 }
	holds := func(name string) (h holding) {
		t.Helper()
		require.Equal(t, 200, admin(t, n, "GET", "/_admin/tenants/"+name+"/usage", "", &h))
		return h
	}
	isOpen := func(name string) bool {
		for _, x := range n.Tenants().Opened() {
			if x.Name == name {
				return true
			}
		}
		return false
	}
	require.Equal(t, 201, send(n, "POST", "/t/acme/notes", `[{"who":"a"},{"who":"b"}]`).Code)
	require.Equal(t, 200, send(n, "GET", "/t/beta/notes", "").Code)
	require.False(t, isOpen("acme"))
	require.EqualValues(t, 2, holds("acme").Rows)
	require.Positive(t, holds("acme").Bytes)
	require.False(t, isOpen("acme"), "it is not opened to be asked")

	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/_admin/tenants/acme/file", nil)
	r.Header.Set("Authorization", "Bearer a")
	n.ServeHTTP(w, r)
	require.Equal(t, 201, admin(t, n, "PUT", "/_admin/tenants/copy/file", w.Body.String(), nil))
	require.Equal(t, holds("acme"), holds("copy"))

	m := n.Tenants()
	require.NoError(t, m.Delete(t.Context(), "acme"))
	usageOf(t, n, "acme")
	require.NoError(t, errors.Join(m.Undelete(t.Context(), "acme"), m.Rename(t.Context(), "acme", "moved")))
	require.Equal(t, holds("copy"), holds("moved"))
}

// What embedders ask for is what the routes answer.
func TestLimitsOfAProgram(t *testing.T) {
	n, _ := manage(t, tenant.Options{})
	ctx := t.Context()
	limits, err := n.Limits(ctx, "acme")
	require.NoError(t, err)
	require.Zero(t, limits)
	want := quota.Limits{Rows: 1, Requests: 8}
	require.NoError(t, n.SetLimits(ctx, "acme", want))
	limits, err = n.Limits(ctx, "acme")
	require.NoError(t, err)
	require.Equal(t, want, limits)
	require.ErrorContains(t, n.SetLimits(ctx, "acme", quota.Limits{Rows: -1}), "rows")
	require.Equal(t, 201, send(n, "POST", "/t/acme/notes", `{"who":"a"}`).Code)
	require.Equal(t, 413, send(n, "POST", "/t/acme/notes", `{"who":"b"}`).Code)
	use, err := n.Usage(ctx, "acme")
	require.NoError(t, err)
	require.EqualValues(t, 1, use.Rows)
	require.Positive(t, use.Disk)
	require.Equal(t, want, use.Quota)
	var told node.Usage
	require.Equal(t, 200, admin(t, n, "GET", "/_admin/tenants/acme/usage", "", &told))
	require.Equal(t, use, told)
	require.NoError(t, n.SetLimits(ctx, "acme", quota.Limits{}))
	require.Equal(t, 201, send(n, "POST", "/t/acme/notes", `{"who":"b"}`).Code)
	_, err = n.Limits(ctx, "nope")
	require.ErrorIs(t, err, tenant.ErrNotFound)
	require.ErrorIs(t, n.SetLimits(ctx, "nope", want), tenant.ErrNotFound)
	_, err = n.Usage(ctx, "nope")
	require.ErrorIs(t, err, tenant.ErrNotFound)
	for _, name := range []string{"", "ACME"} {
		require.ErrorIs(t, n.SetLimits(ctx, name, want), tenant.ErrName)
	}
}

// The feed of changes and subscriptions are metered as they are answered.
func TestStreamsAreMetered(t *testing.T) {
	n, err := node.Open(t.TempDir(), node.Options{AdminToken: secretA, Tenants: tenant.Options{DB: fenec.Options{FeedBytes: 1 << 20, Sync: fenec.SyncAlways}}})
	require.NoError(t, err)
	defer func() { require.NoError(t, n.Close()) }()
	require.NoError(t, n.Tenants().Create(t.Context(), "acme"))
	require.Equal(t, 200, send(n, "POST", "/t/acme/query", `{"query":"create collection notes (who text)"}`).Code)
	require.Equal(t, 201, send(n, "POST", "/t/acme/notes", `[{"who":"a"},{"who":"b"}]`).Code)
	before := usageOf(t, n, "acme")
	w := send(n, "GET", "/t/acme/_changes?since=0", "")
	require.Equal(t, 200, w.Code)
	after := usageOf(t, n, "acme")
	require.Equal(t, before.Requests+1, after.Requests)
	require.EqualValues(t, w.Body.Len(), after.BytesRead-before.BytesRead)
	require.Greater(t, after.RowsRead, before.RowsRead)

	srv := httptest.NewServer(n)
	defer srv.Close()
	resp, err := http.Get(srv.URL + "/t/acme/notes/changes")
	require.NoError(t, err)
	defer resp.Body.Close()
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "event: seed\n", line)
	before = after
	for after = usageOf(t, n, "acme"); after.RowsRead == before.RowsRead; { // it is counted once it is sent
		after = usageOf(t, n, "acme")
	}
	require.Equal(t, before.Requests+1, after.Requests)
	require.Equal(t, before.RowsRead+2, after.RowsRead)
	require.Greater(t, after.BytesRead, before.BytesRead)
}
