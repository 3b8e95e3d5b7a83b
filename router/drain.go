package router

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/fenec-go/fenecdb/tenant"
)

// Waits between two rounds of a drain that has not moved everything.
const (
	firstDrainWait = 5 * time.Second
	mostDrainWait  = 2 * time.Minute
)

// drain is the work of moving everything off a node.
type drain struct {
	progress *progress
	stop     context.CancelFunc
	again    chan struct{} // has room for one
	working  bool          // guarded by fleet.mu
}

// Drain records that a node is drained, and begins to move its tenants off in the
// background, and the replicas on it after them. That it is recorded means that a router that is started later goes on. Once
// more it tries at once what could not be moved. It fails with ErrName, ErrUnknownNode or
// ErrDirectory.
func (rt *Router) Drain(node string) error {
	if err := rt.setDraining(node, true); err != nil {
		return err
	}
	rt.fleet.startDrain(node)
	return nil
}

// Undrain lets a node take tenants again. Moves that run are finished. It fails with
// ErrName, ErrUnknownNode or ErrDirectory.
func (rt *Router) Undrain(node string) error {
	if err := rt.setDraining(node, false); err != nil {
		return err
	}
	rt.fleet.endDrain(node)
	return nil
}

// DrainProgress is how far the drain of a node is.
type DrainProgress struct {
	Node     string    `json:"node"`
	Left     int       `json:"left"`     // tenants placed there
	Replicas int       `json:"replicas"` // of other tenants there, those of a pair aside
	Moving   int       `json:"moving"`   // of both
	Failed   []Unmoved `json:"failed"`   // of both, the first 1,000 by name
}

// DrainProgress tells how far the drain of a node is. It fails with ErrName or
// ErrUnknownNode.
func (rt *Router) DrainProgress(node string) (DrainProgress, error) {
	if _, err := rt.knownNode(node); err != nil {
		return DrainProgress{}, err
	}
	p := DrainProgress{Node: node, Left: rt.directory.Placed(node), Replicas: len(rt.directory.replicasOn(node)), Failed: []Unmoved{}}
	rt.fleet.mu.Lock()
	d := rt.fleet.drains[node]
	rt.fleet.mu.Unlock()
	if d == nil {
		return p, nil
	}
	p.Failed = d.progress.failures(func(tenant string) bool {
		p, ok := rt.directory.find([]byte(tenant))
		return ok && (p.on.name() == node || rt.directory.hasReplicaOn(p, node))
	})
	d.progress.mu.Lock()
	defer d.progress.mu.Unlock()
	p.Moving = len(d.progress.moving)
	return p, nil
}

// beginDrain answers POST /_shard/nodes/<node>/drain.
func (rt *Router) beginDrain(name string) (answer, error) {
	if err := rt.Drain(name); err != nil {
		return answer{}, err
	}
	a, err := rt.drainProgress(name)
	a.status = http.StatusAccepted
	return a, err
}

// endDrain answers POST /_shard/nodes/<node>/undrain.
func (rt *Router) endDrain(name string) (answer, error) {
	return answer{status: http.StatusNoContent}, rt.Undrain(name)
}

// drainProgress answers GET /_shard/nodes/<node>/drain.
func (rt *Router) drainProgress(name string) (answer, error) {
	p, err := rt.DrainProgress(name)
	return answer{http.StatusOK, p}, err
}

func (rt *Router) setDraining(name string, draining bool) error {
	if _, err := rt.knownNode(name); err != nil {
		return err
	}
	_, err := rt.changeAttrs(name, func(a Attrs) Attrs {
		a.Draining = draining
		return a
	})
	if err != nil {
		return fmt.Errorf("node %s: %w", name, err)
	}
	return nil
}

// resumeDrains goes on with the drains that are recorded and do not run.
func (rt *Router) resumeDrains() {
	for _, n := range rt.directory.Nodes() {
		if rt.directory.Attrs(n.Name).Draining && rt.directory.burden(n.Name) > 0 {
			rt.fleet.startDrain(n.Name)
		}
	}
}

// burden returns how many tenants a node has, and replicas of others.
func (d *Directory) burden(node string) int { return d.Placed(node) + len(d.replicasOn(node)) }

// startDrain starts the work on a node. Work that waits for its next round does not
// wait any longer.
func (f *fleet) startDrain(node string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return
	}
	if d := f.drains[node]; d != nil && d.working {
		select {
		case d.again <- struct{}{}:
		default: // it is told already
		}
		return
	}
	d := &drain{progress: newProgress(0), again: make(chan struct{}, 1), working: true}
	ctx, stop := context.WithCancel(f.ctx)
	d.stop = stop
	f.drains[node] = d
	f.running.Go(func() {
		defer stop()
		f.drain(ctx, node, d)
	})
}

// endDrain ends the work on a node and forgets how far it was.
func (f *fleet) endDrain(node string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d := f.drains[node]; d != nil {
		d.stop()
		delete(f.drains, node)
	}
}

// drain moves everything off a node. What cannot be moved is tried again until it can,
// or until the drain ends.
func (f *fleet) drain(ctx context.Context, node string, d *drain) {
	for wait := firstDrainWait; ; {
		before := f.router.directory.burden(node)
		f.drainOnce(ctx, node, d.progress)
		if f.isEmpty(node, d) {
			return
		}
		if f.router.directory.burden(node) < before {
			wait = firstDrainWait
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
			wait = min(2*wait, mostDrainWait)
		case <-d.again:
			wait = firstDrainWait
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// isEmpty reports whether nothing is left on the node, with which the work ends.
func (f *fleet) isEmpty(node string, d *drain) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	d.working = f.router.directory.burden(node) > 0
	return !d.working
}

// drainOnce tries to move everything off a node once.
func (f *fleet) drainOnce(ctx context.Context, node string, to *progress) {
	loads, silent := f.router.loads(ctx)
	p := newPlanner(loads, f.router.allows(ctx), leastGap)
	p.emptyNode(node)
	for _, s := range p.stuck {
		to.fail(s.Tenant, ErrNoCapacity.Error())
	}
	answers := !slices.Contains(silent, node)
	for _, t := range f.router.directory.Tenants() {
		switch {
		case t.Node != node:
		case !answers:
			to.fail(t.Name, (&NodeError{Node: node}).Error())
		case t.Status == tenant.Provisioning:
			to.fail(t.Name, tenant.ErrProvisioning.Error())
		}
	}
	f.carryOut(ctx, p.moves, to)
	if f.router.directory.Placed(node) == 0 {
		f.drainReplicas(ctx, node, to)
	}
}
