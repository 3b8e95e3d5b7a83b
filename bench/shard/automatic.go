package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/router"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// measureAutomatic cuts a node off from which tenants are failed over for it.
func measureAutomatic(ctx context.Context, e *env) error {
	return e.leased("automatic", func(c *near, cables []*cable) error {
		for i := range spreadTenants {
			if err := c.create(ctx, fmt.Sprintf("tenant-%02d", i), c.nodes[i%len(c.nodes)].name); err != nil {
				return err
			}
		}
		return c.cutOff(ctx, cables[0], c.tried)
	})
}

// measureCrowd has many tenants in one failover, beside two nodes with one each.
func measureCrowd(ctx context.Context, e *env) error {
	return e.leased("crowd", func(c *near, cables []*cable) error {
		if err := c.createCrowd(ctx); err != nil {
			return err
		}
		return c.cutOff(ctx, cables[0], c.placed)
	})
}

// leased calls fn with three nodes that write under leases, each behind a cable.
func (e *env) leased(dir string, fn func(*near, []*cable) error) error {
	lease := func(o *node.Options) { o.Lease = true }
	return e.withNodes(dir, []func(*node.Options){lease, lease, lease}, func(nodes []*nearNode) error {
		var cables []*cable
		for _, n := range nodes {
			c, err := newCable(n.listen)
			if err != nil {
				return err
			}
			defer c.close()
			n.addr = c.addr()
			cables = append(cables, c)
		}
		return e.withNear(dir, nodes, router.Options{Replicas: true, AutoFailover: e.term}, func(c *near) error {
			return fn(c, cables)
		})
	})
}

// creators is how many tenants of a crowd are made at once.
const creators = 8

func (c *near) createCrowd(ctx context.Context) error {
	for _, name := range []string{"n2", "n3"} {
		if err := c.create(ctx, "witness-"+name, name); err != nil {
			return err
		}
	}
	var making sync.WaitGroup
	var next atomic.Int64
	errs := make([]error, creators)
	for i := range creators {
		making.Go(func() {
			for n := next.Add(1); errs[i] == nil && n <= int64(c.crowd); n = next.Add(1) {
				errs[i] = c.create(ctx, fmt.Sprintf("tenant-%04d", n), "n1")
			}
		})
	}
	making.Wait()
	return errors.Join(errs...)
}

// cutOff cuts the first node off, and tells when it stopped writing and when its tenants
// were written elsewhere, and whether any other node stopped meanwhile.
func (c *near) cutOff(ctx context.Context, first *cable, written func(context.Context, []string, time.Time) ([]time.Duration, error)) error {
	if err := c.allLevel(ctx); err != nil {
		return err
	}
	lost := c.placedOn("n1")
	ctx, stop := context.WithTimeout(ctx, 30*time.Second+20*c.term)
	defer stop()
	refusals := c.watchOthers(ctx)
	start := time.Now()
	first.cut()
	defer first.mend()
	fence := make(chan error, 1)
	var fenced time.Duration
	go func() {
		var err error
		fenced, err = c.awaitFence(ctx, lost[0], start)
		fence <- err
	}()
	again, err := written(ctx, lost, start)
	if err := errors.Join(err, <-fence); err != nil {
		return err
	}
	refused := refusals()
	sync, err := c.oneSync()
	if err == nil {
		c.tellCutOff(fenced, again, refused, sync)
	}
	return err
}

// placedOn returns the tenants of a node.
func (c *near) placedOn(node string) (names []string) {
	for _, t := range c.directory.Tenants() {
		if t.Node == node {
			names = append(names, t.Name)
		}
	}
	return names
}

