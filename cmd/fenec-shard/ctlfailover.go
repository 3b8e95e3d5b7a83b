package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
)

// failedOver is the router's answer to a failover.
type failedOver struct {
	Node, To     string // To is the standby, "" for none
	Promoted     []promoted
	Elsewhere    []promoted // of a pair: by replicas, where the standby had not all
	Failed       []unmoved  // one without a tenant is about the pair
	Unreplicated []string
}

// promoted is a tenant whose copy has taken over. To is "" where that is on the standby,
// as answers name the tenant alone then.
type promoted struct{ Tenant, To string }

func (p *promoted) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, &p.Tenant)
	}
	type whole promoted
	return json.Unmarshal(text, (*whole)(p))
}

func declareFailover(fs *flag.FlagSet) action {
	force := fs.Bool("force", false, "")
	return func(ctx context.Context, c *console, operands []string) error {
		body := map[string]bool{}
		if *force {
			body["force"] = true
		}
		return failOver(ctx, c, operands[0], body)
	}
}

func failOver(ctx context.Context, c *console, node string, body map[string]bool) error {
	var f failedOver
	answer, err := c.shard.askSeveral(ctx, "nodes/"+node+"/failover", body, &f)
	if err != nil {
		return err
	}
	if err := c.show(answer, f.rows); err != nil || len(f.Failed) == 0 {
		return err
	}
	return fmt.Errorf("%s is not wholly failed over; it can be tried again", f.Node)
}

func (f failedOver) rows(t *table) {
	if len(f.Promoted)+len(f.Elsewhere) > 0 {
		t.row("TENANT", "NOW ON")
	} else {
		t.line("no tenant of %s has another node now", f.Node)
	}
	for _, p := range f.Promoted {
		t.row(p.Tenant, f.To+p.To)
	}
	for _, p := range f.Elsewhere {
		t.row(p.Tenant, p.To)
	}
	for _, u := range f.Failed {
		if u.Tenant == "" {
			t.line("the pair has not ended: %s", u.Why)
			continue
		}
		t.line("%s is still on %s: %s", u.Tenant, f.Node, u.Why)
	}
	if len(f.Unreplicated) > 0 {
		t.line("without a replica now, as that was on %s: %s", f.Node, strings.Join(f.Unreplicated, ", "))
	}
}
