package fenec_test

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// checkAggregate checks the fields of an aggregate and the type of its argument.
func checkAggregate(t *table, c *ql.Call) error {
	if err := t.hasAll(c); err != nil || len(c.Args) == 0 {
		return err
	}
	p, ok := c.Args[0].(*ql.Path)
	if !ok || len(p.Keys) > 0 || p.Field == "id" {
		return nil
	}
	kind := t.field(p.Field).Type.Kind
	var takes []ql.TypeKind
	switch strings.ToLower(c.Name) {
	case "sum", "avg":
		takes = []ql.TypeKind{ql.TypeInt, ql.TypeFloat, ql.TypeJSON}
	case "min", "max":
		takes = []ql.TypeKind{ql.TypeInt, ql.TypeFloat, ql.TypeJSON, ql.TypeBool, ql.TypeText, ql.TypeTimestamp}
	default:
		return nil
	}
	if !slices.Contains(takes, kind) {
		return fenec.ErrType
	}
	return nil
}

// aggregate computes an aggregate over the rows of the group.
func (g *modelGroup) aggregate(c *ql.Call) (any, error) {
	if len(c.Args) == 0 {
		return int64(len(g.ids)), nil
	}
	var vals, bys []any // of the rows that count
	for _, id := range g.ids {
		s := &scope{asked: g.asked, t: g.t, id: id, d: g.t.docs[id]}
		v, err := s.eval(c.Args[0])
		if err != nil {
			return nil, err
		}
		by := any(id)
		if c.By != nil {
			if by, err = s.eval(c.By); err != nil {
				return nil, err
			}
		}
		if v != nil && by != nil {
			vals, bys = append(vals, v), append(bys, by)
		}
	}
	collate := (&scope{t: g.t}).collation(c.Args[0])
	switch name := strings.ToLower(c.Name); name {
	case "count", "approx_count_distinct", "hll_accumulate":
		seen := map[string]bool{}
		for _, v := range vals {
			seen[formOf(v)] = true
		}
		if len(vals) == 0 && name == "hll_accumulate" {
			return nil, nil
		}
		return int64(len(seen)), nil
	case "sum", "avg":
		return sum(vals, name == "avg")
	case "min", "max":
		for _, v := range vals {
			if rank(v) > rank("") {
				return nil, fenec.ErrType
			}
		}
		return best(vals, vals, func(a, b any) bool {
			sign := compareBy(a, b, collate)
			return sign < 0 && name == "min" || sign > 0 && name == "max"
		}), nil
	default:
		collate = (&scope{t: g.t}).collation(c.By)
		first := name == "first"
		return best(vals, bys, func(a, b any) bool {
			sign := compareBy(a, b, collate)
			return sign < 0 && first || sign >= 0 && !first
		}), nil
	}
}

// best returns the value whose key is better than those of all before it that
// were best.
func best(vals, keys []any, better func(a, b any) bool) any {
	at := -1
	for i := range vals {
		if at < 0 || better(keys[i], keys[at]) {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	return vals[at]
}

// sum adds numbers up: ints exactly, and floats in the order of their rows.
func sum(vals []any, average bool) (any, error) {
	ints, floats, whole := new(big.Int), 0.0, true
	for _, v := range vals {
		switch x := v.(type) {
		case int64:
			ints.Add(ints, big.NewInt(x))
		case float64:
			floats, whole = floats+x, false
		default:
			return nil, fenec.ErrType
		}
	}
	exact, _ := new(big.Float).SetInt(ints).Float64()
	total := floats + exact
	switch {
	case len(vals) == 0:
		return nil, nil
	case whole && !average && !ints.IsInt64():
		return nil, fenec.ErrQuery
	case whole && !average:
		return ints.Int64(), nil
	case math.IsInf(total, 0) || math.IsNaN(total):
		return nil, fenec.ErrQuery
	case average:
		return total / float64(len(vals)), nil
	}
	return total, nil
}
