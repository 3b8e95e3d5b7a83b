package fenec

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Access says what sessions may do. The zero Access allows nothing.
type Access struct {
	// Collections are the grants on collections, by name.
	Collections map[string]Grants

	// Others are the grants on every collection that Collections does not name.
	Others Grants

	// ReadOnly makes every write fail with ErrReadOnly.
	ReadOnly bool

	// Schema allows to create collections, to alter, index and drop those with a
	// grant, whichever it is, and to compact. What it drops or requires to be unique
	// it does for all rows, those that the session may not read included.
	Schema bool

	// Check, if set, is called with every row that a statement is about to write,
	// after all else has been found right, and with the session's values. That
	// includes the removal of an expired row whose id or unique value is needed. An
	// error of Check fails the statement as one of a hook does, see DB.SetHook. It is
	// called under the write lock: it must return soon and must not use the database.
	Check func(values []any, c *RowChange) error
}

// Grants says what may be done with the rows of one collection. A collection
// without any grant does not exist: what names it fails with ErrNotFound. With
// some, what is not among them fails with ErrDenied.
type Grants struct {
	// Read are the rows that are there at all for every read, wherever in a
	// statement the collection is named, and for set and del.
	Read Rows

	// Expired are the rows, of those in Read, that a filter with expired() finds.
	Expired Rows

	// Insert is what a new document must be, as it is written.
	Insert Rows

	// Update are the changes of rows that are admitted: one of them must admit
	// the row both before and after. Set passes over rows that are not in Read or
	// that none admits before; a put that would replace or set one fails with
	// ErrDenied. Where nothing may be read, a put needs no more than Update.
	Update []Update

	// Delete are the rows, of those in Read, that del finds.
	Delete Rows

	// Fill are the values that fields get which a new document leaves out: an
	// expression by the field's name.
	Fill map[string]string

	// NamedID lets documents bring their id.
	NamedID bool
}

// Rows says which rows are meant: those that meet a condition of the language, such
// as "owner = $1". Its parameters are the session's values. It may hold neither
// a get nor expired(). The empty Rows is none.
type Rows string

// EveryRow is all rows.
const EveryRow Rows = "true"

// Update admits changes of rows.
type Update struct {
	Rows   Rows
	Fields []string // those that may change; nil for all
}

// Policy is what some sessions may see and do. Statements are compiled once for
// all sessions of a policy, in each database: make a Policy once for everybody
// whose conditions differ in values only. It is safe for concurrent use.
//
// Nothing that a session is answered depends on a row that it may not read, but
// for what all rows share: ids and sequences count on from those of everybody, and
// that an id, a unique value or a collection's name is taken shows, since two
// cannot have it. A duplicate then names the field and neither value nor row, "if
// absent" passes over the document, and "else set" is ErrDenied before it looks at
// the row; where nothing may be read, whether a put may change a row shows that
// its Update admits it. A subscription may look again, and be seeded again, because
// of what others wrote. Near walks a graph of all vectors, so which rows it
// misses, where it misses any, may depend on hidden ones; near with exact does
// not. Explain says how many rows the get answers, but not how they were found.
//
// So that no error tells either, a filter beside a condition is computed so: its
// constants first, even where there is no row; then on each row the terms that
// cannot fail; and on what passes those, by ascending id, the terms that may, such
// as "10 / n > 2". A condition itself should not fail on any row: its error fails
// the statement.
type Policy struct {
	collections map[string]*grants
	others      *grants
	readOnly    bool
	schema      bool
	check       func(values []any, c *RowChange) error
	values      int // that sessions need
}

// grants are Grants that have been read.
type grants struct {
	read, expired, insert, delete *condition // nil for none
	update                        []exec.Update
	fill                          []exec.Fill
	namedID                       bool
}

// condition is Rows that have been read.
type condition struct{ where ql.Expr } // nil for every row

// NewPolicy reads the conditions of a. What is wrong with one is ErrQuery.
// Whether collections and fields are there shows when a statement names them.
func NewPolicy(a Access) (*Policy, error) {
	p := &Policy{collections: map[string]*grants{}, readOnly: a.ReadOnly, schema: a.Schema, check: a.Check}
	var err error
	if p.others, err = p.grants(&a.Others); err != nil {
		return nil, err
	}
	for name, g := range a.Collections {
		if p.collections[name], err = p.grants(&g); err != nil {
			return nil, fmt.Errorf("collection %q: %w", name, err)
		}
	}
	return p, nil
}

