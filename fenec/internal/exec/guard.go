package exec

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Guard says what a statement may do with the collections it names. What it
// refuses fails with its error. A condition is a filter over the row whose
// parameters are those of Env.Guard; nil is met by every row.
type Guard interface {
	// Read returns the condition that a row must meet to be read, wherever in a
	// statement its collection is named.
	Read(c *catalog.Collection) (ql.Expr, error)

	// Expired returns the condition that a row must meet, beside that of Read, to
	// be read by a filter that asks for expired rows.
	Expired(c *catalog.Collection) (ql.Expr, error)

	// Insert says which documents may be put in.
	Insert(c *catalog.Collection) (Insert, error)

	// Update returns what may be changed: a row, if one of them admits it.
	Update(c *catalog.Collection) ([]Update, error)

	// Delete returns the condition that a row must meet, beside that of Read, to
	// be deleted.
	Delete(c *catalog.Collection) (ql.Expr, error)
}

// Insert says which documents may be put in.
type Insert struct {
	Where ql.Expr // what the document meets as it is written
	Fill  []Fill
	Named error // what a document fails with that names its id, or nil
}

// Fill is what a field gets that a document leaves out.
type Fill struct {
	Field string
	Value ql.Expr
}

// Update says which changes of a row are admitted.
type Update struct {
	Where  ql.Expr  // what the row meets before and after
	Fields []string // those that may change; nil for all
}

// access returns why a guard does not let a statement do with a collection what
// it is about to, if it does not let it.
type access func(Guard, *catalog.Collection) error

func toRead(g Guard, c *catalog.Collection) error {
	_, err := g.Read(c)
	return err
}

func toInsert(g Guard, c *catalog.Collection) error {
	_, err := g.Insert(c)
	return err
}

func toUpdate(g Guard, c *catalog.Collection) error {
	if _, err := g.Update(c); err != nil {
		return err
	}
	return toRead(g, c)
}

func toDelete(g Guard, c *catalog.Collection) error {
	if _, err := g.Delete(c); err != nil {
		return err
	}
	return toRead(g, c)
}

// impose notes the parameters of a condition of the guard.
func (k *compiler) impose(cond ql.Expr) {
	if cond == nil {
		return
	}
	if k.guard == nil {
		k.guard = map[*ql.Param]bool{}
	}
	ql.Walk(cond, func(e ql.Expr) bool {
		if p, ok := e.(*ql.Param); ok {
			k.guard[p] = true
		}
		return true
	})
}

// guarded imposes what the guard lets read on clauses that pick rows.
func (k *compiler) guarded(col *catalog.Collection, q *plan.Clauses) error {
	if k.opts.Guard == nil {
		return nil
	}
	cond, err := k.opts.Guard.Read(col)
	if err != nil {
		return err
	}
	if q.Where != nil && expr.NamesExpired(q.Where) {
		more, err := k.opts.Guard.Expired(col)
		if err != nil {
			return err
		}
		cond = expr.Both(cond, more)
	}
	k.impose(cond)
	q.Imposed = expr.Both(cond, q.Imposed)
	return nil
}

// test compiles a condition of the guard; nil gives nil.
func (k *compiler) test(l *level, cond ql.Expr) (*expr.Expr, error) {
	if cond == nil {
		return nil, nil
	}
	k.impose(cond)
	return l.c.Compile(cond, expr.Late)
}

// updates are the changes that a guard admits; nil without a guard.
type updates struct {
	col  *catalog.Collection
	read *expr.Expr // what a row meets before, beside them; nil for nothing
	list []update

	unread error // nothing may be read, and this is why; or nil
}

type update struct {
	where  *expr.Expr // nil for every row
	fields []string   // nil for all
}

// updates compiles what the guard lets a statement change, and returns the
// condition that a row must meet before: that one of them admits it.
func (k *compiler) updates(l *level) (*updates, ql.Expr, error) {
	if k.opts.Guard == nil {
		return nil, nil, nil
	}
	list, err := k.opts.Guard.Update(l.col)
	if err != nil {
		return nil, nil, err
	}
	u := &updates{col: l.col}
	var admitted ql.Expr
	every := false
	for i := range list {
		where, err := k.test(l, list[i].Where)
		if err != nil {
			return nil, nil, err
		}
		u.list = append(u.list, update{where, list[i].Fields})
		every = every || where == nil
		admitted = either(admitted, list[i].Where)
	}
	if every {
		admitted = nil
	}
	return u, admitted, nil
}

