package exec

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/text"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// column is a column of a result.
type column struct {
	name   string
	member []byte     // the name as a JSON key, with the colon
	at     int        // its position in the result's rows, or idColumn
	typ    value.Type // it is stored with
}

// Positions of columns that are not in the rows' data.
const (
	idColumn    = -1 // the row's id
	scoreColumn = -2 // the row's score
)

// anyType is the type of columns that are computed: a json field is stored in
// a form that says what it holds, whatever that is.
var anyType = value.TypeJSON

func newColumn(name string, at int, t value.Type) column {
	return column{name: name, member: append(value.AppendJSONString(nil, name), ':'), at: at, typ: t}
}

// selection is the columns of a get.
type selection struct {
	*heading
	items  []item // nil when the result's rows are the collection's
	types  []value.Type
	marked bool // an item is a mark
}

// item is a column that a result's rows hold.
type item struct {
	x     *expr.Expr // what is computed; nil for a field
	mark  *mark      // or nil
	field int
}

// compileSelection compiles a select list. None at all stands for whole rows.
func compileSelection(c *expr.Compiler, columns []ql.Column) (*selection, error) {
	if len(columns) == 0 {
		return wholeRows(c.Collection()), nil
	}
	out := &selection{heading: new(heading), items: []item{}}
	seen := map[string]ql.Expr{}
	for i := range columns {
		if err := out.add(c, &columns[i], seen); err != nil {
			return nil, err
		}
	}
	out.heading = newHeading(out.columns...)
	return out, nil
}

// wholeRows returns the columns of a get without a select list.
func wholeRows(c *catalog.Collection) *selection {
	columns := []column{newColumn(catalog.ID, idColumn, value.TypeInt)}
	for i := range c.Fields {
		if c.Fields[i].Dropped() {
			continue
		}
		columns = append(columns, newColumn(c.Fields[i].Name, i, c.Fields[i].Type))
	}
	return &selection{heading: newHeading(columns...)}
}

// without returns the columns but the one of that name, which something else
// in the answer has.
func (s *selection) without(name string) *selection {
	i := slices.Index(s.names, name)
	if i < 0 {
		return s
	}
	out := *s
	out.heading = newHeading(slices.Delete(slices.Clone(s.columns), i, i+1)...)
	return &out
}

// withScore returns the columns and, as the last one, that of a ranking's scores.
func (s *selection) withScore() (*selection, error) {
	if slices.Contains(s.names, scoreName) {
		return nil, fault.New(fault.Query, "a ranking has its scores in %q, no other column can be called so", scoreName)
	}
	out := *s
	out.heading = s.with(newColumn(scoreName, scoreColumn, value.TypeFloat))
	return &out, nil
}

// add adds a column. seen is the columns before it by name.
func (s *selection) add(c *expr.Compiler, def *ql.Column, seen map[string]ql.Expr) error {
	if def.Mark != nil {
		return s.addMark(c, def.Mark, seen)
	}
	path, plain := def.Expr.(*ql.Path)
	name := def.As.Text
	if name == "" {
		if !plain {
			return fault.New(fault.Query, "a column that is computed needs a name: as name")
		}
		name = path.String()
	}
	x, err := c.Compile(def.Expr, expr.Early)
	if err != nil {
		return err
	}
	if before, ok := seen[name]; ok {
		old, was := before.(*ql.Path)
		if plain && was && old.String() == path.String() {
			return nil
		}
		return fault.New(fault.Query, "two columns are named %q", name)
	}
	seen[name] = def.Expr
	s.place(c.Collection(), name, path, x)
	return nil
}

func (s *selection) addMark(c *expr.Compiler, def *ql.Mark, seen map[string]ql.Expr) error {
	m, err := compileMark(c, def)
	if err != nil {
		return err
	}
	if _, ok := seen[m.name]; ok {
		return fault.New(fault.Query, "two columns are named %q", m.name)
	}
	seen[m.name] = nil
	s.marked = true
	s.columns = append(s.columns, newColumn(m.name, len(s.items), anyType))
	s.items = append(s.items, item{mark: m})
	s.types = append(s.types, anyType)
	return nil
}

// place gives a column its position in the result's rows. path is nil when the
// column is computed.
func (s *selection) place(c *catalog.Collection, name string, path *ql.Path, x *expr.Expr) {
	it, t := item{x: x}, anyType
	if path != nil && len(path.Keys) == 0 {
		if path.Field == catalog.ID {
			s.columns = append(s.columns, newColumn(name, idColumn, value.TypeInt))
			return
		}
		it.field, _ = c.Position(path.Field) // known, as it was compiled
		it.x, t = nil, c.Fields[it.field].Type
	}
	s.columns = append(s.columns, newColumn(name, len(s.items), t))
	s.items = append(s.items, it)
	s.types = append(s.types, t)
}

// result returns a result of these columns, which has no rows yet: in the memory of
// one that was recycled, or in new memory if that is nil.
func (s *selection) result(recycled *Result) *Result {
	r := recycled
	if r == nil {
		r = new(Result)
		r.rows = r.room[:0]
	}
	r.heading = s.heading
	return r
}

// projector makes a result's rows of the rows picked.
type projector struct {
	*selection
	f      *expr.Frame
	res    *Result
	marker *text.Marker // where an item is a mark
	vals   []value.Value
	buf    []byte
}

// add adds a row that f stands at.
func (p *projector) add(r plan.Row) error {
	p.vals = p.vals[:0]
	for i := range p.items {
		v, err := p.value(&p.items[i], i)
		if err != nil {
			return err
		}
		p.vals = append(p.vals, v)
	}
	p.buf = row.Encode(p.buf[:0], p.types, p.vals)
	p.res.rows = added(p.res.rows, resultRow{r.ID, p.res.memory.Copy(p.buf)})
	return nil
}

func (p *projector) value(it *item, i int) (value.Value, error) {
	switch {
	case it.x != nil:
		return it.x.Eval(p.f)
	case it.mark != nil:
		return it.mark.value(p.f, p.marker)
	}
	return p.f.Row().View(it.field, p.types[i])
}
