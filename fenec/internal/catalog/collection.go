package catalog

import (
	"math"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// ID is the name of the number every document has. It reads as an int and is
// no field.
const ID = "id"

// Score is the name of the column in which a ranking has its scores. Files that
// earlier releases wrote may have a field of that name.
const Score = "_score"

// The most that a collection may have.
const (
	MaxFields = 4096
	MaxPaths  = 4096    // indexes on paths
	MaxPlaces = 1 << 16 // fields, with those that were dropped
	MaxName   = 255     // bytes of its name, and of a field's
)

// Collection is the definition of a collection. It must not be changed: one
// that is altered is another Collection with the same Number.
type Collection struct {
	Number   uint32 // of the collection, never used for another
	Name     string
	Fields   []Field  // by their places in a row; those dropped keep theirs
	RowSpace uint32   // where its rows are
	Paths    []*Index // the indexes on paths, in the order made
	Building []*Index // the indexes that blocks keep in step, but that lack what was there before; no read uses them

	indexes   []*Index       // all of them
	ttl       *Index         // the one of kind TTL, or nil
	positions map[string]int // Fields by name, nil while a search is as fast
}

// Field is a field of a collection. One that was dropped has no name, no index
// and no meaning, but rows may still hold values of its type in its place.
type Field struct {
	Name      string
	Type      value.Type
	Required  bool                // a document must name it, if only with null
	Collation collation.Collation // how its texts are ordered
	Index     *Index              // nil without an index
}

// Dropped reports whether the field was dropped.
func (f *Field) Dropped() bool { return f.Name == "" }

// mapFrom is the number of fields from which on a map finds one faster.
const mapFrom = 12

// seal prepares a collection that is complete for use.
func (c *Collection) seal() *Collection {
	for i := range c.Fields {
		if x := c.Fields[i].Index; x != nil {
			c.indexes = append(c.indexes, x)
		}
	}
	c.indexes = append(c.indexes, c.Paths...)
	for _, x := range c.indexes {
		if x.Kind == TTL {
			c.ttl = x
		}
	}
	c.indexes = append(c.indexes, c.Building...)
	if len(c.Fields) < mapFrom {
		return c
	}
	c.positions = make(map[string]int, len(c.Fields))
	for i := range c.Fields {
		if f := &c.Fields[i]; !f.Dropped() {
			c.positions[f.Name] = i
		}
	}
	return c
}

// Position returns where in Fields the field of that name is.
func (c *Collection) Position(name string) (i int, ok bool) {
	if c.positions != nil {
		i, ok = c.positions[name]
		return i, ok
	}
	for i := range c.Fields {
		if c.Fields[i].Name == name {
			return i, name != ""
		}
	}
	return 0, false
}

// Indexes returns all indexes: those of the fields, by place, then those of
// paths, then those in the building. The slice must not be changed.
func (c *Collection) Indexes() []*Index { return c.indexes }

// Built reports whether x, one of c's indexes, has the entries of all rows.
func (c *Collection) Built(x *Index) bool { return !slices.Contains(c.Building, x) }

// PathIndex returns the index on the path that keys are below a field, or nil.
func (c *Collection) PathIndex(field int, keys []string) *Index {
	for _, x := range c.Paths {
		if x.Field == field && slices.Equal(x.Keys, keys) {
			return x
		}
	}
	return nil
}

// PathName returns what x is on, as a statement names it: "price", "meta.kind".
func (c *Collection) PathName(x *Index) string {
	name := c.Fields[x.Field].Name
	if x.Keys == nil {
		return name
	}
	return name + "." + strings.Join(x.Keys, ".")
}

// TTL returns the index that says when rows expire, or nil if none do.
func (c *Collection) TTL() *Index { return c.ttl }

// Cutoff returns which rows are expired at now, in milliseconds since 1970:
// those whose value in the field at that place is not null and at most cutoff.
// ok is false for a collection whose rows do not expire.
func (c *Collection) Cutoff(now int64) (field int, cutoff int64, ok bool) {
	if c.ttl == nil {
		return 0, 0, false
	}
	period := c.ttl.Period.Milliseconds()
	if now < math.MinInt64+period {
		return c.ttl.Field, math.MinInt64, true
	}
	return c.ttl.Field, now - period, true
}

// Spaces returns the numbers of the spaces that hold the collection's rows and
// indexes.
func (c *Collection) Spaces() []uint32 {
	spaces := []uint32{c.RowSpace}
	for _, x := range c.indexes {
		spaces = append(spaces, x.Spaces()...)
	}
	return spaces
}

// Spaces returns the numbers of the spaces that x has.
func (x *Index) Spaces() []uint32 {
	if x.Kind == HNSW {
		return []uint32{x.Space, x.GraphSpace()}
	}
	return []uint32{x.Space}
}

// last returns the highest number drawn for the collection.
func (c *Collection) last() uint32 { return max(c.Number, slices.Max(c.drawn())) }

// NoField returns the error for a field the collection does not have.
func (c *Collection) NoField(name string) error {
	return fault.New(fault.NotFound, "no field %.80q in collection %q", name, c.Name)
}
