package expr

import (
	"math"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// vectors makes constant arguments that are lists of numbers the vectors they
// stand for, where the rest is computed for each row.
func (c *Compiler) vectors(args []node, class class) {
	for i, n := range args {
		if class == perRow && isConstant(n) {
			args[i] = c.derived(n, listVector)
		}
	}
}

// listVector returns a list of numbers as a vector, anything else as it is.
func listVector(v value.Value) (value.Value, error) {
	if v.Kind() != value.KindList || v.Len() == 0 {
		return v, nil
	}
	return value.Coerce(v, value.VectorType(v.Len(), false))
}

// isVectorField reports whether n is a field that holds a vector.
func isVectorField(n node) bool {
	x, ok := n.(*field)
	return ok && x.typ.Is(value.BaseVector)
}

// components returns the numbers of the vector that n gives. Those of a field lie
// in *scratch.
func components(f *Frame, n node, scratch *[]float32) ([]float32, error) {
	if isVectorField(n) {
		x := n.(*field)
		out, ok, err := f.row.AppendVector((*scratch)[:0], x.at, x.typ)
		*scratch = out
		if err == nil && !ok {
			err = noVector(value.KindNull)
		}
		return out, err
	}
	v, err := n.eval(f)
	if err != nil {
		return nil, err
	}
	if v, err = listVector(v); err != nil {
		return nil, err
	}
	if v.Kind() != value.KindVector {
		return nil, noVector(v.Kind())
	}
	return v.AsVector(), nil
}

func noVector(k value.Kind) error { return fault.New(fault.Type, "want a vector, got %s", k) }

// The measures of two vectors: what near's scores are before they are rounded to
// a float32.
var cosine, l2, dot = vector.Similarity, vector.Distance, vector.Product

// measure compares two vectors of one dimension.
type measure struct {
	left, right node
	of          func(a, b []float32) float64
}

func measureOf(of func(a, b []float32) float64) func([]node) node {
	return func(args []node) node { return &measure{args[0], args[1], of} }
}

func (x *measure) eval(f *Frame) (value.Value, error) {
	a, b, err := x.operands(f)
	if err != nil {
		return value.Null, err
	}
	if len(a) != len(b) {
		return value.Null, fault.New(fault.Type, "a vector of %d components beside one of %d", len(a), len(b))
	}
	return finite(x.of(a, b))
}

// operands returns both vectors. A field comes after what is not one, which may
// read vectors of its own into the frame's memory.
func (x *measure) operands(f *Frame) (a, b []float32, err error) {
	if !isVectorField(x.right) {
		if b, err = components(f, x.right, &f.right); err != nil {
			return nil, nil, err
		}
		a, err = components(f, x.left, &f.left)
		return a, b, err
	}
	if a, err = components(f, x.left, &f.left); err != nil {
		return nil, nil, err
	}
	b, err = components(f, x.right, &f.right)
	return a, b, err
}

func finite(x float64) (value.Value, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return value.Null, fault.New(fault.Query, "the measure of two vectors is not a finite number")
	}
	return value.Float(x), nil
}

// norm is the length of a vector.
type norm struct{ x node }

func (x *norm) eval(f *Frame) (value.Value, error) {
	v, err := components(f, x.x, &f.left)
	if err != nil {
		return value.Null, err
	}
	return finite(vector.Norm(v))
}

// normalize is a vector of length 1 in the same direction.
type normalize struct{ x node }

func (x *normalize) eval(f *Frame) (value.Value, error) {
	v, err := components(f, x.x, &f.left)
	if err != nil {
		return value.Null, err
	}
	out := make([]float32, len(v))
	vector.Normalize(out, v)
	return value.Vector(out), nil
}
