package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/internal/process"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// tenantEntry is a tenant as the router lists it.
type tenantEntry struct {
	Name   string `json:"name"`
	Node   string `json:"node"`
	State  string `json:"state"`
	To     string `json:"to"`     // of one that moves
	Status string `json:"status"` // "" if it is active
	Epoch  int64  `json:"epoch"`
	Bytes  *int64 `json:"bytes"` // nil where its node did not say

	Replica  string   `json:"replica"`  // the node that has one, "" for none
	Replicas []string `json:"replicas"` // those of a tenant with several
}

// size returns what the tenant's file takes up, as text.
func (e tenantEntry) size() string {
	if e.Bytes == nil {
		return ""
	}
	return size(*e.Bytes)
}

// doing returns whether the tenant is at rest, or where it goes.
func (e tenantEntry) doing() string {
	if e.State == "moving" && e.To != "" {
		return "moving to " + e.To
	}
	return e.State
}

func declareTenants(fs *flag.FlagSet) action {
	bytes := fs.Bool("bytes", false, "")
	return func(ctx context.Context, c *console, _ []string) error { return listTenants(ctx, c, *bytes) }
}

func listTenants(ctx context.Context, c *console, bytes bool) error {
	path := "tenants"
	if bytes {
		path += "?bytes"
	}
	var list []tenantEntry
	body, err := c.shard.get(ctx, path, &list)
	if err != nil {
		return err
	}
	replicated := slices.ContainsFunc(list, func(e tenantEntry) bool { return len(e.copies()) > 0 })
	return c.show(body, func(t *table) {
		row := func(size, copies string, cells ...string) {
			if bytes {
				cells = append(cells, size)
			}
			if replicated {
				cells = append(cells, copies)
			}
			t.row(cells...)
		}
		row("BYTES", "REPLICA ON", "TENANT", "NODE", "STATE", "STATUS", "EPOCH")
		for _, e := range list {
			row(e.size(), strings.Join(e.copies(), ","), e.Name, e.Node, e.doing(), cmp.Or(e.Status, "active"), number(e.Epoch))
		}
	})
}

func declareCreate(fs *flag.FlagSet) action {
	var body struct {
		Node   string          `json:"node,omitempty"`
		Schema json.RawMessage `json:"schema,omitempty"`
		Quota  *quota.Limits   `json:"quota,omitempty"`
	}
	fs.StringVar(&body.Node, "node", "", "")
	fs.Func("quota", "", func(s string) error {
		l, err := quota.Parse([]byte(s))
		body.Quota = &l
		return err
	})
	fs.Func("schema", "", func(name string) (err error) {
		body.Schema, err = readSchema(name)
		return err
	})
	return func(ctx context.Context, c *console, operands []string) error {
		answer, err := c.shard.ask(ctx, http.MethodPut, "tenants/"+operands[0], body)
		if err != nil {
			return err
		}
		var made created
		if err := decode(answer, &made); err != nil {
			return err
		}
		return c.show(answer, made.lines)
	}
}

// created is the router's answer to a tenant that was made.
type created struct {
	Tenant, Node string
	Replica      string // why the standby has no copy
	kept
}

func (m created) lines(t *table) {
	t.line("%s is on %s", m.Tenant, m.Node)
	if m.Replica != "" {
		t.line("the standby has no copy yet: %s", m.Replica)
	}
	m.kept.line(t)
}

// readSchema reads a description of a schema, as JSON, or as the statements that create
// its collections.
func readSchema(name string) (json.RawMessage, error) {
	text, err := os.ReadFile(name)
	if err != nil || json.Valid(text) {
		return text, err
	}
	return json.Marshal(map[string]any{"format": 1, "fenecql": string(text)})
}

func deleteTenant(ctx context.Context, c *console, operands []string) error {
	if _, err := c.shard.ask(ctx, http.MethodDelete, "tenants/"+operands[0], nil); err != nil {
		return err
	}
	return c.say("%s is deleted", operands[0])
}

func declareStatusSet(fs *flag.FlagSet) action {
	why := fs.String("why", "", "")
	return func(ctx context.Context, c *console, operands []string) error {
		status, err := tenant.ParseStatus(operands[1])
		if err != nil {
			return &process.UsageError{Err: err}
		}
		body := map[string]string{"status": status.String()}
		if *why != "" {
			body["why"] = *why
		}
		answer, err := c.shard.ask(ctx, http.MethodPut, "tenants/"+operands[0]+"/status", body)
		if err != nil {
			return err
		}
		return c.show(answer, func(t *table) { t.line("%s is %s", operands[0], status) })
	}
}
