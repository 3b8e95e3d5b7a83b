package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// copies returns the nodes that a tenant's replicas are on. One that its node's standby
// has is not among them.
func (e tenantEntry) copies() []string {
	if len(e.Replicas) > 0 {
		return e.Replicas
	}
	if e.Replica != "" {
		return []string{e.Replica}
	}
	return nil
}

// kept is what answers say of the replica of a tenant.
type kept struct {
	ReplicaOn    string `json:"replica_on"`
	Unreplicated string // why it has none that is to have one
}

func (k kept) line(t *table) {
	if k.ReplicaOn != "" {
		t.line("its replica is on %s", k.ReplicaOn)
	}
	if k.Unreplicated != "" {
		t.line("it has no replica: %s", k.Unreplicated)
	}
}

// cluster is what the router says of its nodes and tenants.
type cluster struct {
	nodes   []nodeEntry
	tenants []tenantEntry
	answers []byte // a line each
}

func (c *console) look(ctx context.Context) (cl cluster, err error) {
	nodes, err := c.shard.get(ctx, "nodes", &cl.nodes)
	if err != nil {
		return cl, err
	}
	tenants, err := c.shard.get(ctx, "tenants", &cl.tenants)
	cl.answers = slices.Concat(nodes, []byte("\n"), tenants)
	return cl, err
}

// standbys returns the standbys, by the node that each stands by.
func (cl cluster) standbys() map[string]string {
	by := map[string]string{}
	for _, n := range cl.nodes {
		if n.Standby != "" {
			by[n.Name] = n.Standby
		}
	}
	return by
}

// bare returns the tenants that would be lost with their node.
func (cl cluster) bare() (names []string) {
	standbys := cl.standbys()
	for _, e := range cl.tenants {
		if len(e.copies()) == 0 && standbys[e.Node] == "" {
			names = append(names, e.Name)
		}
	}
	return names
}

// mostNamed is how many names a line has.
const mostNamed = 10

// named returns names as a line has them.
func named(names []string) string {
	if len(names) <= mostNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %s more", strings.Join(names[:mostNamed], ", "), number(int64(len(names)-mostNamed)))
}

func listReplicas(ctx context.Context, c *console, _ []string) error {
	cl, err := c.look(ctx)
	if err != nil {
		return err
	}
	standbys := cl.standbys()
	return c.show(cl.answers, func(t *table) {
		t.row("TENANT", "NODE", "REPLICA ON", "STANDBY")
		for _, e := range cl.tenants {
			t.row(e.Name, e.Node, strings.Join(e.copies(), ","), standbys[e.Node])
		}
		cl.bareLine(t)
	})
}

func (cl cluster) bareLine(t *table) {
	if names := cl.bare(); len(names) > 0 {
		t.line("%s without a copy on another node: %s", count(len(names), "tenant"), named(names))
	}
}

// repaired is the router's answer to a repair.
type repaired struct {
	Replicated []struct{ Tenant, Replica string }
	Failed     []unmoved
}

func repairReplicas(ctx context.Context, c *console, _ []string) error {
	var r repaired
	answer, err := c.shard.askSeveral(ctx, "replicas", nil, &r)
	if err != nil {
		return err
	}
	if err := c.show(answer, r.rows); err != nil || len(r.Failed) == 0 {
		return err
	}
	return fmt.Errorf("%s without a replica", count(len(r.Failed), "tenant"))
}

func (r repaired) rows(t *table) {
	switch {
	case len(r.Replicated) > 0:
		t.row("TENANT", "REPLICA ON")
	case len(r.Failed) == 0:
		t.line("no tenant lacks a replica")
	}
	for _, done := range r.Replicated {
		t.row(done.Tenant, done.Replica)
	}
	for _, u := range r.Failed {
		t.line("%s has no replica: %s", u.Tenant, u.Why)
	}
}
