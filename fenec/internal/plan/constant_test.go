package plan

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// holds reports what an operator says about two values, as a filter does.
func holds(op termOp, x, v value.Value, by collation.Collation) bool {
	if op == opEqual {
		return value.Equal(x, v)
	}
	if x.IsNull() || v.IsNull() {
		return false
	}
	sign := value.CompareCollated(x, v, by)
	switch op {
	case opLess:
		return sign < 0
	case opLessEqual:
		return sign <= 0
	case opGreater:
		return sign > 0
	}
	return sign >= 0
}

var bound = []termOp{opEqual, opLess, opLessEqual, opGreater, opGreaterEqual}

// sampler makes values at random, many of them near each other.
type sampler struct{ *rand.Rand }

func (s sampler) int() int64 {
	switch s.IntN(4) {
	case 0:
		return int64(s.IntN(7) - 3)
	case 1:
		return 1<<53 + int64(s.IntN(7)-3)
	case 2:
		return math.MaxInt64 - int64(s.IntN(1030))
	}
	return -(1<<53 + int64(s.IntN(7)-3))
}

func (s sampler) float() float64 {
	switch s.IntN(4) {
	case 0:
		return float64(s.IntN(13)-6) / 2
	case 1:
		return 1<<53 + float64(s.IntN(7)-3)
	case 2:
		return []float64{1 << 63, -1 << 63, 1e300, math.Inf(1), math.Inf(-1), 1 << 62}[s.IntN(6)]
	}
	return math.Copysign(0, -1)
}

func (s sampler) text() string {
	long := string(bytes.Repeat([]byte("x"), key.MaxLen))
	return []string{"", "a", "a\x00", "a\x00b", "ab", "A", "á", "ı", "I", "şal", "1970-01-01", "1970-01-01T00:00:00.003Z", "1969-12-31", long, long + "a", long + "b", "y"}[s.IntN(17)]
}

func (s sampler) list(n int, of func() value.Value) value.Value {
	elems := make([]value.Value, s.IntN(n))
	for i := range elems {
		elems[i] = of()
	}
	return value.List(elems)
}

// any returns a value of any kind.
func (s sampler) any() value.Value {
	switch s.IntN(10) {
	case 0:
		return value.Null
	case 1:
		return value.Bool(s.IntN(2) == 0)
	case 2:
		return value.Float(s.float())
	case 3:
		return value.Timestamp(s.int())
	case 4:
		return value.Text(s.text())
	case 5:
		return value.Bytes([]byte(s.text()))
	case 6:
		return value.Vector([]float32{float32(s.IntN(3)), float32(s.IntN(3))}[:s.IntN(3)])
	case 7:
		return s.list(3, s.any)
	case 8:
		v, _ := value.Object([]value.Member{{Key: "a", Value: s.any()}})
		return v
	}
	return value.Int(s.int())
}

// of returns a value that a field of type t may hold, null at times.
func (s sampler) of(t value.Type) value.Value {
	if s.IntN(10) == 0 {
		return value.Null
	}
	for {
		v := s.any()
		switch {
		case t.IsList():
			v = s.list(3, func() value.Value { return s.of(t.Elem()) })
		case t.Is(value.BaseVector):
			v = value.Vector([]float32{float32(s.IntN(3)), float32(s.IntN(3)) / 2})
		case t.Is(value.BaseTimestamp):
			v = value.Timestamp(s.int())
		}
		if out, err := value.Coerce(v, t); err == nil {
			return out
		}
	}
}

// entryKey returns the key that an index on t has for x.
func entryKey(t *target, x value.Value) []byte {
	k, _ := key.AppendCollated(nil, x, t.collation)
	return k
}

