package exec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// lookup is one level of a lookup chain: for each row of the level above, its
// parent, the rows whose key has the parent's value.
type lookup struct {
	*level
	name     string
	member   []byte      // the name as a JSON key, with the colon
	keyed    *plan.Keyed // finds the children of all parents at once, or is nil
	columns  *selection
	parent   operand // of the level above
	required bool
	next     *lookup // or nil
}

// operand is a field of a row, or its id.
type operand struct {
	at  int // or idColumn
	typ value.Type
}

// value returns the field of the row that f stands at, in memory of its own.
func (o operand) value(f *expr.Frame) (value.Value, error) {
	if o.at == idColumn {
		return value.Int(int64(f.ID())), nil
	}
	return f.Row().Field(o.at, o.typ)
}

// operandOf returns the field of that name, or the id.
func operandOf(c *catalog.Collection, name string) (operand, error) {
	if name == "" || name == catalog.ID {
		return operand{idColumn, value.TypeInt}, nil
	}
	at, ok := c.Position(name)
	if !ok {
		return operand{}, c.NoField(name)
	}
	return operand{at, c.Fields[at].Type}, nil
}

// lookup compiles a lookup beneath a level on the collection parents.
func (k *compiler) lookup(parents *catalog.Collection, s *ql.Lookup) (*lookup, error) {
	l, err := k.level(s.Collection.Text, toRead)
	if err != nil {
		return nil, err
	}
	x := &lookup{level: l, name: s.Collection.Text, required: s.Required}
	x.member = append(value.AppendJSONString(nil, x.name), ':')
	if x.parent, err = operandOf(parents, s.Parent.Text); err != nil {
		return nil, err
	}
	if err := x.checkKey(s); err != nil {
		return nil, err
	}
	if x.columns, err = lookupColumns(l.c, s); err != nil {
		return nil, err
	}
	key := &ql.Binary{Op: ql.OpEq, Left: &ql.Path{Field: s.On.Text}, Right: parentValue}
	err = k.pick(l, plan.Clauses{Where: expr.Both(key, s.Where), Order: s.Order, Offset: s.Offset, Limit: s.Limit})
	if err != nil {
		return nil, err
	}
	if x.keyed, err = k.keyed(l, s); err != nil {
		return nil, err
	}
	if s.Lookup != nil {
		if x.next, err = k.lookup(l.col, s.Lookup); err != nil {
			return nil, err
		}
		x.columns = x.columns.without(x.next.name)
	}
	return x, nil
}

// keyed returns how the children of all parents are found at once.
func (k *compiler) keyed(l *level, s *ql.Lookup) (*plan.Keyed, error) {
	q := plan.Clauses{Where: s.Where, Order: s.Order, Offset: s.Offset, Limit: s.Limit}
	if err := k.guarded(l.col, &q); err != nil {
		return nil, err
	}
	return plan.CompileKeyed(l.c, s.On.Text, q)
}

// checkKey returns why children cannot be found by the key that s names.
func (x *lookup) checkKey(s *ql.Lookup) error {
	key, err := operandOf(x.col, s.On.Text)
	if err != nil {
		return err
	}
	if key.at != idColumn {
		ix := x.col.Fields[key.at].Index
		if ix == nil || ix.Kind != catalog.Hash && ix.Kind != catalog.Unique {
			return fault.New(fault.Query, "lookup %s on %s: the field needs an index @hash or @unique", x.name, s.On.Text)
		}
	}
	if key.typ != x.parent.typ {
		return fault.New(fault.Type, "lookup %s on %s: it is %s, and what it is compared with %s",
			x.name, s.On.Text, key.typ, x.parent.typ)
	}
	return nil
}

func lookupColumns(c *expr.Compiler, s *ql.Lookup) (*selection, error) {
	columns := make([]ql.Column, len(s.Columns))
	for i := range s.Columns {
		columns[i].Expr = &s.Columns[i]
	}
	return compileSelection(c, columns)
}

