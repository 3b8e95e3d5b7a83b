package catalog

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// An index on a collection with many rows is made in three steps, so that nobody
// waits for it: BeginIndex makes it one in the building, which blocks keep in
// step from then on; its entries for the rows that are there are made; and
// InstallIndex, or AbandonIndex, ends it.

// BeginIndex is CreateIndex for an index that is in the building.
func (c *Catalog) BeginIndex(def *ql.CreateIndex) (out *Catalog, before, after *Collection, x *Index, err error) {
	if before, err = c.Collection(def.On.Text); err != nil {
		return nil, nil, nil, nil, err
	}
	e := c.edit(before)
	if x, err = e.index(&def.Path, &def.Index); err != nil {
		return nil, nil, nil, nil, err
	}
	if x.Keys == nil {
		e.Fields[x.Field].Index = nil
	} else {
		e.Paths = e.Paths[:len(e.Paths)-1]
	}
	e.Building = append(e.Building, x)
	out, after, err = e.end()
	return out, before, after, x, err
}

// InstallIndex makes an index in the building, which has the entries of all
// rows by now, one like all others. It is a fault.NotFound if its field or its
// collection is gone.
func (c *Catalog) InstallIndex(collection uint32, x *Index) (out *Catalog, before, after *Collection, err error) {
	e, err := c.building(collection, x)
	if err != nil {
		return nil, nil, nil, err
	}
	if x.Keys == nil {
		e.Fields[x.Field].Index = x
	} else {
		e.Paths = append(e.Paths, x)
	}
	before = c.Numbered(collection)
	out, after, err = e.end()
	return out, before, after, err
}

// AbandonIndex takes out an index in the building. It is a fault.NotFound if it
// is gone already.
func (c *Catalog) AbandonIndex(collection uint32, x *Index) (out *Catalog, before, after *Collection, err error) {
	e, err := c.building(collection, x)
	if err != nil {
		return nil, nil, nil, err
	}
	before = c.Numbered(collection)
	out, after, err = e.end()
	return out, before, after, err
}

// building returns an edit in which x, an index in the building, is in it no
// longer.
func (c *Catalog) building(collection uint32, x *Index) (*edit, error) {
	col := c.Numbered(collection)
	if col == nil || col.Built(x) {
		return nil, fault.New(fault.NotFound, "what an index was being made on is gone")
	}
	e := c.edit(col)
	e.Building = slices.DeleteFunc(e.Building, func(y *Index) bool { return y == x })
	return e, nil
}
