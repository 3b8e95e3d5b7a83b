package router

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/metrics"
	"github.com/fenec-go/fenecdb/internal/problem"
	"github.com/fenec-go/fenecdb/replication"
)

// What a node's answer to a grant is taken for.
func TestGrantLease(t *testing.T) {
	status, body := 0, ""
	var got *http.Request
	var sent []byte
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		sent, _ = io.ReadAll(r.Body)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	defer node.Close()
	a := newAdmin(time.Second)
	defer a.close()
	n := Node{Name: "n1", Addr: node.Listener.Addr().String(), Token: NewToken("secret")}
	epoch, left := "e1", int64(9)
	held := replication.State{Epoch: &epoch, Primaries: 2, LeftMS: &left, Nonce: "x1"}
	for _, c := range []struct {
		status int
		body   string
		state  replication.State
		err    error // nil for any other than those of grants
	}{
		{200, `{"epoch":"e1","primaries":2,"left_ms":9,"nonce":"x1"}`, held, nil},
		{200, `{"epoch":null,"primaries":0,"left_ms":null}`, replication.State{}, nil},
		{412, `{"error":"no","epoch":"e1","primaries":2,"left_ms":9,"nonce":"x1"}`, held, replication.ErrMismatch},
		{412, `{"error":"no"}`, replication.State{}, replication.ErrMismatch},
		{412, ``, replication.State{}, replication.ErrMismatch},
		{404, `{"error":"not found"}`, replication.State{}, replication.ErrUnfenced},
		{409, `{"error":"none here"}`, replication.State{}, replication.ErrUnfenced},
		{409, `none here`, replication.State{}, replication.ErrUnfenced},
		{409, `{"error":"late","code":"` + problem.LeaseSuperseded.Code + `"}`, replication.State{}, replication.ErrSuperseded},
	} {
		status, body = c.status, c.body
		st, err := a.grantLease(t.Context(), n, replication.Grant{MS: 600, Epoch: "e1", Nonce: "n0", Primaries: []string{}})
		require.Equal(t, c.err, err, "%+v", c)
		require.Equal(t, c.state, st, "%+v", c)
		require.Equal(t, "POST /_admin/lease", got.Method+" "+got.URL.Path)
		require.Equal(t, "Bearer secret", got.Header.Get("Authorization"))
		require.JSONEq(t, `{"ms":600,"epoch":"e1","nonce":"n0","primaries":[]}`, string(sent))
	}
	for _, c := range []struct {
		status int
		body   string
	}{{200, `no`}, {200, ``}, {201, `{}`}, {204, ``}, {307, ``}, {400, `{"error":"bad"}`}, {401, `{}`}, {500, `{}`}, {503, `{}`}} {
		status, body = c.status, c.body
		_, err := a.grantLease(t.Context(), n, replication.Grant{MS: 600, Epoch: "e1"})
		require.ErrorAs(t, err, new(*NodeError), "%+v", c)
		for _, grants := range []error{replication.ErrMismatch, replication.ErrUnfenced, replication.ErrSuperseded} {
			require.NotErrorIs(t, err, grants, "%+v", c)
		}
	}
}

// leaseNode is a node that takes leases, over HTTP.
type leaseNode struct {
	*httptest.Server
	mu     sync.Mutex // guards the fields below
	fence  *replication.Fence
	refuse bool // each schema
	lists  [][]string
	schema error // what the fence said when a schema came
}

func newLeaseNode(t *testing.T) *leaseNode {
	n := &leaseNode{fence: replication.NewFence(7, replication.Authority{})}
	n.Server = httptest.NewServer(http.HandlerFunc(n.serve))
	t.Cleanup(n.Close)
	return n
}

func realInstant() replication.Instant { return replication.Instant{Boot: ticks(), Wall: ticks()} }

func (n *leaseNode) serve(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	switch r.Method + " " + r.URL.Path {
	case "POST /_admin/lease":
		n.granted(w, body)
	case "PUT /_admin/tenants/acme":
		w.WriteHeader(201)
	case "GET /_admin/tenants/acme":
		w.WriteHeader(404)
	case "DELETE /_admin/tenants/acme":
		w.WriteHeader(204)
	case "POST /_admin/tenants/acme/schema":
		n.schema = n.fence.Admits(realInstant(), "acme")
		if n.refuse {
			w.WriteHeader(409)
		}
		io.WriteString(w, `{}`)
	case "GET /_admin/stats":
		io.WriteString(w, `{"disk":1}`)
	}
}

