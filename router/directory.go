package router

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Node is a server that holds tenants.
type Node struct {
	Name string
	// Addr is host:port.
	Addr string
	// Token is the node's admin token.
	Token Token
}

// State says whether a tenant is at rest.
type State string

// The states. Any other text in the file reads as StateActive.
const (
	StateActive State = "active"
	// StateMoving is a tenant's whose move has not come to an end. It is
	// served by the node it is placed on.
	StateMoving State = "moving"
)

// Tenant says where a tenant is.
type Tenant struct {
	Name, Node string
	State      State
}

// Directory knows the nodes and where each tenant is. It is a fenec database
// whose rows are also held in memory: look-ups touch nothing else, and a change
// is on disk before they see it.
//
// All methods are safe for concurrent use. No look-up waits for a change that is
// being written.
type Directory struct {
	store   store
	nodes   *table[*slot]
	tenants *table[place]
	claims  claims

	// change orders the changes: check, write, fsync, then the tables. It is
	// held across the disk write; look-ups do not take it.
	change sync.Mutex
	closed bool // guarded by change
}

// slot is a node's place in the directory, which stays the same when its address
// or token changes.
type slot struct {
	node    atomic.Pointer[Node]
	tenants int // placed on it; guarded by Directory.change
}

type place struct {
	on    *slot
	state State
}

// OpenDirectory opens the directory in the file at path, which is created if
// there is none. An empty path gives a directory in memory.
func OpenDirectory(path string) (*Directory, error) {
	s, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("directory %q: %w", path, err)
	}
	d, err := newDirectory(s)
	if err != nil {
		s.close()
		return nil, fmt.Errorf("directory %q: %w", path, err)
	}
	return d, nil
}

func newDirectory(s store) (*Directory, error) {
	nodes, tenants, err := s.load()
	if err != nil {
		return nil, err
	}
	d := &Directory{store: s, nodes: newTable[*slot](), tenants: newTable[place]()}
	for _, n := range nodes {
		d.setNode(n)
	}
	for _, t := range tenants {
		on, ok := d.nodes.get(t.Node)
		if !ok {
			return nil, fmt.Errorf("tenant %q is placed on %q: %w", t.Name, t.Node, ErrUnknownNode)
		}
		d.tenants.put(t.Name, place{on, knownState(t.State)})
		on.tenants++
	}
	return d, nil
}

func knownState(s State) State {
	if s == StateMoving {
		return s
	}
	return StateActive
}

// Close closes the file. Changes answer ErrClosed afterwards; look-ups go on.
func (d *Directory) Close() error {
	d.change.Lock()
	defer d.change.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	return d.store.close()
}

// Lookup returns the node that holds the tenant. It does not allocate.
func (d *Directory) Lookup(tenant []byte) (Node, bool) {
	p, ok := d.tenants.find(tenant)
	if !ok {
		return Node{}, false
	}
	return *p.on.node.Load(), true
}

// Tenant returns where the tenant is.
func (d *Directory) Tenant(name string) (Tenant, bool) {
	p, ok := d.tenants.get(name)
	if !ok {
		return Tenant{}, false
	}
	return Tenant{name, p.on.node.Load().Name, p.state}, true
}

// Tenants returns all tenants by name.
func (d *Directory) Tenants() []Tenant {
	all := []Tenant{}
	d.tenants.each(func(name string, p place) {
		all = append(all, Tenant{name, p.on.node.Load().Name, p.state})
	})
	slices.SortFunc(all, func(a, b Tenant) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Node returns the node of the given name.
func (d *Directory) Node(name string) (Node, bool) {
	s, ok := d.nodes.get(name)
	if !ok {
		return Node{}, false
	}
	return *s.node.Load(), true
}

// Nodes returns all nodes by name.
func (d *Directory) Nodes() []Node {
	all := []Node{}
	d.nodes.each(func(_ string, s *slot) { all = append(all, *s.node.Load()) })
	slices.SortFunc(all, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// PutNode records a node, or its new address and token. Requests for the tenants
// on it go to the new address from then on.
func (d *Directory) PutNode(n Node) error {
	switch {
	case !ValidName(n.Name):
		return ErrName
	case !validAddr(n.Addr) || !validToken(n.Token.text()):
		return ErrNode
	}
	return d.write(func() error {
		if err := d.store.putNode(n); err != nil {
			return unwritten(err)
		}
		d.setNode(n)
		return nil
	})
}

func (d *Directory) setNode(n Node) {
	d.nodes.getOrPut(n.Name, func() *slot { s := new(slot); s.node.Store(&n); return s }).node.Store(&n)
}

// DeleteNode forgets a node. It returns ErrUnknownNode, or ErrNodeInUse while a
// tenant is placed on it.
func (d *Directory) DeleteNode(name string) error {
	return d.write(func() error {
		s, ok := d.nodes.get(name)
		switch {
		case !ok:
			return ErrUnknownNode
		case s.tenants > 0:
			return ErrNodeInUse
		}
		if err := d.store.deleteNode(name); err != nil {
			return unwritten(err)
		}
		d.nodes.take(name)
		return nil
	})
}

// Place records that the tenant is on the node, as which it is created there. It
// returns ErrTenantExists if the tenant has a place, and ErrUnknownNode or
// ErrNodeChanged if the node is no longer the one that n says.
func (d *Directory) Place(tenant string, n Node) error {
	if !ValidName(tenant) {
		return ErrName
	}
	return d.write(func() error {
		on, ok := d.nodes.get(n.Name)
		if !ok {
			return ErrUnknownNode
		}
		if on.node.Load().Addr != n.Addr {
			return ErrNodeChanged
		}
		if _, ok := d.tenants.get(tenant); ok {
			return ErrTenantExists
		}
		if err := d.store.putTenant(Tenant{tenant, n.Name, StateActive}); err != nil {
			return unwritten(err)
		}
		d.tenants.put(tenant, place{on, StateActive})
		on.tenants++
		return nil
	})
}

// Forget removes the tenant's place. It returns ErrUnknownTenant if it has none.
func (d *Directory) Forget(tenant string) error {
	return d.write(func() error {
		p, ok := d.tenants.get(tenant)
		if !ok {
			return ErrUnknownTenant
		}
		if err := d.store.deleteTenant(tenant); err != nil {
			return unwritten(err)
		}
		d.tenants.take(tenant)
		p.on.tenants--
		return nil
	})
}

// write runs one change.
func (d *Directory) write(change func() error) error {
	d.change.Lock()
	defer d.change.Unlock()
	if d.closed {
		return ErrClosed
	}
	return change()
}

func unwritten(err error) error { return fmt.Errorf("%w: %w", ErrDirectory, err) }

// Claim takes the tenant, which need not exist, for one operation. A second
// claim returns ErrInProgress until release is called.
func (d *Directory) Claim(tenant string) (release func(), err error) {
	return d.claims.take(tenant)
}

// claims are the tenants that an operation runs on.
type claims struct {
	mu    sync.Mutex // guards taken
	taken map[string]struct{}
}

func (c *claims) take(tenant string) (release func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.taken[tenant]; ok {
		return nil, ErrInProgress
	}
	if c.taken == nil {
		c.taken = make(map[string]struct{})
	}
	c.taken[tenant] = struct{}{}
	return func() {
		c.mu.Lock()
		delete(c.taken, tenant)
		c.mu.Unlock()
	}, nil
}
