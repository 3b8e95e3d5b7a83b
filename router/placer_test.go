package router_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/fenec-go/fenecdb/router"
	"github.com/stretchr/testify/require"
)

// placerFunc is a function as a Placer.
type placerFunc func(ctx context.Context, tenant string, among []router.Candidate) (string, error)

func (f placerFunc) Place(ctx context.Context, tenant string, among []router.Candidate) (string, error) {
	return f(ctx, tenant, among)
}

// create creates a tenant and returns the status, and the body or the node it is on.
func (g *rig) create(tenant, body string) (int, string) {
	g.t.Helper()
	status, text := g.call("PUT", "/_shard/tenants/"+tenant, body)
	if where, ok := g.rt.Directory().Tenant(tenant); ok && status == 201 {
		return status, where.Node
	}
	return status, text
}

func TestCapacity(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{UpstreamTimeout: time.Second})
	n1, n2 := newNode(t), newNode(t)
	g.place("n1", n1.addr())
	g.place("n2", n2.addr())
	g.place("down", deadAddr(t))
	n1.disk, n2.disk = 10, 20
	attrs := func(node string, a router.Attrs) { require.NoError(t, g.rt.Directory().SetAttrs(node, a)) }
	status, where := 0, ""
	goes := func(tenant, node, why string) {
		t.Helper()
		status, where = g.create(tenant, "")
		require.Equal(t, 201, status, where)
		require.Equal(t, node, where, why)
	}
	goes("a", "n1", "the emptier one")
	attrs("n1", router.Attrs{Role: router.RoleDedicated})
	goes("b", "n2", "the other is dedicated")
	attrs("n1", router.Attrs{MaxTenants: 1})
	goes("c", "n2", "the other has as many as it may have")
	attrs("n1", router.Attrs{MaxTenants: 2})
	goes("d", "n1", "and now it has room")
	attrs("n1", router.Attrs{MaxBytes: 10})
	goes("e", "n2", "the other is full")
	attrs("n1", router.Attrs{MaxBytes: 11})
	goes("f", "n1", "and now it is not")
	attrs("n1", router.Attrs{Draining: true})
	goes("g", "n2", "the other is drained")

	attrs("n1", router.Attrs{MaxTenants: 1})
	attrs("n2", router.Attrs{MaxBytes: 1})
	status, body := g.create("h", "")
	require.Equal(t, 409, status)
	require.Contains(t, body, `"code":"no-capacity"`)
	for i, a := range []router.Attrs{{MaxTenants: 1}, {MaxBytes: 1}, {Role: router.RoleDedicated}} {
		attrs("n1", a)
		status, where = g.create(fmt.Sprint("named", i), `{"node":"n1"}`)
		require.Equal(t, 201, status, where)
		require.Equal(t, "n1", where, "whoever names a node gets it")
	}
	attrs("n1", router.Attrs{Draining: true})
	status, body = g.create("h", `{"node":"n1"}`)
	require.Equal(t, 409, status)
	require.Contains(t, body, "drained")
}

// TestCapacityIsNotPassedTogether has many tenants created at once where few have room.
func TestCapacityIsNotPassedTogether(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	n1, n2 := newNode(t), newNode(t)
	g.place("n1", n1.addr())
	g.place("n2", n2.addr())
	require.NoError(t, g.rt.Directory().SetAttrs("n1", router.Attrs{MaxTenants: 3}))
	require.NoError(t, g.rt.Directory().SetAttrs("n2", router.Attrs{MaxTenants: 2}))
	results := make(chan int)
	for i := range 12 {
		go func() {
			status, _ := g.call("PUT", fmt.Sprint("/_shard/tenants/t", i), "")
			results <- status
		}()
	}
	count := map[int]int{}
	for range 12 {
		count[<-results]++
	}
	require.Equal(t, map[int]int{201: 5, 409: 7}, count)
	require.Equal(t, 3, g.rt.Directory().Placed("n1"))
	require.Equal(t, 2, g.rt.Directory().Placed("n2"))
}

func TestPlacer(t *testing.T) {
	type question struct {
		tenant string
		among  []router.Candidate
	}
	var asked question
	says := func() (string, error) { return "n2", nil }
	g := startRouter(t, ownFace, router.Options{Placer: placerFunc(func(_ context.Context, tenant string, among []router.Candidate) (string, error) {
		asked = question{tenant, among}
		return says()
	})})
	n1, n2, n3 := newNode(t), newNode(t), newNode(t)
	g.place("n2", n2.addr(), "other")
	g.place("n1", n1.addr())
	g.place("n3", n3.addr())
	n1.disk, n2.disk = 1, 2
	labels := router.Attrs{Role: router.RoleShared, Labels: map[string]string{"zone": "a"}}
	require.NoError(t, g.rt.Directory().SetAttrs("n2", labels))
	require.NoError(t, g.rt.Directory().SetAttrs("n3", router.Attrs{Draining: true}))

	status, where := g.create("acme", "")
	require.Equal(t, 201, status, where)
	require.Equal(t, "n2", where)
	require.Equal(t, question{"acme", []router.Candidate{
		{Node: "n1", Attrs: router.Attrs{Role: router.RoleShared}, Disk: 1},
		{Node: "n2", Attrs: labels, Disk: 2, Tenants: 1},
	}}, asked)

	asked = question{}
	status, where = g.create("beta", `{"node":"n1"}`)
	require.Equal(t, 201, status, where)
	require.Zero(t, asked, "a tenant with a node is not its business")

	for _, c := range []struct {
		says   func() (string, error)
		status int
		body   string
	}{
		{func() (string, error) { return "", router.ErrNoCapacity }, 409, `"code":"no-capacity"`},
		{func() (string, error) { return "", fmt.Errorf("zone a: %w", router.ErrNoCapacity) }, 409, "zone a"},
		{func() (string, error) { return "n3", nil }, 500, `n3`},
		{func() (string, error) { return "", errors.New("out of order") }, 500, "out of order"},
	} {
		says = c.says
		status, body := g.create("gamma", "")
		require.Equal(t, c.status, status, body)
		require.Contains(t, body, c.body)
	}
	require.Len(t, g.rt.Directory().Tenants(), 3)
}

func TestFewestBytes(t *testing.T) {
	for _, c := range []struct {
		disks []int64
		want  string
	}{{[]int64{5}, "n0"}, {[]int64{5, 5}, "n0"}, {[]int64{5, 4, 4}, "n1"}, {[]int64{0, 4}, "n0"}} {
		var among []router.Candidate
		for i, disk := range c.disks {
			among = append(among, router.Candidate{Node: fmt.Sprint("n", i), Disk: disk})
		}
		node, err := router.FewestBytes{}.Place(context.Background(), "acme", among)
		require.NoError(t, err)
		require.Equal(t, c.want, node, c.disks)
	}
}
