package value

import (
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

// Base is a type without the lists around it.
type Base uint8

// The bases. Their numbers are no part of any stored form.
const (
	BaseBool Base = iota + 1
	BaseInt
	BaseFloat
	BaseText
	BaseBytes
	BaseTimestamp
	BaseVector
	BaseJSON
	BaseSparse
	BaseGeo
)

var baseNames = [...]string{
	BaseBool:      "bool",
	BaseInt:       "int",
	BaseFloat:     "float",
	BaseText:      "text",
	BaseBytes:     "bytes",
	BaseTimestamp: "timestamp",
	BaseVector:    "vector",
	BaseJSON:      "json",
	BaseSparse:    "sparse",
	BaseGeo:       "geo",
}

// Limits of types, which Check enforces.
const (
	MaxDim       = 1 << 20 // components of a vector
	MaxListDepth = 32      // lists in lists
)

// Type is what a field is declared as. Types are comparable with ==. The zero
// Type is no type.
type Type struct {
	base  Base
	f16   bool  // of a vector: components are stored as float16
	lists uint8 // how many lists the base lies in
	dim   int   // of a vector: its number of components, and of a sparse vector
}

// The types without parameters.
var (
	TypeBool      = Type{base: BaseBool}
	TypeInt       = Type{base: BaseInt}
	TypeFloat     = Type{base: BaseFloat}
	TypeText      = Type{base: BaseText}
	TypeBytes     = Type{base: BaseBytes}
	TypeTimestamp = Type{base: BaseTimestamp}
	TypeJSON      = Type{base: BaseJSON}
	TypeGeo       = Type{base: BaseGeo}
)

// VectorType returns the type of vectors of dim components, stored as float16
// when f16 is set and as float32 otherwise.
func VectorType(dim int, f16 bool) Type { return Type{base: BaseVector, dim: dim, f16: f16} }

// SparseType returns the type of sparse vectors of dimension dim.
func SparseType(dim int) Type { return Type{base: BaseSparse, dim: dim} }

// ListType returns the type of lists of elem. Lists nested deeper than a Type
// can tell stay at that depth, which Check refuses.
func ListType(elem Type) Type {
	if elem.lists < 255 {
		elem.lists++
	}
	return elem
}

// Base returns the type within all lists: BaseText for [[text]].
func (t Type) Base() Base { return t.base }

// IsList reports whether t is a list.
func (t Type) IsList() bool { return t.lists > 0 }

// Elem returns the type of a list's elements: [text] for [[text]]. Of a type
// that is no list it is the type itself.
func (t Type) Elem() Type {
	if t.lists > 0 {
		t.lists--
	}
	return t
}

// Is reports whether t is b itself and no list.
func (t Type) Is(b Base) bool { return t.base == b && t.lists == 0 }

// Dim returns the number of components of a vector, sparse or not, and 0 for
// other bases.
func (t Type) Dim() int { return t.dim }

// F16 reports whether a vector's components are stored as float16.
func (t Type) F16() bool { return t.f16 }

// Check returns why a field cannot be of type t: fault.Type for lists of json,
// fault.Query for a vector without components or over MaxDim, for a sparse vector
// without or over MaxSparseDim, for lists over MaxListDepth and for the zero Type.
func (t Type) Check() error {
	switch {
	case t.base == 0 || int(t.base) >= len(baseNames):
		return fault.New(fault.Query, "a field needs a type")
	case t.base == BaseVector && (t.dim < 1 || t.dim > MaxDim):
		return fault.New(fault.Query, "%s: a vector has 1 to %d components", t, MaxDim)
	case t.base == BaseSparse && (t.dim < 1 || t.dim > MaxSparseDim):
		return fault.New(fault.Query, "%s: a sparse vector has dimension 1 to %d", t, MaxSparseDim)
	case t.base == BaseJSON && t.lists > 0:
		return fault.New(fault.Type, "%s: a list of json is not a type, json holds lists", t)
	case t.lists > MaxListDepth:
		return fault.New(fault.Query, "a type nests at most %d lists", MaxListDepth)
	}
	return nil
}

// String returns the type as FenecQL spells it: "vector<4, f16>", "[text]".
func (t Type) String() string {
	name := "no type"
	if t.base != 0 && int(t.base) < len(baseNames) {
		name = baseNames[t.base]
	}
	if t.base == BaseVector || t.base == BaseSparse {
		name += "<" + strconv.Itoa(t.dim)
		if t.f16 {
			name += ", f16"
		}
		name += ">"
	}
	n := int(t.lists)
	return strings.Repeat("[", n) + name + strings.Repeat("]", n)
}
