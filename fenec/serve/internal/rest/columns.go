package rest

import (
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// columns returns the columns of a select: names of fields and paths, or a list
// in the language.
func (b *builder) columns(c *Collection, text string) (star bool, columns []ql.Column, err error) {
	if computes(text) {
		return b.selectList(text)
	}
	names, err := items("select", text)
	if err != nil {
		return false, nil, err
	}
	columns = make([]ql.Column, len(names))
	for i, name := range names {
		x, err := c.value(name)
		if err != nil {
			return false, nil, err
		}
		columns[i].Expr = x.path
	}
	return false, columns, nil
}

// computes reports whether a select is a list in the language and not just names.
func computes(text string) bool {
	return strings.ContainsRune(text, '(') || strings.Contains(strings.ToLower(text), " as ")
}

// paths returns the columns of a select that allows fields and paths alone. key
// names it.
func (c *Collection) paths(key, text string) ([]ql.Path, error) {
	if computes(text) {
		return nil, fault.New(fault.Query, "%s: only fields and paths are selected there", key)
	}
	names, err := items(key, text)
	if err != nil {
		return nil, err
	}
	paths := make([]ql.Path, len(names))
	for i, name := range names {
		x, err := c.value(name)
		if err != nil {
			return nil, err
		}
		paths[i] = *x.path
	}
	return paths, nil
}
