package exec

import (
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// groupCompiler compiles the clauses of a get with aggregates.
type groupCompiler struct {
	*grouping
	c     *expr.Compiler
	outer func(ql.Expr) (*expr.Slot, error) // of what is no part of a group

	items []ql.Column    // the select list
	texts []string       // of the keys
	at    map[string]int // of the aggregates, by their texts
	named bool           // names of columns stand for them
	slots []int          // that the expression being compiled reads
}

func (gc *groupCompiler) compile(s *ql.Get) error {
	gc.items, gc.at = s.Columns, map[string]int{}
	for _, e := range s.Group {
		if err := gc.addKey(e); err != nil {
			return err
		}
	}
	gc.c.Slots = gc.slot
	defer func() { gc.c.Slots = gc.outer }()
	for i := range s.Columns {
		if err := gc.addColumn(&s.Columns[i]); err != nil {
			return err
		}
	}
	if s.Having != nil {
		gc.named = true
		x, err := gc.expr(s.Having)
		if err != nil {
			return err
		}
		gc.having = &x
	}
	return gc.compileOrder(s.Order)
}

// addKey adds a key: an expression over rows, or the name of a column that is
// one.
func (gc *groupCompiler) addKey(e ql.Expr) error {
	if p, ok := e.(*ql.Path); ok && len(p.Keys) == 0 {
		for i := range gc.items {
			if gc.items[i].As.Text == p.Field {
				e = gc.items[i].Expr
			}
		}
	}
	if ql.HasAggregate(e) {
		return fault.New(fault.Query, "group %s: an aggregate is no key of a group", ql.PrintExpr(e))
	}
	key, err := compileSource(gc.c, e)
	if err != nil {
		return err
	}
	gc.keys = append(gc.keys, key)
	gc.texts = append(gc.texts, exprText(e))
	return nil
}

// addColumn adds a column of the select list.
func (gc *groupCompiler) addColumn(def *ql.Column) error {
	name, err := groupColumnName(def)
	if err != nil {
		return err
	}
	for _, before := range gc.names {
		if before == name {
			return fault.New(fault.Query, "two columns are named %q", name)
		}
	}
	x, err := gc.expr(def.Expr)
	if err != nil {
		return err
	}
	gc.columns = append(gc.columns, x)
	gc.names = append(gc.names, name)
	return nil
}

func groupColumnName(def *ql.Column) (string, error) {
	if def.As.Text != "" {
		return def.As.Text, nil
	}
	switch e := def.Expr.(type) {
	case *ql.Path:
		return e.String(), nil
	case *ql.Call:
		if ql.IsAggregate(e.Name) {
			return ql.CallName(e), nil
		}
	}
	return "", fault.New(fault.Query, "a column that is computed needs a name: as name")
}

// expr compiles an expression over groups.
func (gc *groupCompiler) expr(e ql.Expr) (groupExpr, error) {
	gc.slots = nil
	x, err := gc.c.Compile(e, expr.Early)
	return groupExpr{x, gc.slots}, err
}

// slot says where a part of an expression over groups finds its value: it is a
// key or an aggregate as a whole, or in having a column.
func (gc *groupCompiler) slot(e ql.Expr) (*expr.Slot, error) {
	switch e := e.(type) {
	case *ql.Literal, *ql.List, *ql.Object, *ql.Param:
		return gc.outer(e)
	case *ql.Call:
		if ql.IsAggregate(e.Name) {
			at, err := gc.aggregate(e)
			return gc.read(len(gc.keys) + len(gc.items) + at), err
		}
	}
	text := exprText(e)
	for i, key := range gc.texts {
		if key == text {
			return gc.read(i), nil
		}
	}
	if p, ok := e.(*ql.Path); ok {
		return gc.column(p)
	}
	return gc.outer(e)
}

// read notes that a slot is read.
func (gc *groupCompiler) read(slot int) *expr.Slot {
	gc.slots = append(gc.slots, slot)
	return &expr.Slot{At: slot}
}

// column returns the slot of the column of that name, which is no key.
func (gc *groupCompiler) column(p *ql.Path) (*expr.Slot, error) {
	if gc.named {
		for i, name := range gc.names {
			if name == p.String() {
				return gc.read(len(gc.keys) + i), nil
			}
		}
	}
	if _, ok := gc.c.Collection().Position(p.Field); !ok && p.Field != catalog.ID {
		return nil, gc.c.Collection().NoField(p.Field)
	}
	return nil, fault.New(fault.Query, "%q is neither a key of the group nor inside an aggregate", p.String())
}

// aggregate returns the number of an aggregate.
func (gc *groupCompiler) aggregate(e *ql.Call) (int, error) {
	text := exprText(e)
	if at, ok := gc.at[text]; ok {
		return at, nil
	}
	gc.c.Slots = gc.outer
	a, err := compileAggregate(gc.c, e)
	gc.c.Slots = gc.slot
	if err != nil {
		return 0, err
	}
	gc.aggregates = append(gc.aggregates, a)
	gc.at[text] = len(gc.aggregates) - 1
	return gc.at[text], nil
}

// exprText returns a text that is the same for expressions that are the same
// but for the case of a function's name.
func exprText(e ql.Expr) string {
	if c, ok := e.(*ql.Call); ok {
		lower := *c
		lower.Name = strings.ToLower(c.Name)
		return ql.CallName(&lower)
	}
	return ql.PrintExpr(e)
}
