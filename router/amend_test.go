package router

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// threeNodes makes a directory of nodes n1, n2 and n3, with tenants on n1.
func threeNodes(t *testing.T, d *Directory, tenants ...string) {
	t.Helper()
	for i, name := range []string{"n1", "n2", "n3"} {
		require.NoError(t, d.PutNode(Node{name, fmt.Sprintf("a:%d", i+1), NewToken("x")}))
	}
	n1, _ := d.Node("n1")
	for _, name := range tenants {
		require.NoError(t, d.Place(name, n1))
	}
}

func (d *Directory) setSpare(tenant, node string, state spareState) error {
	return d.amend(&amendment{tenant: tenant, change: func(p *place) error {
		on, ok := d.nodes.get(node)
		if !ok {
			return ErrUnknownNode
		}
		p.setSpare(on, state)
		return nil
	}})
}

// TestSparesSurvive makes each kind of change and compares what the memory says with what
// the file says.
func TestSparesSurvive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shard.fenec")
	d, err := OpenDirectory(path)
	require.NoError(t, err)
	threeNodes(t, d, "acme", "beta")
	n2, _ := d.Node("n2")
	n3, _ := d.Node("n3")
	type spares map[string]spareState
	for _, step := range []struct {
		name   string
		change func() error
		want   spares
		strays []Stray
	}{
		{"wanted", func() error { return d.setSpare("acme", "n2", spareWanted) }, spares{"n2": spareWanted}, nil},
		{"follows", func() error { return d.setSpare("acme", "n2", spareFollows) }, spares{"n2": spareFollows}, nil},
		{"another", func() error { return d.setSpare("acme", "n3", spareWanted) }, spares{"n2": spareFollows, "n3": spareWanted}, nil},
		{"left", func() error { return d.setSpare("acme", "n3", spareLeft) }, spares{"n2": spareFollows, "n3": spareLeft}, nil},
		{"a move to it", func() error { return d.beginMove("acme", "n2") }, spares{"n3": spareLeft}, []Stray{{Tenant: "acme", Node: "n2"}}},
		{"frozen", func() error { return d.frozenAt("acme", 4) }, spares{"n3": spareLeft}, []Stray{{Tenant: "acme", Node: "n2"}}},
		{"backed out", func() error { return d.endMove("acme", nil) }, spares{"n2": spareWanted, "n3": spareLeft}, nil},
		{"follows again", func() error { return d.setSpare("acme", "n2", spareFollows) }, spares{"n2": spareFollows, "n3": spareLeft}, nil},
		{"a flip", func() error { return d.flip("acme", n3, 5) }, spares{"n2": spareWanted}, []Stray{{"acme", "n1", 5}}},
		{"follows there", func() error { return d.setSpare("acme", "n2", spareFollows) }, spares{"n2": spareFollows}, []Stray{{"acme", "n1", 5}}},
		{"a new address", func() error { return d.PutNode(Node{"n3", "a:33", NewToken("x")}) }, spares{"n2": spareWanted}, []Stray{{"acme", "n1", 5}}},
		{"the same address", func() error { return d.PutNode(Node{"n3", "a:33", NewToken("y")}) }, spares{"n2": spareWanted}, []Stray{{"acme", "n1", 5}}},
		{"taken over", func() error { return d.takeOver("acme", "n3", n2) }, spares{"n3": spareLeft}, []Stray{{"acme", "n1", 5}}},
		{"no longer there", func() error {
			require.ErrorIs(t, d.takeOver("acme", "n3", n2), errElsewhere)
			return nil
		}, spares{"n3": spareLeft}, []Stray{{"acme", "n1", 5}}},
		{"a standby", func() error { return d.setPair("n2", "n1") }, spares{"n1": spareWanted, "n3": spareLeft}, nil},
		{"that follows", func() error { return d.setSpare("acme", "n1", "") }, spares{"n3": spareLeft}, nil},
		{"another standby", func() error { return d.setPair("n2", "n3") }, spares{"n1": spareLeft, "n3": spareWanted}, nil},
		{"no standby", func() error { return d.setPair("n2", "") }, spares{"n1": spareLeft, "n3": spareLeft}, nil},
		{"lost", func() error {
			require.NoError(t, d.setSpare("acme", "n3", spareFollows))
			lost, err := d.loseReplicas("n3")
			require.Equal(t, []string{"acme"}, lost)
			return err
		}, spares{"n1": spareLeft, "n3": spareLeft}, nil},
		{"forgotten", func() error { return d.abandonAll("acme", d.copies("acme")) }, nil,
			[]Stray{{Tenant: "acme", Node: "n1"}, {Tenant: "acme", Node: "n3"}}},
		{"and created anew", func() error { return d.Place("acme", n2) }, spares{},
			[]Stray{{Tenant: "acme", Node: "n1"}, {Tenant: "acme", Node: "n3"}}},
	} {
		require.NoError(t, step.change(), step.name)
		for range 2 {
			if p, ok := d.find([]byte("acme")); ok {
				got := spares{}
				for _, s := range p.spares {
					got[s.on.name()] = s.state
				}
				require.Equal(t, step.want, got, step.name)
			} else {
				require.Nil(t, step.want, step.name)
			}
			require.ElementsMatch(t, step.strays, d.Strays(), step.name)
			d = reopened(t, d, path)
		}
	}
}

// Changes that are asked for at once go into few blocks, and each is refused, or fails, by
// itself.
func TestAmendTogether(t *testing.T) {
	d, store := faultDirectory(t)
	const n = 100
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("t%02d", i))
	}
	threeNodes(t, d, names...)
	blocks := 0
	writing, first := make(chan struct{}), make(chan struct{})
	store.onWrite = func() {
		if blocks++; blocks == 1 {
			close(writing)
			<-first
		}
	}
	n2, _ := d.nodes.get("n2")
	errOdd := errors.New("odd")
	errs := make([]error, n)
	amend := func(i int) {
		errs[i] = d.amendTogether(&amendment{tenant: names[i], change: func(p *place) error {
			if i%2 == 1 {
				return errOdd
			}
			p.setSpare(n2, spareFollows)
			return nil
		}})
	}
	var running sync.WaitGroup
	running.Go(func() { amend(0) })
	<-writing
	for i := 1; i < n; i++ {
		running.Go(func() { amend(i) })
	}
	require.Eventually(t, func() bool {
		d.amendments.mu.Lock()
		defer d.amendments.mu.Unlock()
		return len(d.amendments.waiting) == n-1
	}, 20*time.Second, time.Millisecond)
	close(first)
	running.Wait()
	for i, name := range names {
		at, _ := d.Tenant(name)
		if i%2 == 1 {
			require.ErrorIs(t, errs[i], errOdd)
			require.Empty(t, at.Replicas)
		} else {
			require.NoError(t, errs[i])
			require.Equal(t, []string{"n2"}, at.Replicas)
		}
	}
	require.Equal(t, 2, blocks)
	store.broken, store.onWrite = errDisk, nil
	gone := func(tenant string) *amendment {
		return &amendment{tenant: tenant, change: func(p *place) error {
			p.setSpare(n2, "")
			return nil
		}}
	}
	require.ErrorIs(t, d.amendTogether(gone("t00")), errDisk)
	at, _ := d.Tenant("t00")
	require.Equal(t, []string{"n2"}, at.Replicas)
	require.ErrorIs(t, d.amendTogether(gone("t00")), errDisk)
	store.broken = nil
	require.ErrorIs(t, d.amendTogether(gone("nobody")), ErrUnknownTenant)
}
