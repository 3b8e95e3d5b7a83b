package router

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/tenant"
)

const (
	// assumedRate is how many bytes a move is assumed to bring over in a second, until
	// enough were moved to tell.
	assumedRate = 64 << 20
	// enoughMoved is how many bytes tell the rate.
	enoughMoved = 64 << 20
	// maxListed is how many failures an answer lists.
	maxListed = 1000
)

// fleet is what a router does with its nodes as a whole: rebalances and drains, which
// run in the background, and what creating tenants and setting quotas keep in memory.
type fleet struct {
	router   *Router
	reserved reservations
	unsent   nameSet    // tenants whose nodes may not have the recorded quota
	attrs    sync.Mutex // orders the changes of nodes' attributes
	rate     rate

	// slots has one element for each move that runs.
	slots chan struct{}
	// ctx is that of all moves here; when it ends, those that run are backed out and no
	// other begins.
	ctx  context.Context
	stop context.CancelFunc

	mu        sync.Mutex // guards the fields below
	rebalance *progress  // the last one, nil if there was none
	balancing bool       // it runs
	drains    map[string]*drain
	running   sync.WaitGroup // of rebalances and drains; Add under mu unless ctx has ended
}

func (f *fleet) init(rt *Router) {
	f.router = rt
	f.slots = make(chan struct{}, rt.opts.Moves)
	f.ctx, f.stop = context.WithCancel(context.Background())
	f.drains = make(map[string]*drain)
}

// close ends rebalances and drains and returns when nothing of them runs any more.
func (f *fleet) close() {
	f.mu.Lock()
	f.stop()
	f.mu.Unlock()
	f.running.Wait()
}

// loads returns the nodes as a plan sees them, and the names of those that do not say
// how full they are.
func (rt *Router) loads(ctx context.Context) (loads []nodeLoad, silent []string) {
	placed := map[string][]Tenant{}
	for _, t := range rt.directory.Tenants() {
		placed[t.Node] = append(placed[t.Node], t)
	}
	type said struct {
		disk  int64
		sizes map[string]int64
	}
	question := func(n Node) (s said, err error) {
		if s.disk, err = rt.diskSoon(ctx, n); err == nil {
			s.sizes, err = rt.admin.sizes(ctx, n)
		}
		return s, err
	}
	for _, r := range ask(rt.directory.Nodes(), question) {
		name := r.node.Name
		if r.err != nil {
			silent = append(silent, name)
			continue
		}
		load := loadOf(name, rt.directory.Attrs(name), r.value.disk, r.value.sizes, placed[name])
		load.standby = rt.directory.IsStandby(name)
		loads = append(loads, load)
	}
	return loads, silent
}

// loadOf makes a load of what a node says of itself and the tenants placed on it.
func loadOf(name string, attrs Attrs, disk int64, sizes map[string]int64, placed []Tenant) nodeLoad {
	l := nodeLoad{name: name, attrs: attrs, disk: disk, placed: len(placed)}
	for _, t := range placed {
		bytes := sizes[t.Name]
		l.bytes += bytes
		if t.State == StateActive && t.Status != tenant.Provisioning {
			l.tenants = append(l.tenants, sizedTenant{t.Name, bytes, t.Status == tenant.Active})
		}
	}
	return l
}

// allows asks the placer whether a tenant may be on a node.
func (rt *Router) allows(ctx context.Context) func(string, Candidate) bool {
	return func(tenant string, to Candidate) bool {
		_, err := pick(ctx, rt.opts.Placer, tenant, []Candidate{to})
		return err == nil
	}
}

// carryOut makes the moves of a plan, as many at once as may be, and returns when they
// have ended. When ctx ends it begins no other.
func (f *fleet) carryOut(ctx context.Context, moves []proposal, to *progress) {
	var running sync.WaitGroup
	defer running.Wait()
	for _, p := range moves {
		select {
		case f.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		running.Go(func() {
			defer func() { <-f.slots }()
			if ctx.Err() == nil {
				to.began(p)
				to.ended(p, f.one(p))
			}
		})
	}
}

// one makes one move.
func (f *fleet) one(p proposal) error {
	leave, err := f.router.roomFor(p)
	if err != nil {
		return err
	}
	defer leave()
	moved, err := f.router.Move(f.ctx, p.Tenant, p.To)
	if err == nil {
		f.rate.note(moved.Bytes, time.Duration(moved.MS)*time.Millisecond)
	}
	return err
}

// roomFor holds a place for a move, whose target may have been filled or given another
// role since it was planned.
func (rt *Router) roomFor(p proposal) (leave func(), err error) {
	if t, ok := rt.directory.Tenant(p.Tenant); !ok || t.Node != p.From {
		return nil, fmt.Errorf("it is no longer on node %s", p.From)
	}
	leave, ok := rt.reserve(p.To)
	if !ok || !rt.directory.Attrs(p.To).shares() {
		if ok {
			leave()
		}
		return nil, fmt.Errorf("node %s no longer takes it", p.To)
	}
	return leave, nil
}

// progress is what has become of moves.
type progress struct {
	mu      sync.Mutex // guards the fields below
	planned int
	done    int
	moving  map[string]struct{}
	failed  map[string]string // why, by tenant
}

func newProgress(planned int) *progress {
	return &progress{planned: planned, moving: map[string]struct{}{}, failed: map[string]string{}}
}

func (p *progress) began(m proposal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moving[m.Tenant] = struct{}{}
	delete(p.failed, m.Tenant)
}

func (p *progress) ended(m proposal, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.moving, m.Tenant)
	if err != nil {
		p.failed[m.Tenant] = err.Error()
	} else {
		p.done++
	}
}

// fail notes a tenant that no move could be begun for.
func (p *progress) fail(tenant, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed[tenant] = why
}

// Unmoved is a tenant that could not be moved.
type Unmoved struct {
	Tenant string `json:"tenant"`
	Why    string `json:"why"`
}

// failures returns the first maxListed by name of those that which lets through.
func (p *progress) failures(which func(tenant string) bool) []Unmoved {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := []Unmoved{}
	for _, name := range slices.SortedFunc(maps.Keys(p.failed), cmp.Compare[string]) {
		if len(list) == maxListed {
			break
		}
		if which(name) {
			list = append(list, Unmoved{name, p.failed[name]})
		}
	}
	return list
}

// rate is how fast moves have been.
type rate struct {
	mu    sync.Mutex // guards the fields below
	bytes int64
	took  time.Duration
}

func (r *rate) note(bytes int64, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes, r.took = r.bytes+bytes, r.took+took
}

// perSecond returns how many bytes a move brings over in a second, and whether that was
// measured.
func (r *rate) perSecond() (bytes int64, measured bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bytes < enoughMoved || r.took <= 0 {
		return assumedRate, false
	}
	return max(1, int64(float64(r.bytes)/r.took.Seconds())), true
}

// seconds returns how long a move of that many bytes takes, to a hundredth.
func seconds(bytes, perSecond int64) float64 {
	return math.Ceil(float64(bytes)/float64(perSecond)*100) / 100
}
