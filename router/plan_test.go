package router

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// anywhere is a placer's opinion that every node is good for every tenant.
func anywhere(string, Candidate) bool { return true }

// nodeHolding returns a node that holds active tenants of the given sizes, which
// are called by the node and their place.
func nodeHolding(name string, attrs Attrs, sizes ...int64) nodeLoad {
	n := nodeLoad{name: name, attrs: attrs, placed: len(sizes)}
	for i, bytes := range sizes {
		n.tenants = append(n.tenants, sizedTenant{fmt.Sprintf("%s-%d", name, i), bytes, true})
		n.bytes += bytes
		n.disk += bytes
	}
	return n
}

func TestPlan(t *testing.T) {
	shared, draining := Attrs{Role: RoleShared}, Attrs{Role: RoleShared, Draining: true}
	dedicated := Attrs{Role: RoleDedicated}
	unserved := nodeHolding("a", draining, 5)
	unserved.tenants[0].active = false
	full := nodeHolding("b", Attrs{Role: RoleShared, MaxBytes: 100}, 10)
	full.disk = 95 // what is not its tenants' counts for its limit
	for _, c := range []struct {
		name  string
		nodes []nodeLoad
		want  []string
		stuck []string
	}{
		{"nothing", nil, nil, nil},
		{"one node", []nodeLoad{nodeHolding("a", shared, 100, 200)}, nil, nil},
		{"even", []nodeLoad{nodeHolding("a", shared, 100), nodeHolding("b", shared, 90)}, nil, nil},
		{"what is nearest to half of the gap", []nodeLoad{nodeHolding("a", shared, 10, 40, 60, 90), nodeHolding("b", shared)},
			[]string{"a-3 a>b 90 balance", "a-0 a>b 10 balance"}, nil},
		{"one that would only change places", []nodeLoad{nodeHolding("a", shared, 100), nodeHolding("b", shared)}, nil, nil},
		{"the emptiest first, of several the first", []nodeLoad{nodeHolding("a", shared, 30, 30, 30), nodeHolding("c", shared), nodeHolding("b", shared)},
			[]string{"a-2 a>b 30 balance", "a-0 a>c 30 balance"}, nil},
		{"the next where the fullest cannot", []nodeLoad{nodeHolding("a", shared, 1000), nodeHolding("b", shared, 200, 200), nodeHolding("c", shared)},
			[]string{"b-0 b>c 200 balance"}, nil},
		{"dedicated nodes are left alone", []nodeLoad{nodeHolding("a", dedicated, 50, 50), nodeHolding("b", shared), nodeHolding("c", dedicated)}, nil, nil},
		{"off a node that is drained", []nodeLoad{nodeHolding("a", draining, 10, 30), nodeHolding("b", shared), nodeHolding("c", shared, 15)},
			[]string{"a-1 a>b 30 draining", "a-0 a>c 10 draining"}, nil},
		{"a dedicated one that is drained", []nodeLoad{nodeHolding("a", Attrs{Role: RoleDedicated, Draining: true}, 10), nodeHolding("b", shared)},
			[]string{"a-0 a>b 10 draining"}, nil},
		{"what is not served goes, too", []nodeLoad{unserved, nodeHolding("b", shared)}, []string{"a-0 a>b 5 draining"}, nil},
		{"nowhere to go", []nodeLoad{nodeHolding("a", draining, 10), nodeHolding("b", draining), nodeHolding("c", dedicated)}, nil, []string{"a-0"}},
		{"no room for it", []nodeLoad{nodeHolding("a", draining, 10, 5), full}, []string{"a-1 a>b 5 draining"}, []string{"a-0"}},
		{"no room for another", []nodeLoad{nodeHolding("a", draining, 10, 20), nodeHolding("b", Attrs{Role: RoleShared, MaxTenants: 1})},
			[]string{"a-1 a>b 20 draining"}, []string{"a-0"}},
		{"too many tenants: the smallest", []nodeLoad{nodeHolding("a", Attrs{Role: RoleShared, MaxTenants: 1}, 30, 10, 20), nodeHolding("b", shared, 28)},
			[]string{"a-1 a>b 10 max_tenants", "a-2 a>b 20 max_tenants"}, nil},
		{"too many bytes: with which it is enough", []nodeLoad{nodeHolding("a", Attrs{Role: RoleShared, MaxBytes: 70}, 30, 10, 60), nodeHolding("b", shared, 60)},
			[]string{"a-0 a>b 30 max_bytes"}, nil},
		{"too many bytes: the largest first", []nodeLoad{nodeHolding("a", Attrs{Role: RoleShared, MaxBytes: 20}, 30, 10, 25), nodeHolding("b", shared)},
			[]string{"a-0 a>b 30 max_bytes", "a-2 a>b 25 max_bytes"}, nil},
		{"limits of a dedicated node are for others", []nodeLoad{nodeHolding("a", Attrs{Role: RoleDedicated, MaxTenants: 1, MaxBytes: 1}, 30, 10), nodeHolding("b", shared)}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := fmt.Sprint(c.nodes)
			p := newPlanner(c.nodes, anywhere, 12)
			p.plan()
			var got, stuck []string
			for _, m := range p.moves {
				got = append(got, fmt.Sprintf("%s %s>%s %d %s", m.Tenant, m.From, m.To, m.Bytes, m.Why))
			}
			for _, s := range p.stuck {
				stuck = append(stuck, s.Tenant)
			}
			require.Equal(t, c.want, got)
			require.Equal(t, c.stuck, stuck)
			require.Equal(t, before, fmt.Sprint(c.nodes), "what is given stays as it is")
		})
	}
}

