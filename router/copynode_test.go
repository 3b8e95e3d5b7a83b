package router

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// copyCluster is a cluster of small nodes whose copies follow each other as those of real
// nodes do, at once and without a stream.
type copyCluster struct {
	t     testing.TB
	mu    sync.Mutex // guards everything of the nodes
	nodes map[string]*copyNode
	next  int // history
}

// copyNode is one node.
type copyNode struct {
	Node
	c        *copyCluster
	server   *httptest.Server
	tenants  map[string]*copyFile
	upstream string // the node that it follows as a whole, "" for none
	down     bool   // it breaks off every connection
	hung     chan struct{}
	// fault answers in the node's stead if it returns a status.
	fault func(method, path string) int
	asked []string
}

// copyFile is a tenant's file.
type copyFile struct {
	seq        uint64
	lineage    []copyHistory
	following  bool
	incomplete bool   // it has not caught up since it follows
	from       string // the address of a node that it follows of its own
	quota      string
	frozen     bool
	images     int // taken from whom it follows
	lagMs      int64
}

// copyHistory is a history and the sequence that it began after.
type copyHistory struct {
	ID   string `json:"id"`
	From uint64 `json:"from"`
}

func newCopyCluster(t testing.TB, names ...string) *copyCluster {
	c := &copyCluster{t: t, nodes: map[string]*copyNode{}}
	for _, name := range names {
		n := &copyNode{c: c, tenants: map[string]*copyFile{}}
		n.server = httptest.NewServer(n)
		n.Node = Node{Name: name, Addr: n.server.Listener.Addr().String(), Token: NewToken(clusterAdmin)}
		t.Cleanup(n.server.Close)
		c.nodes[name] = n
	}
	return c
}

// router starts a router over all nodes of the cluster.
func (c *copyCluster) router(opts Options) (rt *Router, addr string) {
	rt, addr = routerOver(c.t, opts)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		require.NoError(c.t, rt.directory.PutNode(n.Node))
	}
	return rt, addr
}

// change changes something of a node.
func (c *copyCluster) change(node string, f func(*copyNode)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c.nodes[node])
}

// file returns a tenant's file on a node as it is now, nil if there is none.
func (c *copyCluster) file(node, tenant string) *copyFile {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.nodes[node].tenants[tenant]
	if !ok {
		return nil
	}
	now := *f
	return &now
}

// write writes to a tenant on a node, and says whether the node takes it.
func (c *copyCluster) write(node, tenant string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[node]
	f, ok := n.tenants[tenant]
	if !ok || f.following || f.frozen {
		return false
	}
	f.seq++
	c.sync()
	return true
}

// sync brings all copies up to those that they follow.
func (c *copyCluster) sync() {
	for range c.nodes { // chains are as long as that at most
		for _, n := range c.nodes {
			for name, f := range n.tenants {
				n.take(name, f)
			}
		}
	}
}

// take brings a copy up to the one it follows.
func (n *copyNode) take(name string, f *copyFile) {
	from := n.c.at(f.upstreamOf(n))
	if !f.following || from == nil || from.down || n.down {
		return
	}
	of, ok := from.tenants[name]
	if !ok || of == f || len(of.lineage) == 0 {
		return
	}
	if !f.continuedBy(of) {
		f.images++
	}
	f.seq, f.lineage, f.incomplete = of.seq, slices.Clone(of.lineage), false
}

// upstreamOf returns the address that a file on the node follows.
func (f *copyFile) upstreamOf(n *copyNode) string {
	if f.from != "" || n.upstream == "" {
		return f.from
	}
	return n.c.nodes[n.upstream].Addr
}

// continuedBy reports whether a file can go on with what another has written since.
func (f *copyFile) continuedBy(of *copyFile) bool {
	if len(f.lineage) == 0 {
		return f.seq == 0
	}
	last := f.lineage[len(f.lineage)-1]
	i := slices.Index(of.lineage, last)
	switch {
	case i < 0:
		return false
	case i+1 < len(of.lineage):
		return f.seq <= of.lineage[i+1].From
	}
	return f.seq <= of.seq
}

