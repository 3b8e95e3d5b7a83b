package main

import (
	"context"
	"net/http"
	"strings"
)

// stood is the router's answer to a node that is recorded.
type stood struct {
	Unreplicated []string // tenants that its standby has no copy of yet
}

// setStandby records a node's standby, "" for none. Its token has to be given again, as
// the router gives no token out.
func setStandby(ctx context.Context, c *console, node, token, standby string) error {
	n, err := c.findNode(ctx, node)
	if err != nil {
		return err
	}
	record := map[string]string{"addr": n.Addr, "token": token, "standby": standby}
	answer, err := c.shard.ask(ctx, http.MethodPut, "nodes/"+node, record)
	if err != nil {
		return err
	}
	var done stood
	if err := decode(answer, &done); err != nil {
		return err
	}
	return c.show(answer, func(t *table) { done.line(t, node, standby) })
}

// line tells of a node's standby.
func (s stood) line(t *table, node, standby string) {
	if standby == "" {
		t.line("%s has no standby", node)
		return
	}
	t.line("%s stands by %s", standby, node)
	if len(s.Unreplicated) > 0 {
		t.line("it has no copy yet of %s; the router goes on trying", strings.Join(s.Unreplicated, ", "))
	}
}
