package catalog

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Catalog is every collection of a database at one moment. The zero Catalog
// has none. It never changes.
type Catalog struct {
	list   []*Collection // in the order created, which is by number
	byName map[string]*Collection
	next   uint32 // 0 stands for 1
}

// Load returns the catalog of stored collections, in any order. next is what
// Next returned when they were stored. Numbers at or past it, and numbers and
// names used twice, give ErrCorrupt.
func Load(next uint32, collections []*Collection) (*Catalog, error) {
	list := slices.Clone(collections)
	slices.SortFunc(list, func(a, b *Collection) int { return cmp.Compare(a.Number, b.Number) })
	c := &Catalog{list: list, byName: make(map[string]*Collection, len(list)), next: next}
	used := make(map[uint32]bool)
	for i, col := range list {
		if c.byName[col.Name] != nil || col.last() >= c.Next() || i > 0 && list[i-1].Number == col.Number {
			return nil, ErrCorrupt
		}
		c.byName[col.Name] = col
		for _, n := range col.drawn() {
			if used[n] {
				return nil, ErrCorrupt
			}
			used[n] = true
		}
	}
	return c, nil
}

// Next returns the number that the next collection will have.
func (c *Catalog) Next() uint32 { return max(c.next, 1) }

// Collections returns the collections in the order they were created. The
// slice must not be changed.
func (c *Catalog) Collections() []*Collection { return c.list }

// Find returns the collection of that name, or nil.
func (c *Catalog) Find(name string) *Collection { return c.byName[name] }

// Collection returns the collection of that name, or a fault.NotFound.
func (c *Catalog) Collection(name string) (*Collection, error) {
	if col := c.byName[name]; col != nil {
		return col, nil
	}
	return nil, fault.New(fault.NotFound, "no collection %.80q", name)
}

// Numbered returns the collection of that number, or nil.
func (c *Catalog) Numbered(n uint32) *Collection {
	i, ok := slices.BinarySearchFunc(c.list, n, func(col *Collection, n uint32) int {
		return cmp.Compare(col.Number, n)
	})
	if !ok {
		return nil
	}
	return c.list[i]
}

// Create returns the catalog with the collection that def declares, and that
// collection. A name that is taken is a fault.Exists, whether or not def says
// "if not exists"; a declaration that is not allowed is an error of the kind
// the language gives it.
func (c *Catalog) Create(def *ql.CreateCollection) (*Catalog, *Collection, error) {
	if c.Find(def.Name.Text) != nil {
		return nil, nil, taken(def.Name.Text)
	}
	col, err := define(def, c.Next())
	if err != nil {
		return nil, nil, err
	}
	if col.last() > maxNumber {
		return nil, nil, numbersUsedUp()
	}
	out, err := c.Add(col)
	return out, col, err
}

// Add returns the catalog with a collection that another catalog of the same
// database created, as reading a record of the log does. Numbers must come in
// the order they were given out: one that is not new gives ErrCorrupt. A name
// that is taken is a fault.Exists.
func (c *Catalog) Add(col *Collection) (*Catalog, error) {
	switch {
	case c.Find(col.Name) != nil:
		return nil, taken(col.Name)
	case col.Number < c.Next():
		return nil, ErrCorrupt
	}
	out := &Catalog{
		list:   append(slices.Clip(c.list), col),
		byName: make(map[string]*Collection, len(c.byName)+1),
		next:   col.last() + 1,
	}
	maps.Copy(out.byName, c.byName)
	out.byName[col.Name] = col
	return out, nil
}

// Drop returns the catalog without the collection of that name, and that
// collection. An unknown name is a fault.NotFound. The numbers the collection
// used stay used.
func (c *Catalog) Drop(name string) (*Catalog, *Collection, error) {
	col, err := c.Collection(name)
	if err != nil {
		return nil, nil, err
	}
	out := &Catalog{byName: maps.Clone(c.byName), next: c.next}
	delete(out.byName, name)
	i := slices.Index(c.list, col)
	out.list = slices.Concat(c.list[:i], c.list[i+1:])
	return out, col, nil
}

// Replace returns the catalog with col in place of the collection of its
// number, as reading a record of the log does, and the one it replaces. A
// definition that no alteration leads to gives ErrCorrupt.
func (c *Catalog) Replace(col *Collection) (out *Catalog, before *Collection, err error) {
	before = c.Numbered(col.Number)
	if before == nil || !col.follows(before, c.Next()) {
		return nil, nil, ErrCorrupt
	}
	return c.swap(col, max(c.Next(), col.last()+1)), before, nil
}

// swap returns the catalog with col in place of the collection of its number,
// which has the same name.
func (c *Catalog) swap(col *Collection, next uint32) *Catalog {
	out := &Catalog{list: slices.Clone(c.list), byName: maps.Clone(c.byName), next: next}
	out.list[slices.Index(c.list, c.Numbered(col.Number))] = col
	out.byName[col.Name] = col
	return out
}

func numbersUsedUp() error {
	return fault.New(fault.Query, "the numbers of collections and indexes are used up")
}

func taken(name string) error {
	return fault.New(fault.Exists, "collection %q is there already", name)
}
