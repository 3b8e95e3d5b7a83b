package router

import (
	"context"
	"sync"
)

// silences keep one node that does not answer from being waited for once per tenant: who
// gets no answer looks whether it is there at all, and if it is not, nobody else asks.
type silences struct {
	directory *Directory
	admin     *admin

	mu    sync.Mutex // guards nodes
	nodes map[string]*silence
}

// silence is what is known of one node.
type silence struct {
	sync.Mutex       // held by whoever looks
	why        error // nil while it may be there
}

func (c *copier) newSilences() *silences {
	return &silences{directory: c.directory, admin: c.admin, nodes: map[string]*silence{}}
}

// ask calls a function that asks the node something, unless the node is silent.
func (q *silences) ask(ctx context.Context, node string, call func() error) error {
	s := q.of(node)
	s.Lock()
	why := s.why
	s.Unlock()
	if why != nil {
		return why
	}
	err := call()
	if silentNode(err) == node {
		s.look(ctx, q, node)
	}
	return err
}

func (q *silences) of(node string) *silence {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.nodes[node]
	if s == nil {
		s = &silence{}
		q.nodes[node] = s
	}
	return s
}

// look asks the node whether it is there, one at a time.
func (s *silence) look(ctx context.Context, q *silences, node string) {
	s.Lock()
	defer s.Unlock()
	n, ok := q.directory.Node(node)
	if s.why != nil || !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	s.why = q.admin.health(ctx, n)
}
