package router

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/quota"
)

const (
	// copyFor bounds each request by which a node makes a copy, or removes it: a node
	// waits up to 5 s for whoever uses a tenant that it is to close.
	copyFor = 10 * time.Second
	// copyTries is on how many nodes a replica is tried.
	copyTries = 3
)

// copier sees to the copies of tenants on other nodes: the one on the standby of a
// tenant's node, and replicas of the tenant's own.
//
// That a copy is to follow is recorded before its node is asked for anything, and that it
// follows once the node has said so. So whatever ends in between is gone on with by the
// reconciler, and a failover counts on no copy of which it is not known.
type copier struct {
	directory *Directory
	admin     *admin
	spreads   bool // each tenant on a node without a standby has a replica
	within    time.Duration
	missed    func(tenant string) // told of a copy that has not its tenant's quota
	kick      func()              // has the reconciler look for something to do
	logf      func(string, ...any)
	step      func(string)
}

// copied is what has become of a tenant's copies.
type copied struct {
	on      string // the node of its replica, "" for none
	missing error  // why it has none that is to have one
	standby error  // why the standby of its node has no copy
}

// briefly calls a node within the time that there is for it.
func (c *copier) briefly(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	return call(ctx)
}

// completeNow is complete for an operation that goes on without a copy that cannot be had:
// what is still wanted is tried again in the background.
func (c *copier) completeNow(ctx context.Context, tenant string, as copying) copied {
	done := c.complete(ctx, tenant, as)
	if done.standby != nil {
		c.logf("tenant %s: the standby of its node has no copy: %v", tenant, done.standby)
	}
	if done.missing != nil {
		c.logf("tenant %s: it has no replica: %v", tenant, done.missing)
	}
	if p, ok := c.directory.find([]byte(tenant)); ok && len(p.sparesThat(spareWanted)) > 0 {
		c.kick()
	}
	return done
}

// copying says how copies are to be completed.
type copying struct {
	were bool // those that are wanted were replicas; they are removed if they cannot be had
	need bool // the tenant is to have a replica, as it had one
}

// complete has the copies follow that are wanted, and gives the tenant a replica if it is
// to have one. The tenant is claimed.
func (c *copier) complete(ctx context.Context, tenant string, as copying) (done copied) {
	p, ok := c.directory.find([]byte(tenant))
	if !ok || !c.spreads && !as.need && len(p.spares) == 0 {
		return copied{}
	}
	f := c.newFollowing(tenant, p)
	standby, paired := c.directory.Standby(f.primary.Name)
	wanted, follow := p.sparesThat(spareWanted), p.sparesThat(spareFollows)
	if len(follow) > 0 {
		done.on = follow[0]
	}
	if len(wanted) == 0 && (paired || done.on != "") {
		return done
	}
	if err := f.look(ctx); err != nil {
		return copied{done.on, err, err} // it is tried again
	}
	need := c.spreads || as.need
	for _, node := range wanted {
		if paired && node == standby {
			done.standby = f.stand(ctx, node)
			continue
		}
		need = true
		err := f.replica(ctx, node, as.were)
		done.missing = cmp.Or(done.missing, err)
		if err == nil {
			done.on = cmp.Or(done.on, node)
		}
	}
	if done.on == "" && !paired && need && ctx.Err() == nil {
		done.on, done.missing = f.another(ctx, done.missing)
	}
	if done.on != "" {
		done.missing = nil
	}
	return done
}

// following is the work on the copies of one tenant, which is claimed.
type following struct {
	*copier
	tenant  string
	primary Node
	boot    string          // of the primary's server
	failed  map[string]bool // nodes that are not tried again
}

func (c *copier) newFollowing(tenant string, p *place) *following {
	return &following{copier: c, tenant: tenant, primary: *p.on.node.Load(), failed: map[string]bool{}}
}

// look asks the tenant's node whether it is there and has the tenant: what follows it has
// something to follow then, and is on another server.
func (f *following) look(ctx context.Context) error {
	return f.briefly(ctx, func(ctx context.Context) error {
		served, err := f.admin.standing(ctx, f.primary, f.tenant)
		f.boot = served.Boot
		return err
	})
}

// attach has the node's copy follow the tenant's node, or, on a standby, the node that the
// standby follows, and makes one if there is none, which made reports. When it fails, a
// copy that was made may be there.
func (f *following) attach(ctx context.Context, on Node, from string) (made bool, err error) {
	err = f.briefly(ctx, func(ctx context.Context) error {
		made, err = f.admin.ensure(ctx, on, f.tenant)
		return err
	})
	frozen := false
	if err == nil && !made {
		frozen, err = f.checkServer(ctx, on)
	}
	if err != nil {
		return made, err
	}
	f.step("follow")
	err = f.briefly(ctx, func(ctx context.Context) error { return f.admin.follow(ctx, on, f.tenant, from, frozen) })
	if err == nil {
		f.tellQuota(ctx, on, made)
	}
	return made, err
}

