package client

import (
	"net/url"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// A subscription's condition travels in the query string, where there are no
// parameters: their values are written into it.

// target returns the path and the query string of a subscription.
func target(shape fenec.Shape) (string, error) {
	where, err := condition(shape.Where, shape.Args)
	if err != nil {
		return "", err
	}
	q := url.Values{}
	if where != "" {
		q.Set("where", where)
	}
	if len(shape.Select) > 0 {
		q.Set("select", strings.Join(shape.Select, ","))
	}
	return "/" + url.PathEscape(shape.Collection) + "/changes?" + q.Encode(), nil
}

// condition returns a condition with its arguments in place of its parameters.
func condition(text string, args []any) (string, error) {
	if len(args) == 0 {
		return text, nil
	}
	tree, err := ql.ParseExpr(text)
	if err != nil {
		return "", err
	}
	params := paramsOf(tree)
	lines := strings.SplitAfter(text, "\n")
	for _, p := range slices.Backward(params) {
		if p.N > len(args) {
			return "", fault.New(fault.Query, "parameter $%d is not given", p.N)
		}
		lit, err := literal(p.N-1, args[p.N-1])
		if err != nil {
			return "", err
		}
		line := &lines[p.Pos.Line-1]
		at := byteOf(*line, int(p.Pos.Column))
		end := at + 1
		for end < len(*line) && '0' <= (*line)[end] && (*line)[end] <= '9' {
			end++
		}
		// The spaces keep a minus before it from beginning a comment.
		*line = (*line)[:at] + " " + lit + " " + (*line)[end:]
	}
	return strings.Join(lines, ""), nil
}

// paramsOf returns the parameters of an expression in the order of the text.
func paramsOf(tree ql.Expr) []*ql.Param {
	var out []*ql.Param
	ql.Walk(tree, func(e ql.Expr) bool {
		if p, ok := e.(*ql.Param); ok {
			out = append(out, p)
		}
		return true
	})
	slices.SortFunc(out, func(a, b *ql.Param) int {
		if a.Pos.Line != b.Pos.Line {
			return int(a.Pos.Line - b.Pos.Line)
		}
		return int(a.Pos.Column - b.Pos.Column)
	})
	return out
}

// byteOf returns where the column of a line begins, which counts characters from 1.
func byteOf(line string, column int) int {
	for i := range line {
		if column--; column == 0 {
			return i
		}
	}
	return len(line)
}

// literal returns argument i as the language writes it, which has no bytes.
func literal(i int, arg any) (string, error) {
	v, err := argument(i, arg)
	if err != nil {
		return "", err
	}
	if v, err = value.Coerce(v, value.TypeJSON); err != nil {
		return "", badArgument(i, err)
	}
	return ql.PrintExpr(literalOf(v)), nil
}

// literalOf returns the expression of a value of json.
func literalOf(v value.Value) ql.Expr {
	switch v.Kind() {
	case value.KindBool:
		return &ql.Literal{Kind: ql.Bool, Bool: v.AsBool()}
	case value.KindInt:
		return &ql.Literal{Kind: ql.Int, Int: v.AsInt()}
	case value.KindFloat:
		return &ql.Literal{Kind: ql.Float, Float: v.AsFloat()}
	case value.KindText:
		return &ql.Literal{Kind: ql.Text, Text: v.AsText()}
	case value.KindList:
		list := &ql.List{}
		for _, e := range v.AsList() {
			list.Items = append(list.Items, literalOf(e))
		}
		return list
	case value.KindObject:
		object := &ql.Object{}
		for _, m := range v.AsObject() {
			object.Members = append(object.Members, ql.Member{Key: m.Key, Value: literalOf(m.Value)})
		}
		return object
	}
	return &ql.Literal{Kind: ql.Null}
}