// TestBoundsHoldAll compares the entries that an operator and a constant lead to
// with what the operator says about values.
func TestBoundsHoldAll(t *testing.T) {
	s := sampler{rand.New(rand.NewPCG(1, 2))}
	var targets []target
	for _, t := range []value.Type{
		value.TypeBool, value.TypeInt, value.TypeFloat, value.TypeText, value.TypeBytes, value.TypeTimestamp, value.TypeJSON,
		value.VectorType(2, false), value.ListType(value.TypeInt), value.ListType(value.TypeText),
		value.ListType(value.TypeTimestamp), value.ListType(value.VectorType(2, false)),
	} {
		targets = append(targets, target{typ: t})
	}
	texts := value.ListType(value.TypeText)
	targets = append(targets,
		target{typ: value.TypeText, collation: collation.Und}, target{typ: value.TypeText, collation: collation.TR},
		target{typ: texts, collation: collation.Und}, target{typ: texts, collation: collation.TR})
	looked, used := 0, 0
	var room keyRoom
	for range 20_000 {
		of := targets[s.IntN(len(targets))]
		typ := of.typ
		x := s.of(typ)
		v := s.any()
		if s.IntN(2) == 0 {
			v = s.of(typ)
		}
		looked++
		k, ok := of.keyable(v)
		if !ok {
			continue
		}
		used++
		entry := key.AppendID(entryKey(&of, x), uint64(s.Int64()))
		for _, op := range bound {
			lower, upper, exact := of.bounds(&room, op, k)
			if op == opEqual {
				lower, upper, exact = of.class(&room, k)
			}
			in := bytes.Compare(entry, lower) >= 0 && (upper == nil || bytes.Compare(entry, upper) < 0)
			if is := holds(op, x, v, of.collation); is || exact {
				require.Equal(t, is, in, "%s field %s, op %d, constant %s", typ, x, op, v)
			}
			room.clear()
		}
		if _, _, exact := of.class(&room, k); exact && value.Equal(x, v) {
			require.Equal(t, entryKey(&of, k), entryKey(&of, x), "%s field %s, constant %s: one class, two keys", typ, x, v)
		}
	}
	require.Greater(t, used, looked/2, "most constants are of use")
}

func TestNotKeyable(t *testing.T) {
	vector := value.Vector([]float32{1})
	object, err := value.Object([]value.Member{{Key: "a", Value: value.Timestamp(1)}})
	require.NoError(t, err)
	for _, c := range []struct {
		v value.Value
		t value.Type
	}{
		{value.Float(math.NaN()), value.TypeFloat},
		{value.Timestamp(1), value.TypeText},
		{value.Timestamp(1), value.TypeJSON},
		{object, value.TypeJSON},
		{vector, value.TypeJSON},
		{vector, value.ListType(value.TypeFloat)},
		{value.Vector([]float32{float32(math.NaN())}), value.VectorType(1, false)},
		{value.List([]value.Value{value.Timestamp(1)}), value.ListType(value.TypeText)},
	} {
		_, ok := keyable(c.v, c.t)
		require.False(t, ok, "%s beside %s", c.v, c.t)
	}
}

// TestIDsHoldAll does the same for ids.
func TestIDsHoldAll(t *testing.T) {
	s := sampler{rand.New(rand.NewPCG(3, 4))}
	for range 20_000 {
		id := s.int()
		if id < 1 {
			continue
		}
		v := s.any()
		for _, op := range bound {
			in := idsWhere(op, v)
			if holds(op, value.Int(id), v, collation.None) {
				require.True(t, in.first <= uint64(id) && uint64(id) <= in.last, "id %d, op %d, constant %s: %v", id, op, v, in)
			}
		}
	}
}

func TestIDs(t *testing.T) {
	for _, c := range []struct {
		op   termOp
		v    value.Value
		want ids
	}{
		{opEqual, value.Int(5), ids{5, 5}},
		{opEqual, value.Float(5), ids{5, 5}},
		{opEqual, value.Timestamp(5), ids{5, 5}},
		{opLess, value.Int(5), ids{0, 4}},
		{opLessEqual, value.Int(5), ids{0, 5}},
		{opGreater, value.Int(5), ids{6, maxID}},
		{opGreaterEqual, value.Int(5), ids{5, maxID}},
		{opLess, value.Float(5.5), ids{0, 5}},
		{opLessEqual, value.Float(5.5), ids{0, 5}},
		{opGreater, value.Float(5.5), ids{6, maxID}},
		{opGreaterEqual, value.Float(5.5), ids{6, maxID}},
		{opGreater, value.Int(-5), allIDs},
		{opGreater, value.Bool(true), allIDs},
		{opLess, value.Text("x"), allIDs},
		{opLess, value.Float(1e300), allIDs},
	} {
		require.Equal(t, c.want, idsWhere(c.op, c.v), "op %d %s", c.op, c.v)
	}
	for _, c := range []struct {
		op termOp
		v  value.Value
	}{
		{opEqual, value.Float(5.5)}, {opEqual, value.Text("5")}, {opEqual, value.Null}, {opLess, value.Null},
		{opEqual, value.Int(-1)}, {opLess, value.Float(-0.5)}, {opLess, value.Bool(true)}, {opGreater, value.Text("x")},
		{opGreater, value.Int(math.MaxInt64)},
	} {
		require.True(t, idsWhere(c.op, c.v).empty(), "op %d %s", c.op, c.v)
	}
}
