package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

func TestError(t *testing.T) {
	of := func(err error) error { return fmt.Errorf("tenant %q: %w", "acme", err) }
	for _, c := range []struct {
		err    error
		status int
		retry  string
		body   string // what it contains
	}{
		{of(tenant.ErrNotFound), 404, "", `no such tenant","code":"unknown-tenant"}`},
		{of(tenant.ErrFrozen), 503, "1", `being moved","retry_after":1,"code":"tenant-frozen"}`},
		{of(tenant.ErrDegraded), 503, "1", `{"error":"tenant is degraded; the node's log says why","retry_after":1,"code":"tenant-degraded"}`},
		{of(tenant.ErrProvisioning), 503, "1", `"code":"tenant-provisioning"}`},
		{of(tenant.ErrBusy), 503, "1", `busy","retry_after":1}`},
		{of(tenant.ErrEnded), 503, "1", `"retry_after":1}`},
		{tenant.ErrReleased, 503, "1", `"retry_after":1}`},
		{tenant.ErrClosed, 503, "1", `"retry_after":1}`},
		{of(tenant.ErrExists), 409, "", `exists already"}`},
		{of(tenant.ErrTooLarge), 413, "", `too large"}`},
		{tenant.CheckName("A"), 400, "", `"A\""}`},
		{fenec.ErrImage, 400, "", `"error"`},
		{&quota.Refusal{Key: quota.KeyRows, Limit: 3}, 413, "", `"quota":"rows","limit":3}`},
		{of(&quota.Refusal{Key: quota.KeyRowsPerSecond, Limit: 3, Wait: 7}), 429, "7", `"quota":"rows_per_second","limit":3,"retry_after":7}`},
		{fenec.ErrNotFound, 404, "", `"error"`},
		{fenec.ErrDuplicate, 409, "", `"error"`},
		{context.DeadlineExceeded, 504, "", `"error"`},
		{errors.New("disk /var/secret is gone"), 500, "", `{"error":"something went wrong; the server's log says what"}`},
	} {
		var told bytes.Buffer
		srv := &http.Server{ErrorLog: log.New(&told, "", 0)}
		r := httptest.NewRequest("GET", "/notes", nil)
		r = r.WithContext(context.WithValue(r.Context(), http.ServerContextKey, srv))
		r.Header.Set("X-Request-Id", "r1")
		w := httptest.NewRecorder()
		node.Error(w, r, c.err)
		require.Equal(t, c.status, w.Code, "%v", c.err)
		require.Contains(t, w.Body.String(), c.body)
		require.Equal(t, c.retry, w.Header().Get("Retry-After"), "%v", c.err)
		require.Equal(t, "r1", w.Header().Get("X-Request-Id"))
		require.Equal(t, "application/json; charset=utf-8", w.Header().Get("Content-Type"))
		require.Equal(t, c.status == 500 || errors.Is(c.err, tenant.ErrDegraded), told.Len() > 0, "%v: what is ours is for the log: %s", c.err, told.String())
	}
}

// A handler that writes to a frozen tenant answers as a node does.
func TestErrorOfAHandler(t *testing.T) {
	n, _ := manage(t, tenant.Options{})
	h := n.Middleware(nil)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, _ := tenant.FromContext(r.Context())
		if _, err := h.Exec(r.Context(), `put notes {who: "x"}`); err != nil {
			node.Error(w, r, err)
		}
	}))
	require.Equal(t, 200, ask(h, "localhost", "/t/acme/").Code)
	_, err := n.Tenants().Freeze(t.Context(), "acme", 0)
	require.NoError(t, err)
	w := ask(h, "localhost", "/t/acme/")
	require.Equal(t, 503, w.Code)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.Contains(t, w.Body.String(), `"code":"tenant-frozen"`)
}
