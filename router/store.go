package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/internal/secret"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/replication"
	"github.com/fenec-go/fenecdb/tenant"
)

// store keeps the directory's rows.
type store interface {
	load() (*contents, error)
	// write makes one change, which is on disk when it returns. Calls are never
	// concurrent.
	write(change func(rows) error) error
	// lineage returns the histories that the changes belong to.
	lineage() replication.Lineage
	// settled returns what putSettled kept, "" if it never did.
	settled() (string, error)
	close() error
}

// contents are all that a store keeps.
type contents struct {
	nodes   []Node
	attrs   map[string]Attrs // by node
	tenants []Tenant
	quotas  map[string]quota.Limits // by tenant
	strays  []Stray
	pairs   pairs
	spares  []keptSpare
	arrived bool // what is kept is a directory, if maybe an empty one
}

// fileStore reads and writes the rows in an open fenec database. Each collection that came
// later has a place of its own, so that an older file opens as it is.
type fileStore struct{ db *fenec.DB }

var collections = []string{
	"nodes (name text @hash, addr text, token text)",
	"tenants (name text @hash, node text @hash, state text)",
	"marks (tenant text @hash, epoch int, status text, phase text, detail text)",
	"quotas (tenant text @hash, quota text)",
	"strays (tenant text @hash, node text @hash, seq int)",
	"node_attrs (node text @hash, role text, max_tenants int, max_bytes int, labels text, drain bool)",
	"noticed (tenant text @hash)",
	"settled (history text)",
	"pairs (node text @hash, standby text)",
	"replicas (tenant text @hash, node text @hash)",
	"spares (tenant text @hash, node text @hash, state text)",
}

// createCollections creates the collections that the database lacks.
func (s *fileStore) createCollections() error {
	for _, c := range collections {
		if _, err := s.db.Exec(context.Background(), "create collection if not exists "+c); err != nil {
			return err
		}
	}
	return nil
}

// write takes no context: a change that was begun is finished, whoever has stopped
// waiting for it.
func (s *fileStore) write(change func(rows) error) error {
	_, err := s.db.Update(context.Background(), func(tx *fenec.Tx) error { return change(rows{tx}) })
	return err
}

// rows are the rows of a store within one change.
type rows struct{ tx *fenec.Tx }

// exec runs a statement and returns how many rows it changed.
func (r rows) exec(statement string, args ...any) (int, error) {
	return r.tx.Exec(context.Background(), statement, args...)
}

// all runs statements that take the same argument.
func (r rows) all(arg string, statements ...string) error {
	for _, statement := range statements {
		if _, err := r.exec(statement, arg); err != nil {
			return err
		}
	}
	return nil
}

// upsert sets the fields of the rows of a collection that have the key, or puts one.
func (r rows) upsert(collection, key, fields string, args ...any) error {
	changed, err := r.exec(fmt.Sprintf("set %s {%s} where %s = $1", collection, fields, key), args...)
	if err != nil || changed > 0 {
		return err
	}
	_, err = r.exec(fmt.Sprintf("put %s {%s: $1, %s}", collection, key, fields), args...)
	return err
}

func (r rows) putNode(n Node) error {
	return r.upsert("nodes", "name", "addr: $2, token: $3", n.Name, n.Addr, secret.Reveal(n.Token))
}

func (r rows) putAttrs(node string, a Attrs) error {
	labels, err := json.Marshal(a.Labels)
	if err != nil {
		return err
	}
	return r.upsert("node_attrs", "node", "role: $2, max_tenants: $3, max_bytes: $4, labels: $5, drain: $6",
		node, string(a.Role), a.MaxTenants, a.MaxBytes, string(labels), a.Draining)
}

// deleteNode also deletes what was to be cleared away on the node, and all else that is
// about it.
func (r rows) deleteNode(name string) error {
	return r.all(name, "del nodes where name = $1", "del node_attrs where node = $1", "del strays where node = $1",
		"del pairs where node = $1 or standby = $1", "del replicas where node = $1", "del spares where node = $1")
}

// putTenant keeps where a tenant is, and its marks.
func (r rows) putTenant(t Tenant) error {
	if err := r.upsert("tenants", "name", "node: $2, state: $3", t.Name, t.Node, string(t.State)); err != nil {
		return err
	}
	phase, detail, err := encodeMove(t.Move)
	if err != nil {
		return err
	}
	err = r.upsert("marks", "tenant", "epoch: $2, status: $3, phase: $4, detail: $5",
		t.Name, t.Epoch, t.Status.String(), phase, detail)
	if err != nil {
		return err
	}
	return r.putNoticed(t.Name, t.noticed)
}

// putNoticed keeps whether it is a router that has marked the tenant degraded.
func (r rows) putNoticed(tenant string, noticed bool) error {
	_, err := r.exec("del noticed where tenant = $1", tenant)
	if err != nil || !noticed {
		return err
	}
	_, err = r.exec("put noticed {tenant: $1}", tenant)
	return err
}

// deleteTenant keeps the marks, as an epoch never goes back.
func (r rows) deleteTenant(name string) error {
	if err := r.leave(name); err != nil {
		return err
	}
	return r.all(name, "del tenants where name = $1", "del quotas where tenant = $1",
		`set marks {status: "active"} where tenant = $1`, "del noticed where tenant = $1",
		"del replicas where tenant = $1", "del spares where tenant = $1")
}

// epoch returns the epoch of a tenant, 0 of one that never had a place.
func (r rows) epoch(tenant string) (int64, error) {
	res, err := r.tx.Query(context.Background(), "get epoch from marks where tenant = $1", tenant)
	if err != nil || res.Len() == 0 {
		return 0, err
	}
	marks, err := fenec.Collect[struct{ Epoch int64 }](res)
	if err != nil {
		return 0, err
	}
	return marks[0].Epoch, nil
}

