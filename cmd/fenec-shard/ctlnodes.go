package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/router"
)

// nodeEntry is a node as the router lists it.
type nodeEntry struct {
	Name     string `json:"name"`
	Addr     string `json:"addr"`
	Draining bool   `json:"draining"`
	Standby  string `json:"standby"`
	attrs
}

// attrs are what the placing of tenants goes by.
type attrs struct {
	Role       string            `json:"role,omitempty"`
	MaxTenants int64             `json:"max_tenants,omitempty"`
	MaxBytes   int64             `json:"max_bytes,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
}

// attrFlags are the lines of the help on attributes.
const attrFlags = `--role <role>       shared, or dedicated to tenants that are put there by name
--max-tenants <n>   as many are placed there; 0 is no limit
--max-bytes <size>  none is placed there above that; 0 is no limit
--label <k=v>       for a placer of your own, more than once; k= takes it away`

// attrChanges are what flags want changed of attributes, in their order.
type attrChanges []func(*attrs)

func (ch *attrChanges) declare(fs *flag.FlagSet) {
	fs.Func("role", "", func(s string) error {
		*ch = append(*ch, func(a *attrs) { a.Role = s })
		if s != "shared" && s != "dedicated" {
			return errors.New("want shared or dedicated")
		}
		return nil
	})
	fs.Func("max-tenants", "", func(s string) error {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n < 0 {
			return errors.New("want a number, 0 or above")
		}
		*ch = append(*ch, func(a *attrs) { a.MaxTenants = n })
		return nil
	})
	fs.Func("max-bytes", "", func(s string) error {
		n, err := parseSize(s)
		*ch = append(*ch, func(a *attrs) { a.MaxBytes = n })
		return err
	})
	fs.Func("label", "", func(s string) error {
		k, v, ok := strings.Cut(s, "=")
		if !ok || k == "" {
			return errors.New("want name=value")
		}
		*ch = append(*ch, func(a *attrs) { a.label(k, v) })
		return nil
	})
}

func (a *attrs) label(k, v string) {
	if v == "" {
		delete(a.Labels, k)
		return
	}
	if a.Labels == nil {
		a.Labels = map[string]string{}
	}
	a.Labels[k] = v
}

// put makes the changes to a node's attributes. The others stay as they are, although
// the router only knows how to replace them all.
func (ch attrChanges) put(ctx context.Context, c *console, node string) ([]byte, error) {
	n, err := c.findNode(ctx, node)
	if err != nil {
		return nil, err
	}
	for _, change := range ch {
		change(&n.attrs)
	}
	return c.shard.ask(ctx, http.MethodPut, "nodes/"+node+"/attrs", n.attrs)
}

// findNode returns what the router says of a node.
func (c *console) findNode(ctx context.Context, node string) (nodeEntry, error) {
	var list []nodeEntry
	if _, err := c.shard.get(ctx, "nodes", &list); err != nil {
		return nodeEntry{}, err
	}
	for _, n := range list {
		if n.Name == node {
			return n, nil
		}
	}
	return nodeEntry{}, fmt.Errorf("the router has no node %s", node)
}

func listNodes(ctx context.Context, c *console, _ []string) error {
	var list []nodeEntry
	body, err := c.shard.get(ctx, "nodes", &list)
	if err != nil {
		return err
	}
	return c.show(body, func(t *table) { nodeRows(t, list...) })
}

// nodeRows writes a table of nodes, with their standbys if there are any.
func nodeRows(t *table, list ...nodeEntry) {
	paired := slices.ContainsFunc(list, func(n nodeEntry) bool { return n.Standby != "" })
	row := func(standby string, cells ...string) {
		if paired {
			cells = append(cells, standby)
		}
		t.row(cells...)
	}
	row("STANDBY", "NODE", "ADDRESS", "ROLE", "MAX TENANTS", "MAX BYTES", "LABELS")
	for _, n := range list {
		row(n.Standby, n.Name, n.Addr, n.role(), limit(n.MaxTenants, number), limit(n.MaxBytes, size), pairs(n.Labels))
	}
}

// role returns which tenants the node takes.
func (n nodeEntry) role() string {
	role := n.Role
	if role == "" {
		role = "shared"
	}
	if n.Draining {
		role += ", draining"
	}
	return role
}

// standbyFlags are the lines of the help on standbys.
const standbyFlags = `--standby <node>    it has a copy of each tenant there, and takes over in a failover
--no-standby        it has none
--node-token <t>    its admin token, which either takes; also FENEC_NODE_TOKEN`

// declareNodeToken adds the flag of a node's admin token.
func declareNodeToken(fs *flag.FlagSet) *string {
	token := os.Getenv("FENEC_NODE_TOKEN")
	fs.Func("node-token", "", func(s string) error {
		token = s
		return nil
	})
	return &token
}

func declareNodeAdd(fs *flag.FlagSet) action {
	addr := fs.String("addr", "", "")
	token := declareNodeToken(fs)
	standby := fs.String("standby", "", "")
	var changes attrChanges
	changes.declare(fs)
	return func(ctx context.Context, c *console, operands []string) error {
		switch {
		case *addr == "":
			return misuse("--addr is missing")
		case *token == "":
			return misuse("--node-token is missing")
		}
		record := map[string]string{"addr": *addr, "token": *token}
		if *standby != "" {
			record["standby"] = *standby
		}
		return addNode(ctx, c, operands[0], record, changes)
	}
}

// addNode records a node and then its attributes, if there are any to be set.
func addNode(ctx context.Context, c *console, node string, record map[string]string, changes attrChanges) error {
	answer, err := c.shard.ask(ctx, http.MethodPut, "nodes/"+node, record)
	if err != nil {
		return err
	}
	var done stood
	if err := decode(answer, &done); err != nil {
		return err
	}
	if len(changes) > 0 {
		if answer, err = changes.put(ctx, c, node); err != nil {
			return fmt.Errorf("the node is recorded, but not its attributes: %w", err)
		}
	}
	return c.show(answer, func(t *table) {
		t.line("%s is recorded at %s", node, record["addr"])
		if standby := record["standby"]; standby != "" {
			done.line(t, node, standby)
		}
	})
}

func declareNodeSet(fs *flag.FlagSet) action {
	token := declareNodeToken(fs)
	var changes attrChanges
	changes.declare(fs)
	var standby *string // nil to leave it
	fs.Func("standby", "", func(s string) error {
		standby = &s
		if !router.ValidName(s) {
			return router.ErrName
		}
		return nil
	})
	none := fs.Bool("no-standby", false, "")
	return func(ctx context.Context, c *console, operands []string) error {
		switch {
		case *none && standby != nil:
			return misuse("--standby and --no-standby exclude each other")
		case *none:
			standby = new(string)
		}
		switch {
		case standby == nil && len(changes) == 0:
			return misuse("nothing is to be set")
		case standby != nil && *token == "":
			return misuse("--node-token is missing")
		case standby != nil:
			if err := setStandby(ctx, c, operands[0], *token, *standby); err != nil || len(changes) == 0 {
				return err
			}
		}
		return setAttrs(ctx, c, operands[0], changes)
	}
}

func setAttrs(ctx context.Context, c *console, node string, changes attrChanges) error {
	answer, err := changes.put(ctx, c, node)
	if err != nil {
		return err
	}
	var n nodeEntry
	if err := decode(answer, &n); err != nil {
		return err
	}
	return c.show(answer, func(t *table) { nodeRows(t, n) })
}

func removeNode(ctx context.Context, c *console, operands []string) error {
	if _, err := c.shard.ask(ctx, http.MethodDelete, "nodes/"+operands[0], nil); err != nil {
		return err
	}
	return c.say("%s is forgotten", operands[0])
}
