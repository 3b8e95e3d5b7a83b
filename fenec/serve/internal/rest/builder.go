package rest

import (
	"errors"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// builder gathers what a statement is made of besides its tree.
type builder struct {
	args []any

	// free is set when parts of the tree were written by the client: whether
	// they go together is then not known before the whole has been parsed.
	free bool
}

// param makes v an argument and returns its parameter.
func (b *builder) param(v value.Value) ql.Expr {
	b.args = append(b.args, v)
	n := len(b.args)
	if n <= len(firstParams) {
		return &firstParams[n-1]
	}
	return &ql.Param{N: n}
}

// firstParams are $1, $2 and so on, which trees may share.
var firstParams = func() (list [32]ql.Param) {
	for i := range list {
		list[i].N = i + 1
	}
	return list
}()

// statement prints the tree.
func (b *builder) statement(tree ql.Statement, answer Answer) (Statement, error) {
	st := Statement{Text: ql.Print(tree), Args: b.args, Answer: answer}
	if b.free {
		if _, err := ql.Parse(st.Text); err != nil {
			return Statement{}, unplaced(err)
		}
	}
	return st, nil
}

// unplaced returns an error of the parser without the place, which is one in a
// text that the client has not written.
func unplaced(err error) error {
	var e *ql.Error
	if errors.As(err, &e) {
		return fault.New(fault.Query, "%s", e.Msg)
	}
	return err
}

// chained is the most operands of "and" or "or" that become a chain, each term
// of which is a level of the expression.
const chained = 64

// join returns the operands joined by op, or nil if there are none.
func join(op ql.Op, list []ql.Expr) ql.Expr {
	switch {
	case len(list) == 0:
		return nil
	case len(list) > chained:
		half := len(list) / 2
		return &ql.Binary{Op: op, Left: join(op, list[:half]), Right: join(op, list[half:])}
	}
	e := list[0]
	for _, right := range list[1:] {
		e = &ql.Binary{Op: op, Left: e, Right: right}
	}
	return e
}
