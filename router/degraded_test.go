package router

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/problem"
	"github.com/fenec-go/fenecdb/tenant"
)

// ward is a router with one tenant, on a node that cannot open it while it is ill.
type ward struct {
	t     *testing.T
	rt    *Router
	store *faultStore
	ill   atomic.Bool
	asked atomic.Int32
}

func newWard(t *testing.T) *ward {
	w := &ward{t: t}
	node := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		w.asked.Add(1)
		if w.ill.Load() {
			rw.WriteHeader(503)
			io.WriteString(rw, `{"error":"it does not open","code":"`+problem.TenantDegraded.Code+`","retry_after":1}`)
			return
		}
		io.WriteString(rw, `{}`)
	}))
	t.Cleanup(node.Close)
	var d *Directory
	d, w.store = faultDirectory(t)
	n := Node{Name: "n1", Addr: node.Listener.Addr().String(), Token: NewToken("x")}
	require.NoError(t, d.PutNode(n))
	require.NoError(t, d.Place("acme", n))
	w.start(d)
	t.Cleanup(func() { w.rt.Shutdown(context.Background()) })
	return w
}

func (w *ward) start(d *Directory) {
	rt, err := New(Options{Directory: d, ErrorLog: log.New(io.Discard, "", 0)})
	require.NoError(w.t, err)
	rt.degradations.every = time.Hour
	w.rt = rt
}

// restart goes on with another router.
func (w *ward) restart() {
	require.NoError(w.t, w.rt.Shutdown(context.Background()))
	w.start(w.rt.directory)
}

func (w *ward) ask() (status int, body string) {
	rec := httptest.NewRecorder()
	w.rt.ServeHTTP(rec, httptest.NewRequest("GET", "/t/acme/notes", nil))
	return rec.Code, rec.Body.String()
}

func (w *ward) becomes(status tenant.Status) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		got, err := w.rt.directory.Status(context.Background(), "acme")
		return err == nil && got == status
	}, 5*time.Second, time.Millisecond)
}

// soon makes the next try due.
func (w *ward) soon() {
	g := &w.rt.degradations
	g.writing.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.tries["acme"]
	t.at = 0
	g.tries["acme"] = t
}

func TestNodesMarkTenantsDegraded(t *testing.T) {
	w := newWard(t)
	status, _ := w.ask()
	require.Equal(t, 200, status)
	w.ill.Store(true)
	status, body := w.ask()
	require.Equal(t, 503, status)
	require.Contains(t, body, "it does not open", "the first answer is the node's")
	w.becomes(tenant.Degraded)

	asked := w.asked.Load()
	for range 3 {
		status, body = w.ask()
		require.Equal(t, 503, status)
		require.Contains(t, body, problem.TenantDegraded.Code)
	}
	require.Equal(t, asked, w.asked.Load(), "the node is left alone")

	w.soon()
	status, _ = w.ask()
	require.Equal(t, 503, status)
	require.Equal(t, asked+1, w.asked.Load(), "one request goes through")
	w.ask()
	require.Equal(t, asked+1, w.asked.Load(), "and no other")

	w.ill.Store(false)
	w.soon()
	status, _ = w.ask()
	require.Equal(t, 200, status)
	w.becomes(tenant.Active)
	w.rt.degradations.writing.Wait()
	require.Empty(t, w.rt.degradations.tries, "it is forgotten")
}

// A router that is started anew tries what the one before it has marked.
func TestMarksOutliveTheRouter(t *testing.T) {
	w := newWard(t)
	w.ill.Store(true)
	w.ask()
	w.becomes(tenant.Degraded)
	asked := w.asked.Load()
	w.restart()
	w.ask()
	require.Equal(t, asked+1, w.asked.Load(), "at once")
	w.ask()
	require.Equal(t, asked+1, w.asked.Load(), "and then as before")
	w.restart()
	w.ill.Store(false)
	status, _ := w.ask()
	require.Equal(t, 200, status)
	w.becomes(tenant.Active)
}

// What somebody has decided stays: the node is not even asked.
func TestDecisionsAreNotUndone(t *testing.T) {
	w := newWard(t)
	require.NoError(t, w.rt.directory.SetStatus("acme", tenant.Degraded))
	for range 3 {
		status, _ := w.ask()
		require.Equal(t, 503, status)
	}
	require.Zero(t, w.asked.Load())
	w.becomes(tenant.Degraded)
}

// Nor is one that comes after the router's own.
func TestDecisionsComeFirst(t *testing.T) {
	w := newWard(t)
	w.ill.Store(true)
	w.ask()
	w.becomes(tenant.Degraded)
	asked := w.asked.Load()
	r := httptest.NewRequest("PUT", "/_shard/tenants/acme/status", strings.NewReader(`{"status":"degraded"}`))
	rec := httptest.NewRecorder()
	w.rt.ServeHTTP(rec, r)
	require.Equal(t, 200, rec.Code, rec.Body.String())
	w.rt.degradations.every = 0
	for range 3 {
		status, _ := w.ask()
		require.Equal(t, 503, status)
	}
	require.Equal(t, asked, w.asked.Load())
}

func TestMarkThatCannotBeRecorded(t *testing.T) {
	w := newWard(t)
	w.ill.Store(true)
	w.store.broken = errors.New("disk full")
	w.ask()
	w.rt.degradations.writing.Wait()
	before := w.asked.Load()
	w.store.broken = nil
	w.ask()
	require.Equal(t, before+1, w.asked.Load(), "it is as if nothing had been noticed")
	w.becomes(tenant.Degraded)

	w.ill.Store(false)
	w.store.broken = errors.New("disk full")
	w.soon()
	status, _ := w.ask()
	require.Equal(t, 200, status)
	w.rt.degradations.writing.Wait()
	w.store.broken = nil
	w.soon()
	w.ask()
	w.becomes(tenant.Active)
}
