package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
)

// drained is the router's answer on how far a node is drained.
type drained struct {
	Node     string
	Left     int // tenants placed on it
	Replicas int // of others
	Moving   int
	Failed   []unmoved
}

func declareDrain(fs *flag.FlagSet) action {
	noWait := fs.Bool("no-wait", false, "")
	return func(ctx context.Context, c *console, operands []string) error {
		path := "nodes/" + operands[0] + "/drain"
		answer, err := c.shard.ask(ctx, http.MethodPost, path, nil)
		var d drained
		if err == nil {
			err = decode(answer, &d)
		}
		switch {
		case err != nil:
			return err
		case *noWait:
			return c.show(answer, d.rows)
		}
		return c.finish(ctx, path, &draining{first: d.Left})
	}
}

func drainStatus(ctx context.Context, c *console, operands []string) error {
	var d drained
	body, err := c.shard.get(ctx, "nodes/"+operands[0]+"/drain", &d)
	if err != nil {
		return err
	}
	return c.show(body, d.rows)
}

// rows writes what is left to be moved.
func (d drained) rows(t *table) {
	t.row("NODE", "LEFT", "REPLICAS", "MOVING")
	t.row(d.Node, number(int64(d.Left)), number(int64(d.Replicas)), number(int64(d.Moving)))
	unmovedLines(t, d.Failed)
}

func undrain(ctx context.Context, c *console, operands []string) error {
	if _, err := c.shard.ask(ctx, http.MethodPost, "nodes/"+operands[0]+"/undrain", nil); err != nil {
		return err
	}
	return c.say("%s may have tenants again", operands[0])
}

// mostListed is how many failures the router lists.
const mostListed = 1000

// patience is how many looks in a row may find that everything left has failed. The
// router tries again by itself, the first time after 5 s.
const patience = 20

// draining is a drain that is waited for.
type draining struct {
	first int // how many tenants there were
	idle  int // looks since something was last to be hoped for
	drained
}

func (d *draining) see(answer []byte) (over bool, err error) {
	d.drained = drained{}
	err = decode(answer, &d.drained)
	d.idle++
	if d.Moving > 0 || len(d.Failed) < min(d.Left+d.Replicas, mostListed) {
		d.idle = 0
	}
	return d.Left+d.Replicas == 0 || d.idle >= patience, err
}

func (d *draining) progress() string {
	off := d.first - d.Left
	line := fmt.Sprintf("%s %d of %s moved off, %d moving, %d failed", bar(off, d.first), off, count(d.first, "tenant"), d.Moving, len(d.Failed))
	if d.Replicas > 0 {
		line += ", " + count(d.Replicas, "replica") + " left"
	}
	return line
}

func (d *draining) result(t *table) error {
	if d.Left+d.Replicas == 0 {
		t.line("%s is empty, and no tenants are placed there", d.Node)
		return nil
	}
	d.rows(t)
	if d.Left == 0 {
		return fmt.Errorf("all tenants are moved off, but %s cannot be placed elsewhere now; the router goes on trying", count(d.Replicas, "replica"))
	}
	return fmt.Errorf("%s cannot be moved off now; the router goes on trying", count(d.Left, "tenant"))
}
