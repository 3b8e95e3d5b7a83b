package rules

import (
	"errors"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Scope is what a token may see and do. It does not change.
type Scope struct {
	// Policy is shared by all tokens that differ in values only.
	Policy *fenec.Policy

	// Values are those of the policy's parameters.
	Values []any

	file  *File
	rules []*rule // those that apply
}

// For returns the scope of a token with those claims. An error says why such a token
// is refused.
func (f *File) For(c Claims) (*Scope, error) {
	if err := f.bounded(c); err != nil {
		return nil, err
	}
	s := &Scope{file: f, rules: with(f.rules, func(r *rule) bool { return r.applies(c) })}
	lists := f.listsOf(s.rules, c)
	lengths := make([]int, len(lists))
	for i, list := range lists {
		lengths[i] = padded(len(list))
	}
	var err error
	if s.Policy, err = f.policy(s.rules, lengths); err != nil {
		return nil, err
	}
	s.Values = f.values(c, lists, lengths)
	return s, nil
}

// Session returns a database as the token's carrier sees it.
func (s *Scope) Session(db *fenec.DB) (*fenec.Session, error) {
	return db.Session(s.Policy, s.Values...)
}

// Explain returns err, which a statement of the scope's session ended with, or a
// better one: what may not be changed because it is append-only is said to be that.
func (s *Scope) Explain(err error, statement string) error {
	if !errors.Is(err, fenec.ErrDenied) {
		return err
	}
	tree, wrong := ql.Parse(statement)
	if wrong != nil {
		return err
	}
	if name, ok := changed(tree); ok && s.file.onlyAppends(name) {
		return fenec.Denied("collection %q is append-only: its documents are neither updated nor deleted", name)
	}
	return err
}

// changed returns the collection of which a statement changes documents that are
// there.
func changed(tree ql.Statement) (name string, ok bool) {
	switch s := tree.(type) {
	case *ql.Set:
		return s.Name.Text, true
	case *ql.Del:
		return s.From.Text, true
	case *ql.Put:
		return s.Into.Text, s.HasElse
	}
	return "", false
}
