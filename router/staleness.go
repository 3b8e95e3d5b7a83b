package router

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/internal/metrics"
)

const (
	// staleEvery is how often it is looked which copies are stale: one request to each node
	// that has some.
	staleEvery = 15 * time.Second
	// staleNamed is how many of them a line of the log names.
	staleNamed = 5
)

// staleness knows the copies that are recorded as ones that follow, and of which their
// nodes do not say that they do, and are level or were a moment ago. No failover can count
// on them.
type staleness struct {
	directory *Directory
	admin     *admin
	within    time.Duration // of one request
	logf      func(string, ...any)

	ctx     context.Context // of the watch
	stop    context.CancelFunc
	running sync.WaitGroup // Add under mu unless ctx has ended

	mu    sync.Mutex                 // guards the field below
	stale map[string]map[string]bool // names of tenants, by node
}

func (w *staleness) init(rt *Router) {
	w.directory, w.admin, w.logf = rt.directory, rt.admin, rt.logf
	w.within = min(chooseTimeout, rt.opts.UpstreamTimeout)
	w.ctx, w.stop = context.WithCancel(context.Background())
}

// begin looks for stale copies until close.
func (w *staleness) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx.Err() == nil {
		w.running.Go(func() { w.watch(w.ctx) })
	}
}

// close returns when nothing is looked for any more.
func (w *staleness) close() {
	w.mu.Lock()
	w.stop()
	w.mu.Unlock()
	w.running.Wait()
}

func (w *staleness) watch(ctx context.Context) {
	tick := time.NewTicker(staleEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.look(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// look asks the nodes that have copies which of them follow.
func (w *staleness) look(ctx context.Context) {
	copies := map[string][]string{} // tenants, by node
	w.directory.tenants.each(func(name string, at *place) {
		if !at.isRest() {
			return
		}
		for _, node := range w.directory.copiesOf(at) {
			copies[node] = append(copies[node], name)
		}
	})
	nodes := slices.DeleteFunc(w.directory.Nodes(), func(n Node) bool { return copies[n.Name] == nil })
	asking, cancel := context.WithTimeout(ctx, w.within)
	defer cancel()
	now := map[string]map[string]bool{}
	for _, said := range ask(nodes, func(n Node) (map[string]followState, error) { return w.admin.following(asking, n) }) {
		node := said.node.Name
		now[node] = map[string]bool{}
		for _, name := range copies[node] {
			if said.err != nil || said.value != nil && w.isStale(name, node, said.value[name]) {
				now[node][name] = true
			}
		}
	}
	if ctx.Err() == nil {
		w.note(now, copies)
	}
}

// isStale judges what a node has said of a copy.
func (w *staleness) isStale(tenant, node string, f followState) bool {
	at, ok := w.directory.find([]byte(tenant))
	return ok && (!w.directory.isFollowing(at, node, f.Follows) || f.LagMs < 0 || f.LagMs > staleMargin.Milliseconds())
}

// note keeps what was found, and tells the log what has changed.
func (w *staleness) note(now map[string]map[string]bool, copies map[string][]string) {
	w.mu.Lock()
	before := w.stale
	w.stale = now
	w.mu.Unlock()
	for _, node := range slices.Sorted(maps.Keys(now)) {
		var gone, back []string
		for _, name := range copies[node] {
			switch is := now[node][name]; {
			case is && !before[node][name]:
				gone = append(gone, name)
			case !is && before[node][name]:
				back = append(back, name)
			}
		}
		if len(gone) > 0 {
			w.logf("node %s: %s: out of touch with the tenants' nodes, or not following them; a failover does not count on them", node, countedCopies(gone))
		}
		if len(back) > 0 {
			w.logf("node %s: %s: level again", node, countedCopies(back))
		}
	}
}

// countedCopies names a few of the copies of tenants.
func countedCopies(tenants []string) string {
	slices.Sort(tenants)
	text := fmt.Sprintf("%d copies", len(tenants))
	if len(tenants) == 1 {
		text = "1 copy"
	}
	text += ", of " + strings.Join(tenants[:min(len(tenants), staleNamed)], ", ")
	if more := len(tenants) - staleNamed; more > 0 {
		text += fmt.Sprintf(" and %d others", more)
	}
	return text
}

func (w *staleness) writeMetrics(p *metrics.Page) {
	p.Family("fenec_router_replicas_stale", metrics.Gauge, "Copies on a node that are to follow, and are not known to be level, those of pairs among them.")
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.directory.Nodes() {
		p.Uint(uint64(len(w.stale[n.Name])), "node", n.Name)
	}
}
