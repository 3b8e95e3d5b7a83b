package expr

import (
	"strings"
	"unicode/utf8"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// function is a scalar function: how many arguments it takes and what it makes
// of them.
type function struct {
	least, most int // arguments; most is -1 without a bound
	of          func(args []node) node
	vectors     bool // of vectors, for which lists of numbers stand too
}

const anyNumber = -1

// functions are all functions by their name in lower case, but for now and
// bucket, which call compiles by itself.
var functions = map[string]function{
	"lower":     {least: 1, most: 1, of: mapOf(infallible(value.Lower))},
	"upper":     {least: 1, most: 1, of: mapOf(infallible(value.Upper))},
	"len":       {least: 1, most: 1, of: mapOf(infallible(length))},
	"timestamp": {least: 1, most: 1, of: mapOf(value.ToTimestamp)},
	"coalesce":  {least: 1, most: anyNumber, of: func(args []node) node { return coalesce(args) }},
	"greatest":  {least: 1, most: anyNumber, of: func(args []node) node { return &extreme{args, 1} }},
	"least":     {least: 1, most: anyNumber, of: func(args []node) node { return &extreme{args, -1} }},
	"cosine":    {least: 2, most: 2, vectors: true, of: measureOf(cosine)},
	"l2":        {least: 2, most: 2, vectors: true, of: measureOf(l2)},
	"dot":       {least: 2, most: 2, vectors: true, of: measureOf(dot)},
	"norm":      {least: 1, most: 1, vectors: true, of: func(args []node) node { return &norm{args[0]} }},
	"normalize": {least: 1, most: 1, vectors: true, of: func(args []node) node { return &normalize{args[0]} }},
	"distance":  {least: 2, most: 2, of: func(args []node) node { return &distance{args[0], args[1]} }},
	"within":    {least: 2, most: 2, of: func(args []node) node { return &inBox{args[0], args[1]} }},

	"hll_estimate": {least: 1, most: 1, of: mapOf(hllEstimate)},
}

func (c *Compiler) call(e *ql.Call) (node, class, error) {
	name := strings.ToLower(e.Name)
	switch name {
	case "now":
		return now{}, perRun, arity(e, 0, 0)
	case "bucket":
		return c.bucket(e)
	case expiredName:
		return c.expired(e)
	}
	if fn, ok := c.Functions[name]; ok {
		return c.plugin(e, fn)
	}
	fn, ok := functions[name]
	if !ok {
		return nil, 0, fault.New(fault.Query, "%s: there is no function %q here", e.Pos, e.Name)
	}
	if err := arity(e, fn.least, fn.most); err != nil {
		return nil, 0, err
	}
	nodes, class, err := c.parts(e.Args...)
	if err != nil {
		return nil, 0, err
	}
	if fn.vectors {
		c.vectors(nodes, class)
	}
	return finish(fn.of(nodes), class)
}

// arity returns why a call has the wrong number of arguments.
func arity(e *ql.Call, least, most int) error {
	n := len(e.Args)
	if n >= least && (n <= most || most == anyNumber) {
		return nil
	}
	return fault.New(fault.Query, "%s: %s does not take %d arguments", e.Pos, e.Name, n)
}

// mapped is a function of one value.
type mapped struct {
	node node
	of   func(value.Value) (value.Value, error)
}

func (m *mapped) eval(f *Frame) (value.Value, error) {
	v, err := m.node.eval(f)
	if err != nil {
		return value.Null, err
	}
	return m.of(v)
}

func mapOf(of func(value.Value) (value.Value, error)) func([]node) node {
	return func(args []node) node { return &mapped{args[0], of} }
}

func infallible(of func(value.Value) value.Value) func(value.Value) (value.Value, error) {
	return func(v value.Value) (value.Value, error) { return of(v), nil }
}

// length is len: characters of a text, elements of what has them, else 0.
func length(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindText:
		return value.Int(int64(utf8.RuneCountInString(v.AsText())))
	case value.KindBytes, value.KindVector, value.KindList:
		return value.Int(int64(v.Len()))
	}
	return value.Int(0)
}

// coalesce is its first argument that is not null.
type coalesce []node

func (x coalesce) eval(f *Frame) (value.Value, error) {
	for _, n := range x {
		if v, err := n.eval(f); err != nil || !v.IsNull() {
			return v, err
		}
	}
	return value.Null, nil
}

// extreme is greatest, with sign 1, and least, with -1.
type extreme struct {
	args []node
	sign int
}

func (x *extreme) eval(f *Frame) (value.Value, error) {
	best := value.Null
	for _, n := range x.args {
		v, err := n.eval(f)
		if err != nil {
			return value.Null, err
		}
		if !v.IsNull() && (best.IsNull() || value.Compare(v, best)*x.sign > 0) {
			best = v
		}
	}
	return best, nil
}
