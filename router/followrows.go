package router

import (
	"context"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec"
)

// keys tell what the documents of a collection are about: by the collection's name and the
// document's id, the name of a node or tenant. A deleted document does not tell any more.
type keys map[string]map[uint64]string

// parts are what there is to be known of a tenant, as far as it is read together.
type parts uint8

const (
	placePart parts = 1 << iota
	quotaPart
	sparesPart
)

// keyed are the fields by which the documents of a collection are about something, and
// what part of a tenant they are; none of a tenant if they are about a node. The field of
// a document never changes.
var keyed = map[string]struct {
	field string
	part  parts
}{
	"nodes":      {"name", 0},
	"node_attrs": {"node", 0},
	"tenants":    {"name", placePart},
	"marks":      {"tenant", placePart},
	"noticed":    {"tenant", placePart},
	"quotas":     {"tenant", quotaPart},
	"replicas":   {"tenant", sparesPart},
	"spares":     {"tenant", sparesPart},
}

// keys reads what all documents are about.
func (s *fileStore) keys() (keys, error) {
	all := keys{}
	for collection, by := range keyed {
		found, err := collect[keyRow](s.db, keyStatement(collection, by.field), "", "")
		if err != nil {
			return nil, err
		}
		ids := make(map[uint64]string, len(found))
		for _, row := range found {
			ids[row.ID] = row.Key
		}
		all[collection] = ids
	}
	return all, nil
}

type keyRow struct {
	ID  uint64
	Key string
}

func keyStatement(collection, field string) string {
	return fmt.Sprintf("get id, %s as key from %s", field, collection)
}

// touched is what changes are about.
type touched struct {
	nodes         map[string]struct{}
	tenants       map[string]parts
	pairs, strays bool // all of them
}

func (t *touched) add(name string, part parts) {
	if part == 0 {
		t.nodes[name] = struct{}{}
	} else {
		t.tenants[name] |= part
	}
}

// take takes changes over, or returns errWhole.
func (c *catcher) take(db *fenec.DB, list []fenec.Change) error {
	t := touched{nodes: map[string]struct{}{}, tenants: map[string]parts{}}
	for i := range list {
		if err := c.note(db, &list[i], &t); err != nil {
			return err
		}
	}
	if len(t.nodes) > 0 {
		defer c.forget(c.directory.Nodes())
	}
	return c.directory.refresh(&fileStore{db}, &t)
}

// note adds what one change is about.
func (c *catcher) note(db *fenec.DB, change *fenec.Change, t *touched) error {
	if change.Op != fenec.ChangePut && change.Op != fenec.ChangeDel {
		return errWhole
	}
	switch change.Collection {
	case "":
		return errWhole // it was dropped
	case "pairs":
		t.pairs = true
	case "strays":
		t.strays = true
	}
	by, ok := keyed[change.Collection]
	if !ok {
		return nil
	}
	ids := c.keys[change.Collection]
	key, known := ids[change.ID]
	if known {
		t.add(key, by.part)
	}
	if change.Op == fenec.ChangeDel {
		delete(ids, change.ID)
	}
	if known || change.Op == fenec.ChangeDel {
		return nil
	}
	found, err := db.Query(context.Background(), keyStatement(change.Collection, by.field)+" where id = $1", change.ID)
	if err != nil {
		return err
	}
	rows, err := fenec.Collect[keyRow](found)
	for _, row := range rows { // none, if it was deleted since
		t.add(row.Key, by.part)
		ids[row.ID] = row.Key
	}
	return err
}

// refresh reads anew what changes are about, and brings the maps up to it. Nodes that are
// there come first, those that are not last: in between nothing is placed on them.
func (d *Directory) refresh(s *fileStore, t *touched) error {
	d.change.Lock()
	defer d.change.Unlock()
	var gone []string
	for node := range t.nodes {
		there, err := d.refreshNode(s, node)
		if err != nil {
			return err
		}
		if !there {
			gone = append(gone, node)
		}
	}
	if err := d.refreshLists(s, t); err != nil {
		return err
	}
	for tenant, which := range t.tenants {
		if err := d.refreshTenant(s, tenant, which); err != nil {
			return err
		}
	}
	for _, node := range gone {
		if on, ok := d.nodes.take(node); ok && on.tenants.Load() > 0 {
			return fmt.Errorf("node %q: %w: %w", node, ErrNodeInUse, errWhole)
		}
	}
	return nil
}

// refreshNode reports whether the node is there.
func (d *Directory) refreshNode(s *fileStore, node string) (there bool, err error) {
	kept := newContents()
	if err := s.loadParts(kept, node, s.loadNodes, s.loadAttrs); err != nil {
		return false, err
	}
	if on, ok := d.nodes.get(node); ok && len(kept.attrs) == 0 {
		on.attrs.Store(nil)
	}
	return len(kept.nodes) > 0, d.fill(kept)
}

// refreshLists brings up what is not looked up entry by entry.
func (d *Directory) refreshLists(s *fileStore, t *touched) error {
	kept := newContents()
	if t.pairs {
		if err := s.loadPairs(kept, ""); err != nil {
			return err
		}
		d.pairs.Store(&kept.pairs)
	}
	if t.strays {
		if err := s.loadStrays(kept, ""); err != nil {
			return err
		}
		d.strays.Store(&kept.strays)
	}
	return nil
}

// refreshTenant brings up some parts of a tenant.
func (d *Directory) refreshTenant(s *fileStore, tenant string, which parts) error {
	if which&quotaPart != 0 {
		if err := d.refreshQuota(s, tenant); err != nil {
			return err
		}
	}
	if which&placePart != 0 {
		if err := d.refreshPlace(s, tenant); err != nil {
			return err
		}
	}
	if which&sparesPart == 0 {
		return nil
	}
	kept := newContents()
	if err := s.loadSpares(kept, tenant); err != nil {
		return err
	}
	if p, ok := d.tenants.get(tenant); ok {
		d.tenants.put(tenant, p.with(func(p *place) { p.spares = nil }))
	}
	return d.fill(kept)
}

func (d *Directory) refreshQuota(s *fileStore, tenant string) error {
	kept := newContents()
	if err := s.loadQuotas(kept, tenant); err != nil {
		return err
	}
	if len(kept.quotas) == 0 {
		d.quotas.take(tenant)
	}
	return d.fill(kept)
}

// refreshPlace leaves the spares of the place as they are.
func (d *Directory) refreshPlace(s *fileStore, tenant string) error {
	kept := newContents()
	if err := s.loadTenants(kept, tenant); err != nil {
		return err
	}
	if len(kept.tenants) == 0 {
		d.settle(tenant, nil)
		return nil
	}
	before, had := d.tenants.get(tenant)
	if err := d.fill(kept); err != nil {
		return err
	}
	if p, ok := d.tenants.get(tenant); ok && had && len(before.spares) > 0 {
		d.tenants.put(tenant, p.with(func(p *place) { p.spares = before.spares }))
	}
	return nil
}
