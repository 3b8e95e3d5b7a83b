package router

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// Directory knows the nodes and where each tenant is. It is a fenec database
// whose rows are also held in memory: look-ups touch nothing else, and a change
// is on disk before they see it.
//
// All methods are safe for concurrent use. No look-up waits for a change that is
// being written.
type Directory struct {
	store   store
	file    *directoryFile // the store, unless that is another one
	nodes   *table[*slot]
	tenants *table[*place]
	quotas  *table[quota.Limits]
	claims  claims
	trouble trouble

	// change orders the changes: check, write, fsync, then the tables. It is
	// held across the disk write; look-ups do not take it.
	change  sync.Mutex
	closed  bool    // guarded by change
	watcher watcher // told under change
	halted  halt
	strays  atomic.Pointer[[]Stray] // stored under change
	pairs   atomic.Pointer[pairs]   // stored under change
	arrived atomic.Bool             // there is something to be looked up; stored under change

	amendments amendments // which come before change in the order of locks
}

// slot is a node's place in the directory, which stays the same when its address,
// token or attributes change.
type slot struct {
	node    atomic.Pointer[Node]
	attrs   atomic.Pointer[Attrs]
	tenants atomic.Int64 // placed on it; changed under Directory.change

	failovers atomic.Int64 // of it, begun by this router
	relayed   relayed      // streams that come from it
}

func (s *slot) name() string { return s.node.Load().Name }

// OpenDirectory opens the directory in the file at path, which is created if
// there is none. An empty path gives a directory in memory. It fails with ErrFollows if
// the file follows another router's.
func OpenDirectory(path string) (*Directory, error) {
	return OpenDirectoryWith(path, DirectoryOptions{})
}

// OpenDirectoryWith is OpenDirectory for one that is replicated.
func OpenDirectoryWith(path string, opts DirectoryOptions) (*Directory, error) {
	f, err := openFile(path, opts)
	if err != nil {
		return nil, fmt.Errorf("directory %q: %w", path, err)
	}
	d, err := newDirectory(f)
	if err != nil {
		f.close()
		return nil, fmt.Errorf("directory %q: %w", path, err)
	}
	d.file = f
	d.halted.follows.Store(d.file.follows())
	return d, nil
}

func newDirectory(s store) (*Directory, error) {
	kept, err := s.load()
	if err != nil {
		return nil, err
	}
	d, err := directoryOf(kept)
	if err != nil {
		return nil, err
	}
	d.store = s
	return d, nil
}

// directoryOf makes a directory without a store of what one keeps.
func directoryOf(kept *contents) (*Directory, error) {
	d := &Directory{nodes: newTable[*slot](), tenants: newTable[*place](), quotas: newTable[quota.Limits](), watcher: nobody{}}
	d.strays.Store(&kept.strays)
	d.pairs.Store(&kept.pairs)
	d.arrived.Store(kept.arrived)
	return d, d.fill(kept)
}

// fill brings the tables up to what is kept of some nodes and tenants, or of all.
func (d *Directory) fill(kept *contents) error {
	for _, n := range kept.nodes {
		d.setNode(n)
		if a, ok := kept.attrs[n.Name]; ok {
			d.setAttrs(n.Name, a)
		}
	}
	for _, t := range kept.tenants {
		on, ok := d.nodes.get(t.Node)
		if !ok {
			return fmt.Errorf("tenant %q is placed on %q: %w", t.Name, t.Node, ErrUnknownNode)
		}
		d.settle(t.Name, &place{on: on, state: t.State, status: t.Status, epoch: t.Epoch, move: t.Move, noticed: t.noticed})
	}
	for name, limits := range kept.quotas {
		d.quotas.put(name, limits)
	}
	d.loadSpares(kept.spares)
	return nil
}

// Close closes the file. Changes answer ErrClosed afterwards; look-ups go on.
func (d *Directory) Close() error {
	d.change.Lock()
	closed := d.closed
	d.closed = true
	d.change.Unlock()
	if closed {
		return nil
	}
	return d.store.close() // which waits for whoever follows, who may wait for the lock
}

// Lookup returns the node that holds the tenant. It does not allocate.
func (d *Directory) Lookup(tenant []byte) (Node, bool) {
	p, ok := d.find(tenant)
	if !ok {
		return Node{}, false
	}
	return *p.on.node.Load(), true
}

// find returns the tenant's place. It does not allocate.
func (d *Directory) find(tenant []byte) (*place, bool) { return d.tenants.find(tenant) }

// Tenant returns where the tenant is.
func (d *Directory) Tenant(name string) (Tenant, bool) {
	p, ok := d.tenants.get(name)
	if !ok {
		return Tenant{}, false
	}
	return p.tenant(name), true
}

// Status returns a tenant's status, or tenant.ErrNotFound: the directory is a
// tenant.Registry.
func (d *Directory) Status(_ context.Context, name string) (tenant.Status, error) {
	p, ok := d.tenants.get(name)
	if !ok {
		return 0, fmt.Errorf("tenant %s: %w", name, tenant.ErrNotFound)
	}
	return p.status, nil
}

// Tenants returns all tenants by name.
func (d *Directory) Tenants() []Tenant {
	all := []Tenant{}
	d.tenants.each(func(name string, p *place) { all = append(all, p.tenant(name)) })
	slices.SortFunc(all, func(a, b Tenant) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Quota returns the limits recorded for a tenant, none for one without.
func (d *Directory) Quota(tenant string) quota.Limits {
	limits, _ := d.quotas.get(tenant)
	return limits
}

// Strays returns the copies that are to be cleared away, in no order.
func (d *Directory) Strays() []Stray { return slices.Clone(*d.strays.Load()) }

func (d *Directory) isStray(s Stray) bool { return slices.Contains(*d.strays.Load(), s) }

// moving returns the tenants whose move has not come to an end.
func (d *Directory) moving() (names []string) {
	d.tenants.each(func(name string, p *place) {
		if p.state == StateMoving {
			names = append(names, name)
		}
	})
	return names
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

// Attrs returns the attributes of a node, and those of a shared node without limits
// for one that has none.
func (d *Directory) Attrs(node string) Attrs {
	s, ok := d.nodes.get(node)
	if !ok || s.attrs.Load() == nil {
		return Attrs{Role: RoleShared}
	}
	return *s.attrs.Load()
}

// Placed returns how many tenants are placed on a node.
func (d *Directory) Placed(node string) int {
	s, ok := d.nodes.get(node)
	if !ok {
		return 0
	}
	return int(s.tenants.Load())
}

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
