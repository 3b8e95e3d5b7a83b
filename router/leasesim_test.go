package router

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whatever is cut off, lost, started anew, moved and promoted: no tenant is ever written
// on two nodes, and in the end each is written where the directory says.
func TestLeasesUnderAllSorts(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inCluster(t, func(c *cluster) {
				s := &allSorts{cluster: c, rnd: rand.New(rand.NewPCG(seed, 0))}
				for range 100 {
					s.event()
					c.pass(time.Duration(s.rnd.Int64N(int64(testTerm / 2))))
				}
				s.moves.Wait()
				for _, node := range s.names() {
					c.with(node, func(n *fenced) { n.cut, n.mute, n.hangs = false, false, false })
				}
				c.pass(5 * testTerm)
				for _, at := range c.directory.Tenants() {
					require.True(t, c.writes(at.Name, at.Node)(), "%s is on %s", at.Name, at.Node)
				}
				require.NotEmpty(t, c.failovers)
				require.NotZero(t, s.moved)
			})
		})
	}
}

type allSorts struct {
	*cluster
	rnd   *rand.Rand
	moves sync.WaitGroup
	moved int // guarded by cluster.mu
}

func (s *allSorts) names() []string { return []string{"n1", "n2", "n3"} }

func (s *allSorts) node() string { return s.names()[s.rnd.IntN(3)] }

func (s *allSorts) event() {
	node := s.node()
	tenant := string(rune('a' + s.rnd.IntN(3)))
	switch s.rnd.IntN(10) {
	case 0:
		s.with(node, func(n *fenced) { n.cut = true })
	case 1:
		s.with(node, func(n *fenced) { n.mute = true })
	case 2:
		s.with(node, func(n *fenced) { n.hangs = true })
	case 3, 4, 5:
		s.with(node, func(n *fenced) { n.cut, n.mute, n.hangs = false, false, false })
	case 6:
		s.boot(node)
	case 7:
		s.moves.Wait()
		if s.rnd.IntN(3) == 0 {
			s.promote()
		}
		s.begin()
	default:
		s.moves.Go(func() { s.move(tenant, node) })
	}
	at, _ := s.directory.Tenant(tenant)
	if to := s.node(); to != at.Node {
		s.mu.Lock()
		s.replicas[tenant] = to
		s.mu.Unlock()
	}
}

// move moves a tenant as far as leases go.
func (s *allSorts) move(tenant, to string) {
	release, err := s.directory.Claim(tenant)
	if err != nil {
		return
	}
	defer release()
	at, _ := s.directory.Tenant(tenant)
	if at.Node == to {
		return
	}
	done, err := s.leasing.handOver(context.Background(), at.Node, []string{tenant}, false)
	if err != nil {
		return
	}
	s.flip(tenant, to)
	done()
	s.leasing.granted(context.Background(), tenant, to)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved++
}