// putQuota keeps a tenant's limits; none are no row.
func (r rows) putQuota(tenant string, l quota.Limits) error {
	if l == (quota.Limits{}) {
		return r.all(tenant, "del quotas where tenant = $1")
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return r.upsert("quotas", "tenant", "quota: $2", tenant, string(text))
}

func (r rows) putStray(s Stray) error {
	if err := r.deleteStray(s); err != nil {
		return err
	}
	_, err := r.exec("put strays {tenant: $1, node: $2, seq: $3}", s.Tenant, s.Node, s.Seq)
	return err
}

func (r rows) deleteStray(s Stray) error {
	_, err := r.exec("del strays where tenant = $1 and node = $2", s.Tenant, s.Node)
	return err
}

func newContents() *contents {
	return &contents{attrs: map[string]Attrs{}, quotas: map[string]quota.Limits{}, pairs: pairs{}}
}

func (s *fileStore) load() (*contents, error) {
	c := newContents()
	c.arrived = slices.Contains(s.db.Collections(), "tenants")
	return c, s.loadParts(c, "", s.loadNodes, s.loadAttrs, s.loadTenants, s.loadQuotas, s.loadStrays, s.loadPairs, s.loadSpares)
}

// loadParts reads parts of what is kept: of all of it, or of what is about one node or
// tenant.
func (s *fileStore) loadParts(c *contents, only string, parts ...func(c *contents, only string) error) error {
	for _, part := range parts {
		if err := part(c, only); err != nil {
			return err
		}
	}
	return nil
}

// collect reads rows: all, or those whose key is the given one, unless that is "". A
// collection that is not there, as in what is yet to come from another router, is empty.
func collect[T any](db *fenec.DB, statement, key, only string) ([]T, error) {
	var args []any
	if only != "" {
		statement += " where " + key + " = $1"
		args = []any{only}
	}
	res, err := db.Query(context.Background(), statement, args...)
	if errors.Is(err, fenec.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return fenec.Collect[T](res)
}

func (s *fileStore) loadNodes(c *contents, only string) error {
	found, err := collect[struct{ Name, Addr, Token string }](s.db, "get name, addr, token from nodes", "name", only)
	for _, n := range found {
		c.nodes = append(c.nodes, Node{Name: n.Name, Addr: n.Addr, Token: NewToken(n.Token)})
	}
	return err
}

func (s *fileStore) loadAttrs(c *contents, only string) error {
	found, err := collect[struct {
		Node, Role string
		MaxTenants int   `fenec:"max_tenants"`
		MaxBytes   int64 `fenec:"max_bytes"`
		Labels     string
		Drain      bool
	}](s.db, "get node, role, max_tenants, max_bytes, labels, drain from node_attrs", "node", only)
	if err != nil {
		return err
	}
	for _, a := range found {
		attrs := Attrs{Role: Role(a.Role), MaxTenants: a.MaxTenants, MaxBytes: a.MaxBytes, Draining: a.Drain}
		if err := json.Unmarshal([]byte(a.Labels), &attrs.Labels); err != nil {
			return fmt.Errorf("labels of node %s: %w", a.Node, err)
		}
		c.attrs[a.Node] = attrs
	}
	return nil
}

func (s *fileStore) loadTenants(c *contents, only string) error {
	type mark struct {
		Tenant, Status, Phase, Detail string
		Epoch                         int64
	}
	found, err := collect[mark](s.db, "get tenant, epoch, status, phase, detail from marks", "tenant", only)
	if err != nil {
		return err
	}
	marks := make(map[string]mark, len(found))
	for _, m := range found {
		marks[m.Tenant] = m
	}
	places, err := collect[struct {
		Name, Node string
		State      *string
	}](s.db, "get name, node, state from tenants", "name", only)
	if err != nil {
		return err
	}
	noticed, err := s.loadNoticed(only)
	if err != nil {
		return err
	}
	for _, p := range places {
		t := Tenant{Name: p.Name, Node: p.Node, State: StateActive}
		if p.State != nil && State(*p.State) == StateMoving {
			t.State = StateMoving
		}
		t.noticed = noticed[p.Name]
		if m, ok := marks[p.Name]; ok {
			t.Epoch = m.Epoch
			if t.Status, err = tenant.ParseStatus(m.Status); err != nil {
				return fmt.Errorf("tenant %s: %w", p.Name, err)
			}
			if t.Move, err = decodeMove(m.Phase, m.Detail); err != nil {
				return fmt.Errorf("tenant %s: its move: %w", p.Name, err)
			}
		}
		c.tenants = append(c.tenants, t)
	}
	return nil
}

// loadNoticed returns the tenants that a router has marked degraded.
func (s *fileStore) loadNoticed(only string) (map[string]bool, error) {
	found, err := collect[struct{ Tenant string }](s.db, "get tenant from noticed", "tenant", only)
	noticed := make(map[string]bool, len(found))
	for _, n := range found {
		noticed[n.Tenant] = true
	}
	return noticed, err
}

func (s *fileStore) loadQuotas(c *contents, only string) error {
	found, err := collect[struct{ Tenant, Quota string }](s.db, "get tenant, quota from quotas", "tenant", only)
	if err != nil {
		return err
	}
	for _, q := range found {
		limits, err := quota.Parse([]byte(q.Quota))
		if err != nil {
			return fmt.Errorf("quota of tenant %s: %w", q.Tenant, err)
		}
		c.quotas[q.Tenant] = limits
	}
	return nil
}

func (s *fileStore) loadStrays(c *contents, only string) (err error) {
	c.strays, err = collect[Stray](s.db, "get tenant, node, seq from strays", "tenant", only)
	return err
}