// either returns what requires one of two conditions; the first may be nil.
func either(a, b ql.Expr) ql.Expr {
	if a == nil {
		return b
	}
	return &ql.Binary{Op: ql.OpOr, Left: a, Right: b}
}

// heldUpdates is updates for rows that a put meets, which no filter has picked.
func (k *compiler) heldUpdates(l *level) (*updates, error) {
	u, _, err := k.updates(l)
	if u == nil || err != nil {
		return nil, err
	}
	cond, err := k.opts.Guard.Read(l.col)
	if fault.KindOf(err) == fault.Denied {
		u.unread = err
		return u, nil // nothing is shown
	}
	if err == nil {
		u.read, err = k.test(l, cond)
	}
	return u, err
}

// admits returns why a row may not be changed, however it would be.
func (u *updates) admits(f *expr.Frame, id uint64, before []byte) error {
	if u == nil {
		return nil
	}
	if ok, err := meets(f, u.read, id, before); !ok || err != nil {
		return orDenied(u.col, err)
	}
	for i := range u.list {
		if ok, err := meets(f, u.list[i].where, id, before); ok || err != nil {
			return err
		}
	}
	return denied(u.col)
}

// check returns why a row may not be changed from before to after. It makes f
// stand at one of them.
func (u *updates) check(f *expr.Frame, w *table.Writer, id uint64, before, after []byte) error {
	if u == nil {
		return nil
	}
	if ok, err := meets(f, u.read, id, before); !ok || err != nil {
		return orDenied(u.col, err)
	}
	why := denied(u.col)
	for i := range u.list {
		x := &u.list[i]
		ok, err := x.admits(f, id, before, after)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		field, err := u.beyond(x.fields, before, after)
		if err != nil {
			return err
		}
		if field == "" {
			return discreet(w, id, after)
		}
		why = fault.New(fault.Denied, "field %q of collection %q may not be changed", field, u.col.Name)
	}
	return why
}

// admits reports whether the row meets the condition before and after.
func (x *update) admits(f *expr.Frame, id uint64, before, after []byte) (bool, error) {
	ok, err := meets(f, x.where, id, before)
	if !ok || err != nil {
		return false, err
	}
	return meets(f, x.where, id, after)
}

func denied(c *catalog.Collection) error {
	return fault.New(fault.Denied, "the document may not be written so in collection %q", c.Name)
}

// orDenied returns err or, if it is nil, that a document may not be written.
func orDenied(c *catalog.Collection, err error) error {
	if err != nil {
		return err
	}
	return denied(c)
}

// discreet returns a fault.Duplicate that names neither value nor holder if
// another row than id holds a unique value of the row b: whoever a guard is for
// may not know them.
func discreet(w *table.Writer, id uint64, b []byte) error {
	held, x, err := holder(w, b, id)
	if held == 0 || err != nil {
		return err
	}
	c := w.Collection()
	return fault.New(fault.Duplicate, "%s.%s: the value is taken", c.Name, c.PathName(x))
}

// meets makes f stand at a row and reports whether the row meets cond, which is
// nil for no condition.
func meets(f *expr.Frame, cond *expr.Expr, id uint64, b []byte) (bool, error) {
	if cond == nil {
		return true, nil
	}
	if err := f.Stand(id, b); err != nil {
		return false, err
	}
	return cond.Test(f)
}

// beyond returns the name of a field that changes and is not among fields, or
// "" if there is none.
func (u *updates) beyond(fields []string, before, after []byte) (string, error) {
	if fields == nil {
		return "", nil
	}
	changed, err := ChangedFields(u.col, before, after)
	if err != nil {
		return "", err
	}
	for _, i := range changed {
		if name := u.col.Fields[i].Name; !slices.Contains(fields, name) {
			return name, nil
		}
	}
	return "", nil
}
