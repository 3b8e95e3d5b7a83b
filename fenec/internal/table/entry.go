package table

import (
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/geo"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// IndexKey appends the key that the entries of x hold for the value v of f, the
// field x is on or leads into. Keys are in the order of values, texts under the
// field's collation, but for an index of kind Geo: it has points in the order of
// their cells, after null.
func IndexKey(dst []byte, x *catalog.Index, f *catalog.Field, v value.Value) []byte {
	if x.Kind == catalog.Geo && !v.IsNull() {
		if p, err := geo.PointOf(v); err == nil {
			v = value.Int(geo.Cell(p))
		}
	}
	if f.Collation == collation.None {
		return key.Append(dst, v)
	}
	dst, _ = key.AppendCollated(dst, v, f.Collation)
	return dst
}

// indexed returns what x of c indexes in row r, without copying.
func indexed(c *catalog.Collection, x *catalog.Index, r *row.Row) (value.Value, error) {
	if x.Keys != nil {
		return r.ViewPath(x.Field, x.Keys...)
	}
	return r.View(x.Field, c.Fields[x.Field].Type)
}

// appendEntry appends the entry of x that row r, which has that id, has.
func appendEntry(dst []byte, c *catalog.Collection, x *catalog.Index, id uint64, r *row.Row) ([]byte, error) {
	v, err := indexed(c, x, r)
	if err != nil {
		return nil, err
	}
	return appendID(IndexKey(dst, x, &c.Fields[x.Field], v), id), nil
}
