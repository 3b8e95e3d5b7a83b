package exec

import (
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// MaxDocument is the most bytes that the values of a document take.
const MaxDocument = 64 << 20

// place is where a pair puts its value: a field, or with keys a place within a
// json field, or the id.
type place struct {
	at   int // or idColumn
	keys []string
}

// findPlace returns the place that p names.
func findPlace(c *catalog.Collection, p *ql.Path) (place, error) {
	if p.Field == catalog.ID {
		if len(p.Keys) > 0 {
			return place{}, expr.NoPath(p, value.TypeInt)
		}
		return place{at: idColumn}, nil
	}
	at, ok := c.Position(p.Field)
	if !ok {
		return place{}, c.NoField(p.Field)
	}
	if t := c.Fields[at].Type; len(p.Keys) > 0 && !t.Is(value.BaseJSON) {
		return place{}, expr.NoPath(p, t)
	}
	return place{at, p.Keys}, nil
}

// document is the values that a document is written with. It is used for one
// document after the other.
type document struct {
	col   *catalog.Collection
	types []value.Type // of all fields

	vals  []value.Value
	named []bool // which fields a pair has named
	id    value.Value
	hasID bool
	buf   []byte
}

func fieldTypes(c *catalog.Collection) []value.Type {
	types := make([]value.Type, len(c.Fields))
	for i := range c.Fields {
		types[i] = c.Fields[i].Type
	}
	return types
}

// begin begins another document, of nulls. types are those of c's fields.
func (d *document) begin(c *catalog.Collection, types []value.Type) {
	if d.col != c {
		*d = document{
			col: c, types: types, buf: d.buf,
			vals: make([]value.Value, len(types)), named: make([]bool, len(types)),
		}
		return
	}
	clear(d.vals)
	clear(d.named)
	d.id, d.hasID = value.Null, false
}

// keptBytes is the most memory for a row that is kept for the next one.
const keptBytes = 1 << 20

// release lets go of the document.
func (d *document) release() {
	clear(d.vals)
	d.id = value.Null
	if cap(d.buf) > keptBytes {
		d.buf = nil
	}
}

// put gives a place its value. A later value of one place replaces an earlier
// one.
func (d *document) put(p place, v value.Value) error {
	if p.at == idColumn {
		d.id, d.hasID = v, true
		return nil
	}
	d.named[p.at] = true
	if len(p.keys) == 0 {
		d.vals[p.at] = v
		return nil
	}
	whole, err := value.SetPath(d.vals[p.at], p.keys, v)
	if err != nil {
		return catalog.Named(d.col.Fields[p.at].Name, err)
	}
	d.vals[p.at] = whole
	return nil
}

// ownID returns the id that the document names, or 0 if it names none.
func (d *document) ownID() (uint64, error) {
	if !d.hasID {
		return 0, nil
	}
	if d.id.Kind() != value.KindInt || d.id.AsInt() < 1 {
		return 0, fault.New(fault.Type, "%q wants an int from 1 on, got %s", catalog.ID, d.id)
	}
	return uint64(d.id.AsInt()), nil
}

// fit makes the named values those their fields store.
func (d *document) fit() error {
	total := 0
	for i, v := range d.vals {
		if d.named[i] {
			var err error
			if v, err = value.Coerce(v, d.types[i]); err != nil {
				return catalog.Named(d.col.Fields[i].Name, err)
			}
			d.vals[i] = v
		}
		if v.Kind() < value.KindText {
			continue
		}
		size := storedSize(v)
		if size > expr.MaxText {
			return catalog.Named(d.col.Fields[i].Name,
				fault.New(fault.Type, "a %s of more than %d bytes", v.Kind(), expr.MaxText))
		}
		total += size
	}
	if total > MaxDocument {
		return fault.New(fault.Type, "a document of more than %d bytes in collection %q", MaxDocument, d.col.Name)
	}
	return nil
}

// storedSize returns about how many bytes a value takes.
func storedSize(v value.Value) int {
	const each = 9 // at most, of a scalar, and of what stands before a part
	size := each
	switch v.Kind() {
	case value.KindText, value.KindBytes:
		return v.Len()
	case value.KindVector:
		return 4 * v.Len()
	case value.KindSparse:
		return each * v.Len()
	case value.KindList:
		for _, e := range v.AsList() {
			size += storedSize(e) + each
		}
	case value.KindObject:
		for _, m := range v.AsObject() {
			size += len(m.Key) + storedSize(m.Value) + each
		}
	}
	return size
}

// encode returns the document's row, which is good until the next call.
func (d *document) encode() []byte {
	d.buf = row.Encode(d.buf[:0], d.types, d.vals)
	return d.buf
}

// fromMember returns the place that a member of a document in a parameter
// names. A key with dots that is no field is a path.
func fromMember(c *catalog.Collection, key string) (place, error) {
	p := ql.Path{Field: key}
	if _, ok := c.Position(key); !ok {
		if parts := strings.Split(key, "."); len(parts) > 1 {
			p = ql.Path{Field: parts[0], Keys: parts[1:]}
		}
	}
	return findPlace(c, &p)
}