func TestPlanOfOneNode(t *testing.T) {
	draining := Attrs{Draining: true}
	p := newPlanner([]nodeLoad{nodeHolding("a", draining, 1), nodeHolding("b", draining, 1), nodeHolding("c", Attrs{}, 500)}, anywhere, 0)
	p.emptyNode("a")
	require.Equal(t, []proposal{{Tenant: "a-0", From: "a", To: "c", Bytes: 1, Why: whyDraining}}, p.moves)
}

// TestPlanAsksThePlacer keeps each tenant among the nodes of its own colour.
func TestPlanAsksThePlacer(t *testing.T) {
	red, blue := Attrs{Labels: map[string]string{"of": "a"}}, Attrs{Labels: map[string]string{"of": "b"}}
	nodes := []nodeLoad{nodeHolding("a", red, 40, 40, 40), nodeHolding("b", blue, 4), nodeHolding("c", blue), nodeHolding("d", red)}
	p := newPlanner(nodes, func(tenant string, to Candidate) bool { return tenant[:1] == to.Attrs.Labels["of"] }, 12)
	p.plan()
	require.Equal(t, []proposal{{Tenant: "a-2", From: "a", To: "d", Bytes: 40, Why: whyBalance}}, p.moves)
}

func TestPlanIsBounded(t *testing.T) {
	sizes := make([]int64, 3*maxPlan)
	for i := range sizes {
		sizes[i] = 5
	}
	p := newPlanner([]nodeLoad{nodeHolding("a", Attrs{Draining: true}, sizes...), nodeHolding("b", Attrs{})}, anywhere, 0)
	p.plan()
	require.Len(t, p.moves, maxPlan)
	p = newPlanner([]nodeLoad{nodeHolding("a", Attrs{}, sizes...), nodeHolding("b", Attrs{})}, anywhere, 0)
	p.plan()
	require.Len(t, p.moves, maxPlan)
}

// TestAnyPlan makes up nodes and carries the plan for them out, move by move. Whatever
// they are, it moves no tenant twice, none to a node that must not take it, none off a
// node without a reason, and evening out never drives nodes apart.
func TestAnyPlan(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	balanced, forced := 0, 0
	for round := range 3000 {
		nodes := someNodes(rnd)
		p := newPlanner(nodes, anywhere, 10)
		p.plan()
		again := newPlanner(reverse(nodes), anywhere, 10)
		again.plan()
		require.Equal(t, p.moves, again.moves, "round %d: in another order", round)

		w := newWorld(nodes)
		for _, m := range p.moves {
			before := w.spread()
			w.carryOut(t, m)
			if m.Why == whyBalance {
				balanced++
				require.LessOrEqual(t, w.spread(), before, "round %d", round)
			} else {
				forced++
			}
		}
		for _, s := range p.stuck {
			require.Equal(t, s.From, w.on[s.Tenant], "what is stuck stays")
		}
	}
	require.Greater(t, balanced, 1000)
	require.Greater(t, forced, 1000)
}

