package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/router"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// What the failover of one tenant may take beside one sync.
const takeOverTime = float64(2 * time.Millisecond)

const pairTenants = 20

// measurePair measures how far a standby is behind, and has it take over.
func measurePair(ctx context.Context, e *env) error {
	buffer := func(o *node.Options) { o.ReplicationBuffer = 32 << 20 }
	return e.withNodes("pair", []func(*node.Options){buffer}, func(nodes []*nearNode) (err error) {
		standby, err := e.startNode("n2", e.path("pair"), buffer, func(o *node.Options) {
			o.ReplicaOf = nodes[0].url()
			o.Tenants.DB.Sync = fenec.Sync(250 * time.Millisecond)
		})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, standby.stop()) }()
		return e.withNear("pair", []*nearNode{nodes[0], standby}, router.Options{}, func(c *near) error {
			return c.pair(ctx)
		})
	})
}

func (c *near) pair(ctx context.Context) error {
	n1, n2 := c.nodes[0], c.nodes[1]
	s, err := c.newSyncs("pair-syncs")
	if err != nil {
		return err
	}
	defer s.close()
	if err := c.manage(ctx, "PUT", "nodes/n1", fmt.Sprintf(`{"addr":%q,"token":%q,"standby":"n2"}`, n1.addr, adminToken), nil); err != nil {
		return err
	}
	names := make([]string, pairTenants)
	for i := range names {
		names[i] = fmt.Sprintf("tenant-%02d", i)
		if err := c.create(ctx, names[i], "n1"); err != nil {
			return err
		}
	}
	got, err := c.lag(ctx, names[0], n2, s)
	if err != nil {
		return err
	}
	c.tellLag(got, s)
	for _, name := range names[1:] {
		if _, err := c.write(ctx, name); err != nil {
			return err
		}
		if err := c.level(ctx, name, n1, n2); err != nil {
			return err
		}
	}
	if err := n1.stop(); err != nil {
		return err
	}
	return c.failOver(ctx, pairTenants, names[0], s.median())
}

// write writes to a tenant through the router and returns how long that took.
func (c *near) write(ctx context.Context, name string) (time.Duration, error) {
	start := time.Now()
	_, err := successful(send(ctx, "POST", c.url+"/t/"+name+"/docs", dataToken, []byte(`{"n":1}`)))
	return time.Since(start), err
}

// levelPause is between two looks at how far a copy has come.
const levelPause = time.Millisecond

// level waits until two nodes have the same of a tenant.
func (c *near) level(ctx context.Context, name string, one, other *nearNode) error {
	for {
		at, err := one.last(ctx, name)
		if err != nil {
			return err
		}
		if is, err := other.last(ctx, name); err != nil || is == at {
			return err
		}
		if err := sleep(ctx, levelPause); err != nil {
			return err
		}
	}
}

// failOver fails n1 over, which has that many tenants, tells how long that took of each,
// and writes to one of them.
func (c *near) failOver(ctx context.Context, tenants int, name string, sync float64) error {
	start := time.Now()
	done, err := c.router.FailOver(ctx, "n1", false)
	took := float64(time.Since(start))
	if err != nil {
		return err
	}
	if len(done.Failed) > 0 || len(done.Promoted) != tenants {
		return fmt.Errorf("of %d tenants %d were promoted: %v", tenants, len(done.Promoted), done.Failed)
	}
	first, err := c.write(ctx, name)
	if err != nil {
		return err
	}
	to := map[string]int{}
	for _, p := range done.Promoted {
		to[p.To]++
	}
	c.atMost(fmt.Sprintf("failover of %d, per tenant, one fsync + 2 ms", tenants), report.Duration, took/float64(tenants), sync+takeOverTime)
	c.note("  %s in all, to %v; the first write then: %s", report.Duration(took), to, report.Duration(float64(first)))
	return nil
}
