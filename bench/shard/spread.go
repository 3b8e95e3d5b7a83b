package main

import (
	"context"
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/router"
	"github.com/fenec-go/fenecdb/tenant/node"
)

const spreadTenants = 30

// measureSpread measures tenants each of which has a replica on another of three nodes.
func measureSpread(ctx context.Context, e *env) error {
	three := []func(*node.Options){asItIs, asItIs, asItIs}
	return e.withNodes("spread", three, func(nodes []*nearNode) error {
		return e.withNear("spread", nodes, router.Options{Replicas: true}, func(c *near) error {
			return c.spread(ctx)
		})
	})
}

func (c *near) spread(ctx context.Context) error {
	s, err := c.newSyncs("spread-syncs")
	if err != nil {
		return err
	}
	defer s.close()
	first, err := c.createAll(ctx, spreadTenants, s)
	if err != nil {
		return err
	}
	at, _ := c.directory.Tenant(first)
	got, err := c.lag(ctx, first, c.named(at.Replicas[0]), s)
	if err != nil {
		return err
	}
	c.tellLag(got, s)
	if err := c.allLevel(ctx); err != nil {
		return err
	}
	if err := c.nodes[0].stop(); err != nil {
		return err
	}
	if err := c.failOver(ctx, spreadTenants/len(c.nodes), first, s.median()); err != nil {
		return err
	}
	if err := c.nodes[0].start(); err != nil {
		return err
	}
	return c.repair(ctx)
}

// createAll makes tenants, as many on each node, and returns the first on the first one.
func (c *near) createAll(ctx context.Context, tenants int, s *syncs) (first string, err error) {
	var took []float64
	held := map[string]int{}
	for i := range tenants {
		name := fmt.Sprintf("tenant-%02d", i)
		start := time.Now()
		if err := c.create(ctx, name, c.nodes[i%len(c.nodes)].name); err != nil {
			return "", err
		}
		took = append(took, float64(time.Since(start)))
		if err := s.once(); err != nil {
			return "", err
		}
		at, ok := c.directory.Tenant(name)
		if !ok || len(at.Replicas) != 1 {
			return "", fmt.Errorf("tenant %s has no replica", name)
		}
		held[at.Replicas[0]]++
	}
	create := measure.Median(took)
	c.out.Line("creating one with its replica, one fsync", report.Duration, create, s.median(), create/s.median(), report.Goal{})
	c.note("  replicas: %v", held)
	return "tenant-00", nil
}

func (c *near) named(name string) *nearNode {
	for _, n := range c.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// allLevel waits until every replica has what its primary has.
func (c *near) allLevel(ctx context.Context) error {
	for _, t := range c.directory.Tenants() {
		for _, replica := range t.Replicas {
			if err := c.level(ctx, t.Name, c.named(t.Node), c.named(replica)); err != nil {
				return err
			}
		}
	}
	return nil
}

// repair gives replicas to those that have lost theirs, and tells how many of them are on
// copies that the node had which is back.
func (c *near) repair(ctx context.Context) error {
	start := time.Now()
	done := c.router.Repair(ctx)
	took := time.Since(start)
	if len(done.Failed) > 0 {
		return fmt.Errorf("a repair failed: %v", done.Failed)
	}
	back := 0
	for _, r := range done.Replicated {
		if r.Replica == "n1" {
			back++
		}
	}
	c.note("a repair: %v for %d tenants, %d of them on copies that the node had", took.Round(time.Millisecond), len(done.Replicated), back)
	return c.allLevel(ctx)
}