func (c *copyCluster) at(addr string) *copyNode {
	for _, n := range c.nodes {
		if addr != "" && n.Addr == addr {
			return n
		}
	}
	return nil
}

func (n *copyNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	if n.hung != nil {
		hung := n.hung
		n.c.mu.Unlock()
		select {
		case <-hung:
		case <-r.Context().Done():
		}
		n.c.mu.Lock()
	}
	if n.down {
		panic(http.ErrAbortHandler)
	}
	n.asked = append(n.asked, r.Method+" "+r.URL.Path)
	if n.fault != nil {
		if status := n.fault(r.Method, r.URL.Path); status != 0 {
			n.say(w, status, map[string]string{"error": "as told"})
			return
		}
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/_admin/")
	name, part, _ := strings.Cut(strings.TrimPrefix(rest, "tenants/"), "/")
	switch {
	case !ok:
		n.say(w, 200, healthy)
	case rest == "stats":
		n.say(w, 200, map[string]any{"disk": len(n.tenants), "boot": n.Name})
	case rest == "sizes":
		n.say(w, 200, map[string]int64{})
	case rest == "tenants":
		names := []string{}
		for name := range n.tenants {
			names = append(names, name)
		}
		n.say(w, 200, names)
	case rest == "following":
		list := []followState{}
		for name, f := range n.tenants {
			if f.following {
				list = append(list, followState{name, "http://" + f.upstreamOf(n), f.lagMs})
			}
		}
		n.say(w, 200, list)
	case strings.HasPrefix(rest, "tenants/"):
		if query := r.URL.RawQuery; query != "" && query != "purge=1" {
			part += "?" + query
		}
		status, answer := n.serve(r.Method, name, part, string(body))
		n.say(w, status, answer)
		n.c.sync()
	default:
		n.say(w, 404, map[string]string{"error": "no such route"})
	}
}

func (n *copyNode) say(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if status == 204 {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	w.WriteHeader(status)
	w.Write(text)
}

type copyError map[string]string

// serve answers for a tenant, with the lock held.
func (n *copyNode) serve(method, name, part, body string) (int, any) {
	f, exists := n.tenants[name]
	switch route := method + " " + part; {
	case route == "PUT ", route == "PUT ?role=primary":
		if exists {
			return 409, copyError{"error": "exists"}
		}
		follows := n.upstream != "" && part == ""
		f = &copyFile{following: follows, incomplete: follows}
		if !f.following {
			f.lineage = []copyHistory{n.c.history(0)}
		}
		n.tenants[name] = f
		return 201, copyError{"created": name}
	case route == "PUT file":
		if exists {
			return 409, copyError{"error": "exists"}
		}
		f = &copyFile{}
		var image struct {
			Seq     uint64
			Lineage []copyHistory
		}
		if json.Unmarshal([]byte(body), &image) != nil {
			return 400, copyError{"error": "it does not load"}
		}
		f.seq, f.lineage = image.Seq, image.Lineage
		n.tenants[name] = f
		return 201, copyError{"imported": name}
	case !exists:
		return 404, copyError{"error": "no such tenant"}
	case route == "GET ":
		return 200, n.stands(f)
	case route == "DELETE ":
		delete(n.tenants, name)
		return 204, nil
	case route == "GET file":
		return 200, map[string]any{"Seq": f.seq, "Lineage": f.lineage}
	case route == "POST freeze", route == "POST thaw":
		f.frozen = part == "freeze"
		return 200, n.stands(f)
	case route == "PUT quota":
		f.quota = body
		return 200, json.RawMessage(body)
	case route == "GET quota":
		if f.quota == "" {
			return 200, json.RawMessage("{}")
		}
		return 200, json.RawMessage(f.quota)
	case route == "POST follow":
		return n.follow(name, f, body)
	case route == "POST promote", route == "POST promote?force=1":
		return n.promote(name, f, part != "promote")
	}
	return 404, copyError{"error": "no such route"}
}

func (n *copyNode) stands(f *copyFile) any {
	role := rolePrimary
	if f.following {
		role = "replica"
	}
	stands := map[string]any{"seq": f.seq, "last": f.seq, "boot": n.Name, "frozen": f.frozen, "role": role, "incomplete": f.incomplete}
	if f.following {
		stands["follows"], stands["lag_ms"] = "http://"+f.upstreamOf(n), f.lagMs
	}
	return stands
}

func (n *copyNode) follow(name string, f *copyFile, body string) (int, any) {
	var of struct {
		From string
		Thaw bool
	}
	json.Unmarshal([]byte(body), &of)
	from, _ := strings.CutPrefix(of.From, "http://")
	switch {
	case f.frozen && !of.Thaw:
		return 409, copyError{"error": "it is frozen"}
	case from == "" && n.upstream == "":
		return 409, copyError{"error": "the node follows no other"}
	}
	f.following, f.from, f.frozen, f.incomplete = true, from, false, true
	return 200, copyError{"following": name}
}

func (n *copyNode) promote(name string, f *copyFile, force bool) (int, any) {
	if !f.following {
		return 409, copyError{"error": "it is not a replica"}
	}
	if f.incomplete && !force {
		return 409, copyError{"error": "it has not caught up"}
	}
	f.following, f.from, f.incomplete = false, "", false
	f.lineage = append(f.lineage, n.c.history(f.seq))
	f.seq += 1000 // numbers that the old primary may have given out
	return 200, copyError{"promoted": name}
}

func (c *copyCluster) history(from uint64) copyHistory {
	c.next++
	return copyHistory{fmt.Sprintf("%016x", c.next), from}
}

// create makes a tenant through the router and writes to it.
func (c *copyCluster) create(addr, tenant, node string) string {
	c.t.Helper()
	status, body := shardCall(c.t, addr, "PUT", "tenants/"+tenant, fmt.Sprintf(`{"node":%q}`, node))
	require.Equal(c.t, 201, status, body)
	require.True(c.t, c.write(node, tenant))
	return body
}

// put records a node again, with further members.
func (c *copyCluster) put(addr, node, members string) (int, string) {
	c.t.Helper()
	return shardCall(c.t, addr, "PUT", "nodes/"+node, fmt.Sprintf(`{"addr":%q,"token":%q%s}`, c.nodes[node].Addr, clusterAdmin, members))
}

// pair makes a node the standby of another that has tenants already.
func (c *copyCluster) pair(addr, node, standby string) string {
	c.t.Helper()
	c.change(standby, func(n *copyNode) { n.upstream = node })
	status, body := c.put(addr, node, `,"standby":"`+standby+`"`)
	require.Equal(c.t, 201, status, body)
	return body
}

// follows checks that a node's copy follows another node's, and has all of it.
func (c *copyCluster) follows(tenant, node, of string) {
	c.t.Helper()
	f, p := c.file(node, tenant), c.file(of, tenant)
	require.NotNil(c.t, f, "node %s has no copy", node)
	require.NotNil(c.t, p)
	require.True(c.t, f.following)
	require.Equal(c.t, p.seq, f.seq)
	require.Equal(c.t, p.lineage, f.lineage)
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Equal(c.t, c.nodes[of].Addr, f.upstreamOf(c.nodes[node]))
}

// idle waits until nothing is left for the reconciler.
func idle(t testing.TB, rt *Router) {
	t.Helper()
	require.Eventually(t, func() bool {
		rt.reconciler.mu.Lock()
		defer rt.reconciler.mu.Unlock()
		return !rt.reconciler.busy && len(rt.reconciler.tasks()) == 0
	}, 20*time.Second, time.Millisecond)
}

// spareStates returns how a tenant's spares are recorded.
func spareStates(rt *Router, tenant string) map[string]spareState {
	states := map[string]spareState{}
	if p, ok := rt.directory.find([]byte(tenant)); ok {
		for _, s := range p.spares {
			states[s.on.name()] = s.state
		}
	}
	return states
}