func reverse(nodes []nodeLoad) []nodeLoad {
	nodes = slices.Clone(nodes)
	slices.Reverse(nodes)
	return nodes
}

func someNodes(rnd *rand.Rand) (nodes []nodeLoad) {
	for i := range 1 + rnd.IntN(6) {
		var sizes []int64
		for range rnd.IntN(12) {
			sizes = append(sizes, rnd.Int64N(1<<rnd.IntN(12)))
		}
		attrs := Attrs{Role: RoleShared, Draining: rnd.IntN(6) == 0}
		if rnd.IntN(6) == 0 {
			attrs.Role = RoleDedicated
		}
		if rnd.IntN(3) == 0 {
			attrs.MaxTenants = 1 + rnd.IntN(10)
		}
		if rnd.IntN(3) == 0 {
			attrs.MaxBytes = 1 + rnd.Int64N(4000)
		}
		n := nodeHolding(fmt.Sprint("n", i), attrs, sizes...)
		n.disk += rnd.Int64N(100)
		for i := range n.tenants {
			n.tenants[i].active = rnd.IntN(8) > 0
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// world is what nodes hold, worked out without the planner.
type world struct {
	nodes map[string]*nodeLoad
	on    map[string]string // the node of each tenant
	all   map[string]sizedTenant
	moved map[string]bool
}

func newWorld(nodes []nodeLoad) *world {
	w := &world{map[string]*nodeLoad{}, map[string]string{}, map[string]sizedTenant{}, map[string]bool{}}
	for _, n := range nodes {
		for _, t := range n.tenants {
			w.on[t.name], w.all[t.name] = n.name, t
		}
		w.nodes[n.name] = &n
	}
	return w
}

// spread is how far the fullest and the emptiest shared node are apart.
func (w *world) spread() int64 {
	var held []int64
	for _, n := range w.nodes {
		if n.attrs.Role == RoleShared && !n.attrs.Draining {
			held = append(held, n.bytes)
		}
	}
	if len(held) == 0 {
		return 0
	}
	return slices.Max(held) - slices.Min(held)
}

func (w *world) carryOut(t *testing.T, m proposal) {
	require.Equal(t, m.From, w.on[m.Tenant])
	require.NotEqual(t, m.From, m.To)
	require.False(t, w.moved[m.Tenant])
	from, to, moved := w.nodes[m.From], w.nodes[m.To], w.all[m.Tenant]
	require.Equal(t, moved.bytes, m.Bytes)
	switch m.Why {
	case whyDraining:
		require.True(t, from.attrs.Draining)
	case whyMaxTenants:
		require.Greater(t, from.placed, from.attrs.MaxTenants)
	case whyMaxBytes:
		require.Greater(t, from.disk, from.attrs.MaxBytes)
	case whyBalance:
		require.Greater(t, from.bytes, to.bytes)
	default:
		t.Fatal(m.Why)
	}
	if m.Why != whyDraining {
		require.Equal(t, RoleShared, from.attrs.Role)
		require.False(t, from.attrs.Draining)
		require.True(t, moved.active)
	}
	from.placed, from.bytes, from.disk = from.placed-1, from.bytes-m.Bytes, from.disk-m.Bytes
	to.placed, to.bytes, to.disk = to.placed+1, to.bytes+m.Bytes, to.disk+m.Bytes
	require.Equal(t, RoleShared, to.attrs.Role)
	require.False(t, to.attrs.Draining)
	require.True(t, to.attrs.MaxTenants == 0 || to.placed <= to.attrs.MaxTenants)
	require.True(t, to.attrs.MaxBytes == 0 || to.disk <= to.attrs.MaxBytes)
	w.on[m.Tenant], w.moved[m.Tenant] = m.To, true
}
