package expr

import (
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Fields says what becomes of the fields that an expression names.
type Fields uint8

const (
	Late   Fields = iota // one the collection lacks is an error of the row that reads it
	Filter               // as Late, in a filter, where expired() may stand
	Early                // one the collection lacks is an error of the compilation
	None                 // there is no row: a field is a fault.Query of the compilation
)

// Compiler compiles the expressions of one statement. It is for one goroutine;
// the statement's runs only read it.
type Compiler struct {
	// Slots, if set, says which parts of an expression are read from a frame's
	// Slots or Outer instead of the row, and nil for all others.
	Slots func(e ql.Expr) (*Slot, error)

	// Inner, if set, prepares a get within an expression and returns which of a
	// frame's Inners holds its values. It is asked once for each get.
	Inner func(g *ql.Get) (int, error)

	// Functions are the functions of an embedder, by name in lower case.
	Functions map[string]Function

	col    *catalog.Collection
	fields Fields
	memos  int
	inners map[*ql.Get]int
}

// Slot is where a part of an expression finds its value.
type Slot struct {
	At    int
	Outer bool     // in the frame's Outer, which stays as it is for a run; else in its Slots
	Keys  []string // a path into the json that is there
}

// NewCompiler returns a compiler of expressions over c's documents.
func NewCompiler(c *catalog.Collection) *Compiler { return &Compiler{col: c} }

// Collection returns the collection whose documents are read.
func (c *Compiler) Collection() *catalog.Collection { return c.col }

// Expr is a compiled expression.
type Expr struct {
	node  node
	cond  cond
	class class
}

// Compile compiles e. A function that does not exist or gets another number of
// arguments than it takes is a fault.Query.
func (c *Compiler) Compile(e ql.Expr, fields Fields) (*Expr, error) {
	c.fields = fields
	n, class, err := c.compile(e)
	if err != nil {
		return nil, err
	}
	n = c.once(n, class)
	return &Expr{node: n, cond: asCond(n), class: class}, nil
}

// Constant reports whether x has the same value for every row of a run.
func (x *Expr) Constant() bool { return x.class != perRow }

// Eval returns the value of x. It may lie in the memory of f's row.
func (x *Expr) Eval(f *Frame) (value.Value, error) { return x.node.eval(f) }

// Test reports whether the value of x counts as true.
func (x *Expr) Test(f *Frame) (bool, error) { return x.cond.test(f) }

// class says how often a part of an expression is to be computed.
type class uint8

const (
	perText class = iota // once: its text is all it depends on
	perRun               // once a run
	perRow
)

// node is a compiled expression.
type node interface {
	eval(f *Frame) (value.Value, error)
}

// cond is a node that computes its truth.
type cond interface {
	test(f *Frame) (bool, error)
}

// asCond returns n as a condition.
func asCond(n node) cond {
	if c, ok := n.(cond); ok {
		return c
	}
	return truth{n}
}

// truth is the truth of any value.
type truth struct{ node }

func (t truth) test(f *Frame) (bool, error) {
	v, err := t.eval(f)
	return v.Truthy(), err
}

// compile returns e as a node. What it returns for class perText is a literal
// or a failure.
func (c *Compiler) compile(e ql.Expr) (node, class, error) {
	if c.Slots != nil {
		if s, err := c.Slots(e); s != nil || err != nil {
			return newSlot(s), s.class(), err
		}
	}
	switch e := e.(type) {
	case *ql.Literal, *ql.List, *ql.Object:
		v, err := constant(e)
		if err != nil {
			return nil, 0, err
		}
		return &literal{v}, perText, nil
	case *ql.Param:
		return param(e.N), perRun, nil
	case *ql.Path:
		n, err := c.path(e)
		return n, perRow, err
	case *ql.Unary:
		return c.unary(e)
	case *ql.Binary:
		return c.binary(e)
	case *ql.In:
		if e.Get != nil {
			return c.inGet(e)
		}
		return c.in(e)
	case *ql.IsNull:
		return c.isNull(e)
	case *ql.Case:
		return c.caseWhen(e)
	case *ql.Call:
		return c.call(e)
	case *ql.Duration:
		return nil, 0, fault.New(fault.Query, "%s: a length of time stands only in bucket", e.Pos)
	}
	return nil, 0, fault.New(fault.Query, "an expression of %T is not known", e)
}

// parts compiles the parts of an expression and returns the highest of their
// classes. Parts that are computed once a run are made so when the whole is
// computed for each row.
func (c *Compiler) parts(exprs ...ql.Expr) ([]node, class, error) {
	nodes := make([]node, len(exprs))
	classes := make([]class, len(exprs))
	highest := perText
	for i, e := range exprs {
		var err error
		if nodes[i], classes[i], err = c.compile(e); err != nil {
			return nil, 0, err
		}
		highest = max(highest, classes[i])
	}
	if highest == perRow {
		for i, n := range nodes {
			nodes[i] = c.once(n, classes[i])
		}
	}
	return nodes, highest, nil
}

// once returns n, or what computes it once a run if that is worth it.
func (c *Compiler) once(n node, class class) node {
	if class != perRun {
		return n
	}
	switch n.(type) {
	case param, now, outer:
		return n
	}
	c.memos++
	return &onceRun{node: n, at: c.memos - 1}
}

// finish returns a node whose parts have the given class: computed, if nothing
// but its text decides its value.
func finish(n node, class class) (node, class, error) {
	if class != perText {
		return n, class, nil
	}
	v, err := n.eval(&Frame{})
	if err != nil {
		return failure{err}, perText, nil
	}
	return &literal{v}, perText, nil
}

// constant returns the value of a literal, a list or an object as the language
// writes constants: numbers are exact.
func constant(e ql.Expr) (value.Value, error) {
	switch e := e.(type) {
	case *ql.Literal:
		return scalar(e), nil
	case *ql.List:
		elems := make([]value.Value, len(e.Items))
		for i, item := range e.Items {
			v, err := constant(item)
			if err != nil {
				return value.Null, err
			}
			elems[i] = v
		}
		return value.List(elems), nil
	case *ql.Object:
		members := make([]value.Member, len(e.Members))
		for i, m := range e.Members {
			v, err := constant(m.Value)
			if err != nil {
				return value.Null, err
			}
			members[i] = value.Member{Key: m.Key, Value: v}
		}
		return value.Object(members)
	}
	return value.Null, fault.New(fault.Query, "a list and an object hold constants only")
}

func scalar(l *ql.Literal) value.Value {
	switch l.Kind {
	case ql.Bool:
		return value.Bool(l.Bool)
	case ql.Int:
		return value.Int(l.Int)
	case ql.Float:
		return value.Float(l.Float)
	case ql.Text:
		return value.Text(l.Text)
	}
	return value.Null
}
