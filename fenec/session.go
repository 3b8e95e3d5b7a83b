package fenec

import (
	"context"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Session is a database as a Policy shows it. It costs little: make one for each
// user, or for each request. It is safe for concurrent use and needs no closing.
type Session struct {
	db     *DB
	policy *Policy       // nil for the database's own session, which may do everything
	args   []any         // the policy's values
	values []value.Value // the same
}

// Session returns the database as p shows it to whom the values belong: $1 in
// the policy's conditions is the first. Values that are missing are ErrQuery.
func (db *DB) Session(p *Policy, values ...any) (*Session, error) {
	v, err := parameters(values)
	if err != nil {
		return nil, err
	}
	if len(v) < p.values {
		return nil, fault.New(fault.Query, "the policy has $%d, and the session %d values", p.values, len(v))
	}
	return &Session{db: db, policy: p, args: values, values: v}, nil
}

// Query runs one statement as DB.Query does.
func (s *Session) Query(ctx context.Context, text string, args ...any) (*Result, error) {
	return s.queryInto(ctx, nil, text, args)
}

// queryInto is Query that may answer in the memory of into, if that is not nil.
func (s *Session) queryInto(ctx context.Context, into *Result, text string, args []any) (*Result, error) {
	st, err := s.prepare(text)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, st, into, args)
}

// Exec runs one statement as DB.Exec does.
func (s *Session) Exec(ctx context.Context, text string, args ...any) (int, error) {
	res, err := s.Query(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return res.Affected(), nil
}

// View calls fn with a snapshot as DB.View does.
func (s *Session) View(ctx context.Context, fn func(*Snapshot) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	sn, err := s.snapshot()
	if err != nil {
		return err
	}
	defer sn.close()
	return fn(sn)
}

// Collections returns the names of the collections that may be read, sorted.
func (s *Session) Collections() []string {
	var names []string
	for _, c := range s.readable(s.db.catalogAt(s.db.store.Seq())) {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names
}

// readable returns the collections of cat that may be read.
func (s *Session) readable(cat *catalog.Catalog) []*catalog.Collection {
	all := cat.Collections()
	if s.policy == nil {
		return all
	}
	var out []*catalog.Collection
	for _, c := range all {
		if _, err := s.policy.guard().Read(c); err == nil {
			out = append(out, c)
		}
	}
	return out
}

// schemas returns the definitions that a collections or a describe is about.
func (s *Session) schemas(tree ql.Statement, cat *catalog.Catalog) ([]*catalog.Collection, error) {
	d, ok := tree.(*ql.Describe)
	if !ok {
		return s.readable(cat), nil
	}
	c, err := cat.Collection(d.Name.Text)
	if err != nil {
		return nil, err
	}
	if s.policy != nil {
		if _, err := s.policy.guard().Read(c); err != nil {
			return nil, noCollection(c.Name)
		}
	}
	return []*catalog.Collection{c}, nil
}

// allows returns why a statement may not be run, whatever it names.
func (s *Session) allows(tree ql.Statement) error {
	if s.policy == nil || reads(tree) {
		return nil
	}
	if s.policy.readOnly {
		return fault.New(fault.ReadOnly, "the session may only read")
	}
	switch tree.(type) {
	case *ql.Put, *ql.Set, *ql.Del:
		return nil
	}
	if s.policy.schema {
		return nil
	}
	return fault.New(fault.Denied, "the session may neither change the schema nor compact")
}

// knows returns why a schema statement may not name a collection that is there:
// on one without grants there is none.
func (s *Session) knows(cat *catalog.Catalog, name string) error {
	c := cat.Find(name)
	if s.policy == nil || c == nil {
		return nil
	}
	_, err := s.policy.of(c)
	return err
}

// discreet returns the error of the index that def creates without the value and
// the documents that a duplicate names: the session may not see them.
func (s *Session) discreet(def *ql.CreateIndex, err error) error {
	if s.policy == nil || fault.KindOf(err) != fault.Duplicate {
		return err
	}
	return fault.New(fault.Duplicate, "%s.%s: documents share a value", def.On.Text, def.Path.String())
}