// tellCutOff prints how long after the cut all was. sync is what one takes, in nanoseconds.
func (c *near) tellCutOff(fenced time.Duration, again []time.Duration, refusals int64, sync float64) {
	soonest, latest := slices.Min(again), slices.Max(again)
	c.out.Line("node that is cut off refuses writes, one term", report.Duration, float64(fenced), float64(c.term),
		fenced.Seconds()/c.term.Seconds(), report.AtMost(1))
	c.out.Line("  and no sooner", report.Duration, float64(fenced), float64(c.term),
		fenced.Seconds()/c.term.Seconds(), report.AtLeast(0.66))
	promotions := float64(latest - soonest)
	bound := float64(c.term)*(1.1+1.0/3) + promotions
	c.atMost("all are written elsewhere, 1.43 terms + promotions", report.Duration, float64(latest), bound)
	c.note("  %d tenants, the first after %s", len(again), report.Duration(float64(soonest)))
	c.atMost("promotions, per tenant, one fsync + 2 ms", report.Duration, promotions/float64(max(1, len(again)-1)), sync+takeOverTime)
	if refusals > 0 {
		c.out.Miss("other nodes go on writing", fmt.Sprintf("%d writes were refused", refusals), report.AtMost(1))
	} else {
		c.note("no other node refused a write")
	}
}

// watchPause is between two writes to a node that should go on.
const watchPause = 5 * time.Millisecond

// watchOthers writes to a tenant of each of the other nodes, past the router, until it is
// asked how often they have refused it.
func (c *near) watchOthers(ctx context.Context) (refusals func() int64) {
	ctx, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	var count atomic.Int64
	for _, n := range c.nodes[1:] {
		url := n.url() + "/t/" + c.placedOn(n.name)[0] + "/docs"
		watching.Go(func() {
			for sleep(ctx, watchPause) == nil {
				a, err := send(ctx, "POST", url, dataToken, []byte(`{"n":1}`))
				if ctx.Err() == nil && (err != nil || a.Status != http.StatusCreated) {
					count.Add(1)
				}
			}
		})
	}
	return func() int64 {
		stop()
		watching.Wait()
		return count.Load()
	}
}

// awaitFence writes to the first node past the cable until it refuses.
func (c *near) awaitFence(ctx context.Context, name string, start time.Time) (time.Duration, error) {
	url := c.nodes[0].url() + "/t/" + name + "/docs"
	for {
		a, err := send(ctx, "POST", url, dataToken, []byte(`{"n":1}`))
		if err != nil {
			return 0, err
		}
		if a.Status == http.StatusServiceUnavailable {
			return time.Since(start), nil
		}
		if err := sleep(ctx, time.Millisecond); err != nil {
			return 0, err
		}
	}
}

// tryFor is how long one try to write may take: it may have gone to the node that is cut off.
const tryFor = 50 * time.Millisecond

// tried returns when each tenant was written through the router, which is tried over a
// connection of its own each time.
func (c *near) tried(ctx context.Context, tenants []string, start time.Time) ([]time.Duration, error) {
	again, errs := make([]time.Duration, len(tenants)), make([]error, len(tenants))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: tryFor}
	var trying sync.WaitGroup
	for i, name := range tenants {
		trying.Go(func() {
			for errs[i] == nil && !c.try(ctx, client, name) {
				errs[i] = sleep(ctx, levelPause)
			}
			again[i] = time.Since(start)
		})
	}
	trying.Wait()
	return again, errors.Join(errs...)
}

// try reports whether a write is answered as done.
func (c *near) try(ctx context.Context, client *http.Client, name string) bool {
	req, err := http.NewRequestWithContext(ctx, "POST", c.url+"/t/"+name+"/docs", strings.NewReader(`{"n":1}`))
	if err != nil {
		return false
	}
	req.Header.Set("Authorization", "Bearer "+dataToken)
	res, err := client.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusCreated
}

// placed returns when the directory placed each tenant elsewhere, and writes to each when
// that is so of all: they are too many to be tried at once.
func (c *near) placed(ctx context.Context, tenants []string, start time.Time) ([]time.Duration, error) {
	again := make([]time.Duration, 0, len(tenants))
	for left := slices.Clone(tenants); len(left) > 0; {
		left = slices.DeleteFunc(left, func(name string) bool {
			at, _ := c.directory.Tenant(name)
			if at.Node == "n1" {
				return false
			}
			again = append(again, time.Since(start))
			return true
		})
		if err := sleep(ctx, levelPause); err != nil {
			return nil, err
		}
	}
	for _, name := range tenants {
		if _, err := c.write(ctx, name); err != nil {
			return nil, err
		}
	}
	return again, nil
}
