package router

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Waits between two rounds of the reconciler.
const (
	firstWait = time.Second
	mostWait  = time.Minute
)

// reconciler does in the background what could not be done at once: it ends moves that
// a router has left, clears strays away and tells nodes the quotas they have missed. It
// runs while there is something to do.
type reconciler struct {
	directory *Directory
	mover     *mover
	quotas    func() []string // the tenants whose node may not have their quota
	sendQuota func(ctx context.Context, tenant string) error
	logf      func(string, ...any)
	ctx       context.Context
	stop      context.CancelFunc

	mu      sync.Mutex // guards the fields below
	busy    bool
	again   chan struct{} // closed when there is more to do than a moment ago
	running sync.WaitGroup
}

func newReconciler(d *Directory, m *mover, logf func(string, ...any)) *reconciler {
	c := &reconciler{directory: d, mover: m, logf: logf}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// close ends the reconciler, and returns when nothing of it runs any more.
func (c *reconciler) close() {
	c.mu.Lock()
	c.stop()
	c.mu.Unlock()
	c.running.Wait()
}

// kick has the reconciler look for something to do.
func (c *reconciler) kick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ctx.Err() != nil:
	case c.busy:
		close(c.again)
		c.again = make(chan struct{})
	default:
		c.busy, c.again = true, make(chan struct{})
		c.running.Go(c.work)
	}
}

// work does what there is to do, and tries again what fails, until nothing is left.
func (c *reconciler) work() {
	for wait := time.Duration(0); ; {
		c.mu.Lock()
		again := c.again
		c.mu.Unlock()
		list := c.tasks()
		switch {
		case c.ctx.Err() != nil, len(list) == 0 && c.rest(again):
			return
		case c.try(list):
			wait = 0
			continue
		}
		wait = min(max(2*wait, firstWait), mostWait)
		timer := time.NewTimer(wait)
		select {
		case <-again:
			wait = 0
		case <-timer.C:
		case <-c.ctx.Done():
		}
		timer.Stop()
	}
}

// rest ends the work, unless there was a kick since.
func (c *reconciler) rest(since chan struct{}) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.again != since {
		return false
	}
	c.busy = false
	return true
}

// task is something that is left to do.
type task struct {
	what  string
	nodes []string // that have a part in it
	do    func(context.Context) error
}

// tasks returns all that is left to do.
func (c *reconciler) tasks() (list []task) {
	if c.directory.halted.reason() != nil {
		return nil // they are the other router's
	}
	for _, name := range c.directory.moving() {
		t, _ := c.directory.Tenant(name)
		nodes := []string{t.Node}
		if t.Move != nil {
			nodes = append(nodes, t.Move.To)
		}
		list = append(list, task{"tenant " + name + ": its unfinished move", nodes,
			func(ctx context.Context) error { return c.mover.resume(ctx, name) }})
	}
	for _, s := range c.directory.Strays() {
		list = append(list, task{"tenant " + s.Tenant + ": the copy left on node " + s.Node, []string{s.Node},
			func(ctx context.Context) error { return c.mover.clear(ctx, s) }})
	}
	for node, tenants := range c.directory.wanting() {
		list = append(list, task{"the copies that are to follow on node " + node, []string{node},
			func(ctx context.Context) error { return c.mover.copier.resume(ctx, tenants) }})
	}
	for _, name := range c.quotas() {
		var nodes []string
		for _, n := range c.directory.having(name) {
			nodes = append(nodes, n.Name)
		}
		list = append(list, task{"tenant " + name + ": its quota", nodes,
			func(ctx context.Context) error { return c.sendQuota(ctx, name) }})
	}
	return list
}

// try does the tasks and reports whether all of them are done. Those of a node that does
// not answer are left for later, untouched: a task has its tenant to itself while it
// waits.
func (c *reconciler) try(list []task) (done bool) {
	done = true
	asked := map[string]error{}
	for _, t := range list {
		err := c.ready(t, asked)
		if err == nil {
			err = t.do(c.ctx)
		}
		if err == nil {
			continue
		}
		done = false
		// What is in progress may leave nothing behind.
		if !errors.Is(err, ErrInProgress) && c.ctx.Err() == nil {
			c.logf("%s: %v; trying again", t.what, err)
		}
	}
	return done
}

// probeTimeout bounds how long a node may take to show that it is there.
const probeTimeout = 2 * time.Second

// ready asks the nodes of a task that have not been asked yet.
func (c *reconciler) ready(t task, asked map[string]error) error {
	for _, name := range t.nodes {
		err, known := asked[name]
		if n, ok := c.directory.Node(name); ok && !known {
			ctx, cancel := context.WithTimeout(c.ctx, probeTimeout)
			err = c.mover.admin.health(ctx, n)
			cancel()
			asked[name] = err
		}
		if err != nil {
			return err
		}
	}
	return nil
}