func (p *Policy) grants(from *Grants) (*grants, error) {
	g := &grants{namedID: from.NamedID}
	var err error
	for _, x := range []struct {
		to   **condition
		rows Rows
	}{{&g.read, from.Read}, {&g.expired, from.Expired}, {&g.insert, from.Insert}, {&g.delete, from.Delete}} {
		if *x.to, err = p.rows(x.rows); err != nil {
			return nil, err
		}
	}
	for _, u := range from.Update {
		cond, err := p.rows(u.Rows)
		if err != nil {
			return nil, err
		}
		if cond != nil {
			g.update = append(g.update, exec.Update{Where: cond.where, Fields: u.Fields})
		}
	}
	for _, field := range slices.Sorted(maps.Keys(from.Fill)) {
		x, err := p.parse(from.Fill[field])
		if err != nil {
			return nil, err
		}
		g.fill = append(g.fill, exec.Fill{Field: field, Value: x})
	}
	return g, nil
}

// rows reads a condition.
func (p *Policy) rows(r Rows) (*condition, error) {
	switch r {
	case "":
		return nil, nil
	case EveryRow:
		return &condition{}, nil
	}
	x, err := p.parse(string(r))
	return &condition{x}, err
}

// parse reads an expression over a row and the session's values.
func (p *Policy) parse(text string) (ql.Expr, error) {
	x, err := ql.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	ql.Walk(x, func(e ql.Expr) bool {
		switch e := e.(type) {
		case *ql.Param:
			p.values = max(p.values, e.N)
		case *ql.In:
			if e.Get != nil {
				err = fault.New(fault.Query, "a policy's condition holds no get")
			}
		case *ql.Call:
			if expr.IsExpired(e) {
				err = fault.New(fault.Query, "a policy's condition holds no expired()")
			}
		}
		return true
	})
	return x, err
}

// none reports whether nothing is granted.
func (g *grants) none() bool {
	return g.read == nil && g.expired == nil && g.insert == nil && g.delete == nil && len(g.update) == 0
}

// guard is a Policy as statements are compiled for it.
type guard struct{ *Policy }

// guard returns what statements are compiled for; p may be nil.
func (p *Policy) guard() exec.Guard {
	if p == nil {
		return nil
	}
	return guard{p}
}

// of returns the grants on c, or why there is no such collection.
func (p *Policy) of(c *catalog.Collection) (*grants, error) {
	g, ok := p.collections[c.Name]
	if !ok {
		g = p.others
	}
	if g.none() {
		return nil, noCollection(c.Name)
	}
	return g, nil
}

// noCollection returns the error for a collection that is not there.
func noCollection(name string) error {
	_, err := new(catalog.Catalog).Collection(name)
	return err
}

// condition returns one of the conditions on c, or why it grants nothing.
func (p *Policy) condition(c *catalog.Collection, what string, of func(*grants) *condition) (ql.Expr, error) {
	g, err := p.of(c)
	if err != nil {
		return nil, err
	}
	cond := of(g)
	if cond == nil {
		return nil, refused(c, what)
	}
	return cond.where, nil
}

func refused(c *catalog.Collection, what string) error {
	return fault.New(fault.Denied, "documents of collection %q may not be %s", c.Name, what)
}

func (p guard) Read(c *catalog.Collection) (ql.Expr, error) {
	return p.condition(c, "read", func(g *grants) *condition { return g.read })
}

func (p guard) Expired(c *catalog.Collection) (ql.Expr, error) {
	return p.condition(c, "read once they are expired", func(g *grants) *condition { return g.expired })
}

func (p guard) Delete(c *catalog.Collection) (ql.Expr, error) {
	return p.condition(c, "deleted", func(g *grants) *condition { return g.delete })
}

func (p guard) Insert(c *catalog.Collection) (exec.Insert, error) {
	where, err := p.condition(c, "inserted", func(g *grants) *condition { return g.insert })
	if err != nil {
		return exec.Insert{}, err
	}
	g, err := p.of(c)
	if err != nil {
		return exec.Insert{}, err
	}
	in := exec.Insert{Where: where, Fill: g.fill}
	if !g.namedID {
		in.Named = fault.New(fault.Denied, "documents of collection %q may not bring their id", c.Name)
	}
	return in, nil
}

func (p guard) Update(c *catalog.Collection) ([]exec.Update, error) {
	g, err := p.of(c)
	if err != nil {
		return nil, err
	}
	if len(g.update) == 0 {
		return nil, refused(c, "changed")
	}
	return g.update, nil
}