// checkServer refuses a copy that is the tenant itself, under another name of its node. Of
// any other it tells whether it is frozen, as whoever looks at a copy leaves it for a
// moment.
func (f *following) checkServer(ctx context.Context, on Node) (frozen bool, err error) {
	err = f.briefly(ctx, func(ctx context.Context) error {
		stands, err := f.admin.standing(ctx, on, f.tenant)
		frozen = stands.Frozen
		if err == nil && f.boot != "" && stands.Boot == f.boot {
			return fmt.Errorf("%w: nodes %s and %s", ErrSameServer, f.primary.Name, on.Name)
		}
		return err
	})
	return frozen, err
}

// tellQuota sends the tenant's quota to a copy. One that was not made just now may have an
// older one.
func (f *following) tellQuota(ctx context.Context, on Node, made bool) {
	limits := f.directory.Quota(f.tenant)
	err := f.briefly(ctx, func(ctx context.Context) (err error) {
		var has quota.Limits
		if !made {
			has, err = f.admin.quota(ctx, on, f.tenant)
		}
		if err == nil && has != limits {
			err = f.admin.setQuota(ctx, on, f.tenant, limits)
		}
		return err
	})
	if err != nil {
		f.logf("tenant %s: the quota of its copy is sent again later: %v", f.tenant, err)
		f.missed(f.tenant)
	}
}

// stand has the copy on the standby follow. What fails stays wanted and is tried again.
func (f *following) stand(ctx context.Context, standby string) error {
	on, ok := f.directory.Node(standby)
	if !ok {
		return fmt.Errorf("node %s: %w", standby, ErrUnknownNode)
	}
	made, err := f.attach(ctx, on, "")
	if err == nil {
		return f.recordStanding(standby)
	}
	if made {
		// It is no copy of anything, and must not be taken for one.
		f.remove(ctx, on)
	}
	return err
}

// recordStanding records that the copy on the standby follows. A pair that has ended
// meanwhile leaves the copy.
func (f *following) recordStanding(node string) error {
	return f.directory.amendTogether(&amendment{tenant: f.tenant, change: func(p *place) error {
		on, ok := f.directory.nodes.get(node)
		if !ok {
			return ErrUnknownNode
		}
		state := spareLeft
		if standby, ok := f.directory.standby(p.on); ok && standby == on {
			state = ""
		}
		p.setSpare(on, state)
		return nil
	}})
}

// replica has the copy on a node follow and records it as a replica. One that does not is
// given up: removed if it was made for that, or was a replica, and else left alone.
func (f *following) replica(ctx context.Context, node string, was bool) error {
	on, ok := f.directory.Node(node)
	if !ok {
		return fmt.Errorf("node %s: %w", node, ErrUnknownNode)
	}
	made, err := f.attach(ctx, on, f.primary.Addr)
	if err == nil {
		f.step("replica")
		return f.record(node, spareFollows)
	}
	f.failed[node] = true
	switch {
	case ctx.Err() != nil: // it is nobody's fault, and stays wanted
	case errors.Is(err, ErrSameServer):
		f.give(node, "")
	case !made && !was:
		f.give(node, spareLeft)
	case !isSilent(err) && f.remove(ctx, on):
		f.give(node, "")
	default:
		f.give(node, "", Stray{Tenant: f.tenant, Node: node})
		f.kick()
	}
	return err
}

// another places a replica on one more node. It returns why if there is none, the reason
// before being that of one that was tried.
func (f *following) another(ctx context.Context, before error) (node string, err error) {
	for err = before; len(f.failed) < copyTries; {
		next, ok := f.chooseNode()
		if !ok {
			return "", cmp.Or(err, ErrNoOtherNode)
		}
		f.step("want")
		if err := f.record(next, spareWanted); err != nil {
			return "", err
		}
		if err = f.replica(ctx, next, false); err == nil {
			return next, nil
		}
		f.logf("tenant %s: no replica on node %s: %v", f.tenant, next, err)
	}
	return "", err
}

// chooseNode returns a node for a replica. One that has something that is to be cleared
// away is none.
func (f *following) chooseNode() (string, bool) {
	p, ok := f.directory.find([]byte(f.tenant))
	if !ok {
		return "", false
	}
	may := func(node string) bool {
		return !f.failed[node] && !p.counts(node) && !f.directory.isStray(Stray{Tenant: f.tenant, Node: node})
	}
	left := func(node string) bool { return p.spareOn(node) == spareLeft }
	return f.directory.newSpread().choose(f.primary.Name, may, left)
}

// record records how the copy on a node stands.
func (f *following) record(node string, state spareState, strays ...Stray) error {
	a := &amendment{tenant: f.tenant, strays: strays}
	a.change = func(p *place) error {
		on, ok := f.directory.nodes.get(node)
		if !ok {
			return ErrUnknownNode
		}
		p.setSpare(on, state)
		return nil
	}
	return f.directory.amendTogether(a)
}

// give records that a copy does not follow.
func (f *following) give(node string, state spareState, strays ...Stray) {
	if err := f.record(node, state, strays...); err != nil {
		f.logf("tenant %s: its copy on node %s does not follow, which is not recorded: %v", f.tenant, node, err)
	}
}

// remove removes a copy and reports whether there is none any more.
func (f *following) remove(ctx context.Context, on Node) bool {
	err := f.briefly(ctx, func(ctx context.Context) error { return gone(f.admin.purge(ctx, on, f.tenant)) })
	if err != nil {
		f.logf("tenant %s: removing its copy on node %s: %v", f.tenant, on.Name, err)
	}
	return err == nil
}
