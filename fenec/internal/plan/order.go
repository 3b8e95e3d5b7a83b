package plan

import (
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// order is what rows are sorted by: keys first, and at last their ids.
type order struct {
	keys    []sortKey
	reverse bool // ids descend
	field   int  // with an index that holds its values in this order, or noField
}

type sortKey struct {
	x    *expr.Expr
	text string // as written
	desc bool
}

// byID reports whether rows come by id alone.
func (o *order) byID() bool { return len(o.keys) == 0 }

func compileOrder(c *expr.Compiler, keys []ql.Key) (order, error) {
	o := order{field: noField}
	ended := false // by the id, after which nothing ties
	for i := range keys {
		k := &keys[i]
		x, err := c.Compile(&k.Path, expr.Early)
		if err != nil {
			return o, err
		}
		switch {
		case ended:
		case k.Path.Field == catalog.ID && len(k.Path.Keys) == 0:
			ended, o.reverse = true, k.Desc
		default:
			o.keys = append(o.keys, sortKey{x, k.Path.String(), k.Desc})
			if len(o.keys) == 1 {
				o.field = walkable(c.Collection(), &k.Path)
			} else {
				o.field = noField
			}
		}
	}
	return o, nil
}

// walkable returns the position of the field that p names, if the entries of
// its index are in the order of its values.
func walkable(c *catalog.Collection, p *ql.Path) int {
	at, ok := c.Position(p.Field)
	// Beneath json, numbers that are equal may have different keys.
	if !ok || len(p.Keys) > 0 || c.Fields[at].Index == nil || c.Fields[at].Type.Is(value.BaseJSON) {
		return noField
	}
	return at
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
		if dst, short = key.AppendCut(dst, v); short {
			cut = true
		}
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
		if sign := value.Compare(a[i], b[i]); sign != 0 {
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
