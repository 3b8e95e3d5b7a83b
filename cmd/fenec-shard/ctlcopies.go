package main

import (
	"context"
	"errors"
	"flag"
	"net/http"

	"github.com/fenec-go/fenecdb/internal/process"
)

// adopted is the router's answer when it has placed a tenant where its file is.
type adopted struct {
	Tenant, Node string
	Seq          int64
	Frozen       bool
}

func declareAdopt(fs *flag.FlagSet) action {
	force := fs.Bool("force", false, "")
	return func(ctx context.Context, c *console, operands []string) error {
		body := map[string]any{}
		if *force {
			if len(operands) == 1 {
				return &process.UsageError{Err: errors.New("--force takes the node that has the file, too")}
			}
			body["force"] = true
		}
		return c.takeIn(ctx, "adopt", operands, body)
	}
}

func undeleteTenant(ctx context.Context, c *console, operands []string) error {
	return c.takeIn(ctx, "undelete", operands, map[string]any{})
}

// takeIn has a tenant placed where its file is, on the node that the operands may name.
func (c *console) takeIn(ctx context.Context, how string, operands []string, body map[string]any) error {
	if len(operands) > 1 {
		body["node"] = operands[1]
	}
	answer, err := c.shard.ask(ctx, http.MethodPost, "tenants/"+operands[0]+"/"+how, body)
	if err != nil {
		return err
	}
	var a adopted
	if err := decode(answer, &a); err != nil {
		return err
	}
	return c.show(answer, func(t *table) {
		t.line("%s is on %s, at change %s", a.Tenant, a.Node, number(a.Seq))
		if a.Frozen {
			t.line("it is frozen there; thaw ends that")
		}
	})
}

func thawTenant(ctx context.Context, c *console, operands []string) error {
	answer, err := c.shard.ask(ctx, http.MethodPost, "tenants/"+operands[0]+"/thaw", nil)
	if err != nil {
		return err
	}
	var thawed struct{ Tenant, Node string }
	if err := decode(answer, &thawed); err != nil {
		return err
	}
	return c.show(answer, func(t *table) { t.line("%s takes writes on %s", thawed.Tenant, thawed.Node) })
}

func listStrays(ctx context.Context, c *console, _ []string) error {
	var list []struct {
		Tenant, Node, Placed string
		Seq                  int64
	}
	body, err := c.shard.get(ctx, "strays", &list)
	if err != nil {
		return err
	}
	return c.show(body, func(t *table) {
		if len(list) == 0 {
			t.line("nothing is to be cleared away")
			return
		}
		t.row("TENANT", "COPY ON", "LEFT AT", "TENANT IS ON")
		for _, s := range list {
			t.row(s.Tenant, s.Node, limit(s.Seq, number), s.Placed)
		}
	})
}

func listUnplaced(ctx context.Context, c *console, _ []string) error {
	var found struct {
		Files []struct {
			Tenant, Node, Placed string
			Bytes                int64
		}
		Silent []string
	}
	body, err := c.shard.get(ctx, "unplaced", &found)
	if err != nil {
		return err
	}
	return c.show(body, func(t *table) {
		if len(found.Files) > 0 {
			t.row("TENANT", "FILE ON", "BYTES", "TENANT IS ON")
		} else if len(found.Silent) == 0 {
			t.line("the router knows of all files")
		}
		for _, f := range found.Files {
			t.row(f.Tenant, f.Node, size(f.Bytes), f.Placed)
		}
		for _, node := range found.Silent {
			t.line("node %s did not answer and may have more", node)
		}
	})
}
