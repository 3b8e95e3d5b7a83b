package plan

import (
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// order is what rows are sorted by: keys first, and at last their ids. Values
// are in the order of their index keys, which tell numbers from 2^53 on apart
// that compare as equal, so that it is the same with an index and without.
type order struct {
	keys    []sortKey
	reverse bool           // ids descend
	index   *catalog.Index // that holds its values in this order, or nil
}

type sortKey struct {
	x         *expr.Expr
	text      string // as written
	desc      bool
	collation collation.Collation // of texts
}

// byID reports whether rows come by id alone.
func (o *order) byID() bool { return len(o.keys) == 0 }

func compileOrder(c *expr.Compiler, keys []ql.Key) (order, error) {
	var o order
	ended := false // by the id, after which nothing ties
	for i := range keys {
		k := &keys[i]
		key, err := compileKey(c, k)
		if err != nil {
			return o, err
		}
		switch {
		case ended:
		case k.Path.Field == catalog.ID && len(k.Path.Keys) == 0:
			ended, o.reverse = true, k.Desc
		default:
			o.keys = append(o.keys, key)
			o.index = nil
			if len(o.keys) == 1 {
				o.index = walkable(c.Collection(), k, key.collation)
			}
		}
	}
	return o, nil
}

func compileKey(c *expr.Compiler, k *ql.Key) (sortKey, error) {
	if k.Call != nil {
		return sortKey{}, fault.New(fault.Query, "order: documents are not sorted by %s", k.Call.Name)
	}
	x, err := c.Compile(&k.Path, expr.Early)
	if err != nil {
		return sortKey{}, err
	}
	by, err := Collation(c.Collection(), k)
	text := k.Path.String()
	if k.Collate != "" {
		text += " collate " + k.Collate
	}
	return sortKey{x, text, k.Desc, by}, err
}

// Collation returns the collation that the values of a key's path are sorted by:
// the one named, else that of the field. One that is named for anything but text
// is a fault.Query.
func Collation(c *catalog.Collection, k *ql.Key) (collation.Collation, error) {
	of := fieldOf(c, &k.Path)
	if k.Collate == "" {
		if of == nil {
			return collation.None, nil
		}
		return of.Collation, nil
	}
	by, ok := collation.Parse(k.Collate)
	switch {
	case !ok:
		return by, fault.New(fault.Query, "unknown collation %.80q", k.Collate)
	case of == nil || !of.Type.Is(value.BaseText) && of.Type != value.ListType(value.TypeText):
		return by, fault.New(fault.Query, "%s is not text, which alone has a collation", k.Path.String())
	}
	return by, nil
}

// fieldOf returns the field that p names, if it is one and no path beneath it.
func fieldOf(c *catalog.Collection, p *ql.Path) *catalog.Field {
	at, ok := c.Position(p.Field)
	if !ok || len(p.Keys) > 0 {
		return nil
	}
	return &c.Fields[at]
}

// walkable returns the index on what k names, if its entries are in the order
// of k, which has that collation.
func walkable(c *catalog.Collection, k *ql.Key, by collation.Collation) *catalog.Index {
	t, ok := targetOf(c, &k.Path)
	if !ok || !inOrder(t.index) || t.collation != by {
		return nil
	}
	return t.index
}

// desc reports whether the first key descends.
func (o *order) desc() bool { return o.keys[0].desc }

// appendKey appends what rows are compared by, as bytes, for the row that f
// stands at. cut says that it does not tell all of them apart.
func (o *order) appendKey(dst []byte, f *expr.Frame) (out []byte, cut bool, err error) {
	for i := range o.keys {
		v, err := o.keys[i].x.Eval(f)
		if err != nil {
			return dst, false, err
		}
		start, short := len(dst), false
		if by := o.keys[i].collation; by == collation.None {
			dst, short = key.AppendCut(dst, v)
		} else {
			dst, short = key.AppendCollated(dst, v, by)
		}
		cut = cut || short
		if o.keys[i].desc {
			// No key is the beginning of another, so that this turns them around.
			for j := start; j < len(dst); j++ {
				dst[j] = ^dst[j]
			}
		}
	}
	return dst, cut, nil
}

// values returns what rows are compared by, for the row that f stands at.
func (o *order) values(f *expr.Frame) ([]value.Value, error) {
	vals := make([]value.Value, len(o.keys))
	for i := range o.keys {
		v, err := o.keys[i].x.Eval(f)
		if err != nil {
			return nil, err
		}
		vals[i] = value.Clone(v)
	}
	return vals, nil
}

// compareValues compares two rows by their values.
func (o *order) compareValues(a, b []value.Value) int {
	for i := range o.keys {
		if sign := value.CompareCollated(a[i], b[i], o.keys[i].collation); sign != 0 {
			if o.keys[i].desc {
				return -sign
			}
			return sign
		}
	}
	return 0
}

// compareIDs compares two rows that tie in all keys.
func (o *order) compareIDs(a, b uint64) int {
	if o.reverse {
		return compareIDs(b, a)
	}
	return compareIDs(a, b)
}