func (n *leaseNode) granted(w http.ResponseWriter, body []byte) {
	g, err := replication.ParseGrant(body)
	if err != nil {
		w.WriteHeader(400)
		return
	}
	st, err := n.fence.Grant(realInstant(), g)
	if err != nil {
		w.WriteHeader(412)
	} else if g.Primaries != nil {
		n.lists = append(n.lists, g.Primaries)
	}
	json.NewEncoder(w).Encode(st)
}

func (n *leaseNode) admits() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.fence.Admits(realInstant(), "acme")
}

func newLeasingRouter(t *testing.T) (*Router, *leaseNode) {
	rt, err := New(Options{AutoFailover: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() { rt.Shutdown(context.Background()) })
	node := newLeaseNode(t)
	n := Node{Name: "n1", Addr: node.Listener.Addr().String(), Token: NewToken("x")}
	require.NoError(t, rt.Directory().PutNode(n))
	return rt, node
}

func createAcme(rt *Router) (status int) {
	w := httptest.NewRecorder()
	rt.ServeHTTP(w, httptest.NewRequest("PUT", "/_shard/tenants/acme", strings.NewReader(`{"node":"n1","schema":{}}`)))
	return w.Code
}

// L10: whoever has the answer to a create may write, and the schema was the first to.
func TestCreatedTenantIsGranted(t *testing.T) {
	rt, node := newLeasingRouter(t)
	require.Equal(t, 201, createAcme(rt))
	require.NoError(t, node.admits())
	require.NoError(t, node.schema)
}

// L27: a create that fails leaves nothing in the list.
func TestFailedCreateIsNotGranted(t *testing.T) {
	rt, node := newLeasingRouter(t)
	node.refuse = true
	require.Equal(t, 409, createAcme(rt))
	require.NoError(t, node.schema)
	require.Eventually(t, func() bool { return node.admits() != nil }, 5*time.Second, time.Millisecond)
	require.ErrorIs(t, node.admits(), replication.ErrElsewhere)
}

func TestLeaseMetrics(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.pass(testTerm / 6)
		page := func() string {
			var p metrics.Page
			c.leasing.writeMetrics(&p)
			return string(p.Bytes())
		}
		require.Contains(t, page(), `fenec_router_lease_age_seconds{node="n1"} 0.1`)
		require.Contains(t, page(), `fenec_router_node_failed_over{node="n1"} 0`)
		require.Contains(t, page(), `fenec_router_auto_failovers_total{outcome="done"} 0`)
		c.with("n1", func(n *fenced) { n.cut = true })
		c.until(c.writes("a", "n2"))
		require.Contains(t, page(), `fenec_router_node_failed_over{node="n1"} 1`)
		require.Contains(t, page(), `fenec_router_node_failed_over{node="n2"} 0`)
		require.Contains(t, page(), `fenec_router_auto_failovers_total{outcome="done"} 1`)
		require.Contains(t, page(), `fenec_router_auto_failovers_total{outcome="failed"} 0`)
	})
	var p metrics.Page
	(*leasing)(nil).writeMetrics(&p)
	require.Empty(t, p.Bytes())
}

func TestAutoFailoverIsChecked(t *testing.T) {
	for _, wrong := range []time.Duration{-time.Second, time.Microsecond, time.Second + 1} {
		_, err := New(Options{AutoFailover: wrong})
		require.Error(t, err, wrong)
	}
}

// What is failed over are the tenants that the node has given up, not what was placed there
// since.
func TestFailOverOfLostTenants(t *testing.T) {
	rt, _ := newLeasingRouter(t)
	require.NoError(t, rt.failOverLost(t.Context(), "n1", nil), "there is nothing to fail over")
	n1, _ := rt.Directory().Node("n1")
	require.NoError(t, rt.Directory().Place("acme", n1))
	require.ErrorIs(t, rt.failOverLost(t.Context(), "n1", []string{"acme"}), ErrNoStandby)
	require.NoError(t, rt.Directory().PutNode(Node{Name: "n2", Addr: "127.0.0.1:1", Token: NewToken("x")}))
	require.NoError(t, rt.directory.setPair("n1", "n2"))
	require.NoError(t, rt.failOverLost(t.Context(), "n1", nil))
	require.ErrorContains(t, rt.failOverLost(t.Context(), "n1", []string{"acme"}), `1 are left, such as "acme"`)
	at, _ := rt.Directory().Tenant("acme")
	require.Equal(t, "n1", at.Node)
}
