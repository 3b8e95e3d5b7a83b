package main

import (
	"context"
	"net/http"
	"strconv"
	"strings"
)

// figures are samples of a page of metrics, by their names with their labels.
type figures map[string]float64

func (c *console) figures(ctx context.Context) (figures, error) {
	page, err := c.shard.send(ctx, c.shard.key, http.MethodGet, "_metrics", nil)
	if err != nil {
		return nil, err
	}
	f := figures{}
	for line := range strings.Lines(string(page)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			f[name] = value
		}
	}
	return f, nil
}

// of returns a node's sample of a family.
func (f figures) of(family, node string) (value float64, ok bool) {
	value, ok = f[family+`{node="`+node+`"}`]
	return value, ok
}

// whole returns a node's sample as text, "" where there is none.
func (f figures) whole(family, node string) string {
	value, ok := f.of(family, node)
	if !ok {
		return ""
	}
	return number(int64(value))
}

// lease tells how a node's lease stands, "" of a router that grants none.
func (f figures) lease(node string) string {
	if lost, _ := f.of("fenec_router_node_failed_over", node); lost != 0 {
		return "lost"
	}
	age, ok := f.of("fenec_router_lease_age_seconds", node)
	if !ok {
		return ""
	}
	return "taken " + took(age) + " ago"
}

func showStatus(ctx context.Context, c *console, _ []string) error {
	cl, err := c.look(ctx)
	if err != nil {
		return err
	}
	f, err := c.figures(ctx)
	if err != nil {
		return err
	}
	return c.show(cl.answers, func(t *table) {
		t.row("NODE", "ADDRESS", "ROLE", "TENANTS", "REPLICAS", "STANDBY", "LEASE")
		for _, n := range cl.nodes {
			t.row(n.Name, n.Addr, n.role(), f.whole("fenec_router_tenants", n.Name), f.whole("fenec_router_replicas", n.Name), n.Standby, f.lease(n.Name))
		}
		cl.summary(t)
		f.routers(t)
	})
}

// summary tells of the tenants.
func (cl cluster) summary(t *table) {
	moving, troubled := 0, []string{}
	for _, e := range cl.tenants {
		if e.State == "moving" {
			moving++
		}
		if e.Status != "" {
			troubled = append(troubled, e.Name+" "+e.Status)
		}
	}
	t.line("%s, %d moving", count(len(cl.tenants), "tenant"), moving)
	if len(troubled) > 0 {
		t.line("not active: %s", named(troubled))
	}
	cl.bareLine(t)
}

// routers tells how the router stands to others.
func (f figures) routers(t *table) {
	if f["fenec_router_following"] == 0 {
		if n, ok := f["fenec_replicas"]; ok {
			t.line("the router takes changes; %s it", follow(int(n)))
		}
		return
	}
	if f["fenec_replica_connected"] == 0 {
		t.line("the router follows another one, which does not answer")
		return
	}
	t.line("the router follows another one, %s behind", count(int(f["fenec_replica_behind"]), "change"))
}

func follow(routers int) string {
	if routers == 1 {
		return "1 router follows"
	}
	return count(routers, "router") + " follow"
}
