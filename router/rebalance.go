package router

import (
	"context"
	"net/http"
)

// proposals are the answer to what a rebalance would do.
type proposals struct {
	Moves []proposal `json:"moves"`
	// Stuck are the tenants that must go and that no node takes.
	Stuck []Unmoved `json:"stuck"`
	// Silent are the nodes that did not answer, which the plan leaves as they are.
	Silent []string `json:"silent"`
	// BytesPerSecond is the rate that the seconds of the moves go by.
	BytesPerSecond int64 `json:"bytes_per_second"`
	Measured       bool  `json:"measured"`
}

// propose plans a rebalance.
func (rt *Router) propose(ctx context.Context) proposals {
	loads, silent := rt.loads(ctx)
	p := newPlanner(loads, rt.allows(ctx), leastGap)
	p.plan()
	all := proposals{Moves: append([]proposal{}, p.moves...), Stuck: []Unmoved{}, Silent: append([]string{}, silent...)}
	all.BytesPerSecond, all.Measured = rt.fleet.rate.perSecond()
	for i := range all.Moves {
		all.Moves[i].Seconds = seconds(all.Moves[i].Bytes, all.BytesPerSecond)
	}
	for _, s := range p.stuck {
		all.Stuck = append(all.Stuck, Unmoved{s.Tenant, ErrNoCapacity.Error()})
	}
	return all
}

func (rt *Router) getPlan(ctx context.Context) (answer, error) {
	return answer{http.StatusOK, rt.propose(ctx)}, nil
}

// postRebalance answers what a rebalance would do, and does it if it is told that this
// is no dry run.
func (rt *Router) postRebalance(ctx context.Context, r *http.Request) (answer, error) {
	dry := true
	if err := readMembers(r, members{"dry_run": boolTo(&dry)}); err != nil {
		return answer{}, err
	}
	if dry {
		return rt.getPlan(ctx)
	}
	plan, err := rt.fleet.beginRebalance(ctx)
	if err != nil {
		return answer{}, err
	}
	return answer{http.StatusAccepted, plan}, nil
}

var errRebalancing = refusing(http.StatusConflict, "a rebalance is in progress")

// beginRebalance plans a rebalance and starts it.
func (f *fleet) beginRebalance(ctx context.Context) (plan proposals, err error) {
	if err := f.claimRebalance(); err != nil {
		return plan, err
	}
	begun := false
	defer func() {
		if !begun {
			f.releaseRebalance()
		}
	}()
	plan = f.router.propose(ctx)
	to := newProgress(len(plan.Moves))
	for _, s := range plan.Stuck {
		to.fail(s.Tenant, s.Why)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return plan, ErrClosed
	}
	f.rebalance, begun = to, true
	f.running.Go(func() {
		defer f.releaseRebalance()
		f.carryOut(f.ctx, plan.Moves, to)
	})
	return plan, nil
}

// claimRebalance lets one rebalance run at a time.
func (f *fleet) claimRebalance() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.balancing {
		return errRebalancing
	}
	f.balancing = true
	return nil
}

func (f *fleet) releaseRebalance() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.balancing = false
}

// rebalanceProgress answers how far the last rebalance is.
func (rt *Router) rebalanceProgress() (answer, error) {
	rt.fleet.mu.Lock()
	last := rt.fleet.rebalance
	rt.fleet.mu.Unlock()
	if last == nil {
		last = newProgress(0)
	}
	a := struct {
		Planned int       `json:"planned"`
		Running int       `json:"running"`
		Done    int       `json:"done"`
		Failed  []Unmoved `json:"failed"`
	}{Failed: last.failures(func(string) bool { return true })}
	last.mu.Lock()
	a.Planned, a.Running, a.Done = last.planned, len(last.moving), last.done
	last.mu.Unlock()
	return answer{http.StatusOK, a}, nil
}