// attach finds the children of all rows of parents, whose values are in vals,
// and hangs them in.
func (x *lookup) attach(ctx context.Context, env *Env, parents *Result, vals []value.Value) error {
	f, err := x.begin(ctx, env)
	if err != nil {
		return err
	}
	defer x.end(f)
	also, done, err := x.next.tester(ctx, env, f)
	if err != nil {
		return err
	}
	defer done()
	job := x.job(env, f, env.trace.Step(plan.StepLookup, x.name))
	job.Also = also
	c := newCollector(x.columns, f, x.next, nil)
	upTo, err := x.find(ctx, job, vals, c)
	if err != nil {
		return err
	}
	parents.hang(&nested{name: x.name, member: x.member, of: c.res, upTo: upTo})
	if x.next == nil {
		return nil
	}
	return x.next.attach(ctx, env, c.res, c.parents)
}

// find gives c the children of all parents, those of one after those of the one
// before, and returns where they end.
func (x *lookup) find(ctx context.Context, job plan.Job, parents []value.Value, c *collector) (upTo []int, err error) {
	if x.keyed != nil {
		found, ok, err := x.keyed.Run(ctx, job, parents, c)
		if err != nil {
			return nil, err
		}
		if ok {
			c.arrange(found.Rows)
			return found.End, nil
		}
	}
	upTo = make([]int, len(parents))
	for i, v := range parents {
		if err := check(ctx, i); err != nil {
			return nil, err
		}
		if err := x.children(ctx, job, v, c); err != nil {
			return nil, err
		}
		upTo[i] = c.res.Len()
	}
	return upTo, nil
}

// children finds the children of one parent. Null has none.
func (x *lookup) children(ctx context.Context, job plan.Job, parent value.Value, c *collector) error {
	if parent.IsNull() {
		return nil
	}
	x.turn(job.Frame, parent)
	return x.plan.Run(ctx, job, c)
}

// turn makes f ready for the children of another parent.
func (x *lookup) turn(f *expr.Frame, parent value.Value) {
	if len(f.Outer) == 0 {
		f.Outer = make([]value.Value, 1)
	}
	f.Outer[outerParent] = parent
	f.Restart()
}

// tester returns what tells whether the row that parents stands at has the
// children it is required to have, and is nil if none are. done lets go of it.
// x may be nil.
func (x *lookup) tester(ctx context.Context, env *Env, parents *expr.Frame) (also func(uint64) (bool, error), done func(), err error) {
	if x == nil || !x.required {
		return nil, func() {}, nil
	}
	f, err := x.begin(ctx, env)
	if err != nil {
		return nil, nil, err
	}
	deeper, deeperDone, err := x.next.tester(ctx, env, f)
	if err != nil {
		x.end(f)
		return nil, nil, err
	}
	job := x.job(env, f, env.trace.Step(plan.StepRequired, x.name))
	job.Also = deeper
	also = func(uint64) (bool, error) {
		v, err := x.parent.value(parents)
		if err != nil || v.IsNull() {
			return false, err
		}
		x.turn(f, v)
		return x.plan.Any(ctx, job)
	}
	return also, func() { deeperDone(); x.end(f) }, nil
}

// collector makes a result of the rows that a run picks, and notes what their
// children are looked up by.
type collector struct {
	projector
	next    *lookup       // or nil
	parents []value.Value // of next, one a row
}

// newCollector returns a collector of a result in recycled memory, or in new memory
// if that is nil.
func newCollector(s *selection, f *expr.Frame, next *lookup, recycled *Result) *collector {
	return &collector{projector: projector{selection: s, f: f, res: s.result(recycled)}, next: next}
}

// Visit adds a row that the frame stands at.
func (c *collector) Visit(r plan.Row) error {
	if c.next != nil {
		v, err := c.next.parent.value(c.f)
		if err != nil {
			return err
		}
		c.parents = added(c.parents, v)
	}
	if c.items == nil {
		c.res.addWhole(r)
		return nil
	}
	return c.projector.add(r)
}

// arrange puts the rows that were added in an order, given by their numbers, in
// which a row may stand more than once.
func (c *collector) arrange(order []int) {
	c.res.rows = arranged(c.res.rows, order)
	if c.next != nil {
		c.parents = arranged(c.parents, order)
	}
}

func arranged[T any](list []T, order []int) []T {
	if len(order) == len(list) && inOrder(order) {
		return list
	}
	out := make([]T, len(order))
	for i, at := range order {
		out[i] = list[at]
	}
	return out
}

// inOrder reports whether order is 0, 1, 2 and so on.
func inOrder(order []int) bool {
	for i, at := range order {
		if at != i {
			return false
		}
	}
	return true
}
