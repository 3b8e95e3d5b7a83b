package router

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
)

// copyWorkers is how many tenants are worked on at once that have to do with the same
// node.
const copyWorkers = 8

func (rt *Router) initCopier() {
	rt.copier = &copier{
		directory: rt.directory, admin: rt.admin, spreads: rt.opts.Replicas,
		within: min(copyFor, rt.opts.UpstreamTimeout), logf: rt.logf, step: rt.opts.step,
		kick: func() { rt.reconciler.kick() },
		missed: func(tenant string) {
			rt.fleet.unsent.add(tenant)
			rt.reconciler.kick()
		},
	}
}

// wanting returns the tenants at rest that are to have a copy which may not follow yet,
// by the node of that.
func (d *Directory) wanting() map[string][]string {
	tenants := map[string][]string{}
	d.tenants.each(func(name string, p *place) {
		if p.state == StateMoving {
			return
		}
		for _, node := range p.sparesThat(spareWanted) {
			tenants[node] = append(tenants[node], name)
		}
	})
	return tenants
}

// resume has the copies of tenants follow that are wanted. What fails stays wanted, or is
// given up.
func (c *copier) resume(ctx context.Context, tenants []string) error {
	var mu sync.Mutex // guards the two
	failed, why := 0, error(nil)
	inParallel(copyWorkers, tenants, func(tenant string) {
		err := c.resumeOne(ctx, tenant)
		if err == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		failed++
		if why == nil || errors.Is(why, ErrInProgress) {
			why = err
		}
	})
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d: %w", failed, len(tenants), why)
}

func (c *copier) resumeOne(ctx context.Context, tenant string) error {
	release, err := c.directory.Claim(tenant)
	if err != nil {
		return err
	}
	defer release()
	done := c.complete(ctx, tenant, copying{})
	p, ok := c.directory.find([]byte(tenant))
	if ok && len(p.sparesThat(spareWanted)) > 0 {
		return cmp.Or(done.standby, done.missing)
	}
	if done.missing != nil {
		c.logf("tenant %s: it has no replica: %v", tenant, done.missing)
	}
	return nil
}
