package replication

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"time"
)

const simTerm = time.Second

// simOptions say what a simulation is allowed to do.
type simOptions struct {
	drift    float64 // of each clock
	noNonces bool    // leave the nonces out of all grants and answers
	forgets  bool    // let a restart forget that the directory was behind
}

var fair = simOptions{drift: 0.04}

// simulation is a router and nodes in bad weather. What it watches for is two
// nodes that may write one tenant at one moment.
type simulation struct {
	timeline
	rnd       *rand.Rand
	opts      simOptions
	net       *network
	nodes     map[string]*simNode
	router    *simRouter
	directory map[string]string // tenant to node: what the router has on disk
	older     []map[string]string
	lineage   Lineage
	behind    bool // on disk as well
	tenants   int
	calm      bool
	broken    string // what went wrong, when it has
}

type simNode struct {
	machine
	fence *Fence
}

func newSimulation(seed int64, opts simOptions) *simulation {
	s := &simulation{
		rnd: rand.New(rand.NewSource(seed)), opts: opts,
		nodes: map[string]*simNode{}, directory: map[string]string{},
	}
	s.net = &network{tl: &s.timeline, rnd: s.rnd, rough: true, late: 3 * simTerm}
	for i := range 4 {
		n := &simNode{machine: s.machine()}
		s.nodes[fmt.Sprintf("n%d", i+1)] = n
		s.startNode(n)
	}
	for range 6 {
		s.createTenant()
	}
	s.router = &simRouter{machine: s.machine(), s: s}
	s.router.start(false)
	return s
}

func (s *simulation) machine() machine {
	return machine{tl: &s.timeline, clock: newClock(&s.timeline, s.rnd, s.opts.drift)}
}

func (s *simulation) startNode(n *simNode) {
	n.up = true
	n.life++
	n.fence = NewFence(s.rnd.Uint64(), Authority{})
}

func (s *simulation) nodeNames() []string { return slices.Sorted(maps.Keys(s.nodes)) }

func (s *simulation) anyNode() string {
	names := s.nodeNames()
	return names[s.rnd.Intn(len(names))]
}

// place is a change of the directory, on disk before anything else knows.
func (s *simulation) place(tenant, node string) {
	s.older = append(s.older, maps.Clone(s.directory))
	s.directory[tenant] = node
}

func (s *simulation) createTenant() string {
	s.tenants++
	node := s.anyNode()
	s.place(fmt.Sprintf("t%d", s.tenants), node)
	return node
}

func (s *simulation) placedOn(node string) []string {
	var out []string
	for t, n := range s.directory {
		if n == node {
			out = append(out, t)
		}
	}
	return out
}

// grant is a grant's way to the node and its answer's way back.
func (s *simulation) grant(send Send, answered func(State, error)) {
	n := s.nodes[send.Node]
	s.net.send(&s.router.machine, &n.machine, func() {
		g := send.Grant
		if s.opts.noNonces {
			g.Nonce = ""
		}
		st, err := n.fence.Grant(n.clock.instant(), g)
		if s.opts.noNonces {
			st.Nonce = ""
		}
		s.watch("a grant to " + send.Node)
		s.net.send(&n.machine, &s.router.machine, func() { answered(st, err) })
	})
}

// watch looks for a tenant that two nodes may write.
func (s *simulation) watch(after string) {
	for i := range s.tenants {
		tenant, writer := fmt.Sprintf("t%d", i+1), ""
		for _, name := range s.nodeNames() {
			n := s.nodes[name]
			if !n.up || n.fence.Admits(n.clock.instant(), tenant) != nil {
				continue
			}
			if writer != "" && s.broken == "" {
				s.broken = fmt.Sprintf("at %v, after %s: both %s and %s may write %s", s.now, after, writer, name, tenant)
			}
			writer = name
		}
	}
}

// run is a time of bad weather and then one of calm, at whose end all must be well.
func (s *simulation) run() string {
	const storm, calm = 40 * simTerm, 12 * simTerm
	s.after(0, s.misfortune)
	s.after(storm, s.heal)
	for s.now < storm+calm && s.broken == "" {
		s.step()
	}
	if s.broken == "" {
		s.checkWell()
	}
	return s.broken
}

// checkWell wants each tenant to be written where the directory has it.
func (s *simulation) checkWell() {
	for tenant, node := range s.directory {
		n := s.nodes[node]
		if err := n.fence.Admits(n.clock.instant(), tenant); err != nil {
			s.broken = fmt.Sprintf("at the end, %s may not write %s: %v", node, tenant, err)
		}
	}
	for _, name := range s.nodeNames() {
		if m := s.router.leases.members[name]; m.lost || m.stage != settled {
			s.broken = fmt.Sprintf("at the end, %s is lost: %v, in stage %d of a failover", name, m.lost, m.stage)
		}
	}
}

// misfortune does some harm, and comes again.
func (s *simulation) misfortune() {
	if s.calm {
		return
	}
	n := s.nodes[s.anyNode()]
	length := time.Duration(s.rnd.Int63n(int64(3 * simTerm)))
	switch s.rnd.Intn(13) {
	case 0:
		n.cutIn = s.now + length
	case 1:
		n.cutOut = s.now + length
	case 2, 3:
		n.cutIn, n.cutOut = s.now+length, s.now+length
	case 4:
		n.pause(length, false)
	case 5:
		n.pause(length, true)
	case 6:
		if !n.clock.stops {
			n.clock.offset += time.Duration(s.rnd.Intn(3)-1) * time.Hour
		}
	case 7:
		s.crash(n, length)
	case 8:
		s.router.crash(length/3, false)
	case 9:
		s.router.crash(length/3, true)
	case 10:
		s.router.pause(length, s.rnd.Intn(2) == 0)
	case 11:
		s.router.arrive(s.router.handOver)
	case 12:
		s.router.arrive(func() { s.router.placed(s.createTenant()) })
	}
	s.watch("a misfortune")
	s.after(time.Duration(s.rnd.Int63n(int64(simTerm/2))), s.misfortune)
}

func (s *simulation) crash(n *simNode, length time.Duration) {
	n.stop()
	life := n.life
	s.after(length, func() {
		if n.life == life && !n.up {
			s.startNode(n)
		}
	})
}

func (s *simulation) heal() {
	s.calm, s.net.rough = true, false
	for _, name := range s.nodeNames() {
		n := s.nodes[name]
		n.cutIn, n.cutOut = 0, 0
		if !n.up {
			s.startNode(n)
		}
	}
}
