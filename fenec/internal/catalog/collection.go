package catalog

import (
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// ID is the name of the number every document has. It reads as an int and is
// no field.
const ID = "id"

// The most that a collection may have.
const (
	MaxFields = 4096
	MaxName   = 255 // bytes of its name, and of a field's
)

// Collection is the definition of a collection. It must not be changed.
type Collection struct {
	Number   uint32 // of the collection, never used for another
	Name     string
	Fields   []Field // in the order declared, which is their order in a row
	RowSpace uint32  // where its rows are

	// positions is Fields by name, nil while a search is as fast.
	positions map[string]int
}

// Field is a field of a collection.
type Field struct {
	Name     string
	Type     value.Type
	Required bool   // a document must name it, if only with null
	Index    *Index // nil without an index
}

// Index is the index of a field.
type Index struct {
	Kind  IndexKind
	Space uint32 // where its entries are
}

// IndexKind is a kind of index. All kinds have the same entries, ordered by
// value and then id; they differ in what is promised and what is allowed.
type IndexKind uint8

// The kinds of indexes. Their numbers are part of stored files.
const (
	Hash   IndexKind = iota + 1 // finds equal values
	Unique                      // finds equal values and allows none but nulls
	Sorted                      // walks values in order
)

var indexNames = [...]string{Hash: "hash", Unique: "unique", Sorted: "sorted"}

// String returns the kind's word, without the "@".
func (k IndexKind) String() string {
	if int(k) < len(indexNames) && indexNames[k] != "" {
		return indexNames[k]
	}
	return "?"
}

// allows returns why a field of type t cannot have an index of kind k.
func (k IndexKind) allows(t value.Type) error {
	if k != Sorted {
		return nil
	}
	for _, b := range [...]value.Base{value.BaseInt, value.BaseFloat, value.BaseTimestamp, value.BaseText} {
		if t.Is(b) {
			return nil
		}
	}
	return fault.New(fault.Type, "@%s is for int, float, timestamp and text, not for %s", k, t)
}

// mapFrom is the number of fields from which on a map finds one faster.
const mapFrom = 12

// seal prepares a collection that is complete for use.
func (c *Collection) seal() *Collection {
	if len(c.Fields) < mapFrom {
		return c
	}
	c.positions = make(map[string]int, len(c.Fields))
	for i := range c.Fields {
		c.positions[c.Fields[i].Name] = i
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
			return i, true
		}
	}
	return 0, false
}

// Spaces returns the numbers of the spaces that hold the collection's rows and
// indexes.
func (c *Collection) Spaces() []uint32 {
	spaces := []uint32{c.RowSpace}
	for i := range c.Fields {
		if x := c.Fields[i].Index; x != nil {
			spaces = append(spaces, x.Space)
		}
	}
	return spaces
}

// last returns the highest number the collection uses.
func (c *Collection) last() uint32 {
	n := c.Number
	for _, s := range c.Spaces() {
		n = max(n, s)
	}
	return n
}

// NoField returns the error for a field the collection does not have.
func (c *Collection) NoField(name string) error {
	return fault.New(fault.NotFound, "no field %.80q in collection %q", name, c.Name)
}
