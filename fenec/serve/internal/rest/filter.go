package rest

import (
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// comparisons are the operators of filters that compare with one value.
var comparisons = map[string]ql.Op{
	"eq": ql.OpEq, "neq": ql.OpNe, "ne": ql.OpNe,
	"lt": ql.OpLt, "lte": ql.OpLe, "le": ql.OpLe,
	"gt": ql.OpGt, "gte": ql.OpGe, "ge": ql.OpGe,
	"has": ql.OpHas, "like": ql.OpContains,
}

// filter returns the condition that the pair key=text puts on c: an operator, a
// dot and a value, with "not." before it to negate it, or a value alone.
func (b *builder) filter(c *Collection, key, text string) (ql.Expr, error) {
	x, err := c.value(key)
	if err != nil {
		return nil, err
	}
	negate := false
	for {
		rest, ok := strings.CutPrefix(text, "not.")
		if !ok {
			break
		}
		negate, text = !negate, rest
	}
	e, err := b.test(key, x, text)
	if negate && err == nil {
		e = &ql.Unary{Op: ql.OpNot, X: e}
	}
	return e, err
}

// test returns the condition that an operator and its value, or a value alone,
// put on x. key names x.
func (b *builder) test(key string, x operand, text string) (ql.Expr, error) {
	if word, rest, ok := strings.Cut(text, "."); ok {
		switch op := comparisons[word]; {
		case op != 0:
			return b.compare(key, x, op, rest)
		case word == "in":
			return b.among(key, x, rest)
		case word == "is":
			return isNull(key, x, rest)
		}
	}
	return b.compare(key, x, ql.OpEq, text)
}

func isNull(key string, x operand, text string) (ql.Expr, error) {
	if !strings.EqualFold(text, "null") {
		return nil, fault.New(fault.Query, `%s: after "is" comes "null", not %.80q`, key, text)
	}
	return &ql.IsNull{X: x.path}, nil
}

// compare returns "x op text".
func (b *builder) compare(key string, x operand, op ql.Op, text string) (ql.Expr, error) {
	v, err := compared(key, x.typ, op, text)
	if err != nil {
		return nil, err
	}
	return &ql.Binary{Op: op, Left: x.path, Right: b.param(v)}, nil
}

// compared returns the value that a field of type t is compared with.
func compared(key string, t value.Type, op ql.Op, text string) (value.Value, error) {
	switch {
	case op == ql.OpHas:
		return literal(key, t.Elem(), text)
	case t.IsList():
		return value.Null, fault.New(fault.Query,
			`%s: it is a list: say what it "has", that it has one of those "in" a list, or "is.null"`, key)
	case op == ql.OpContains:
		return value.Text(text), filterable(key, t)
	}
	return literal(key, t, text)
}

// among returns "x in (…)", of a list that it has one of the values.
func (b *builder) among(key string, x operand, text string) (ql.Expr, error) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "("), ")")
	list := make([]ql.Expr, 0, strings.Count(text, ",")+1)
	for item := range strings.SplitSeq(text, ",") {
		v, err := literal(key, x.typ.Elem(), strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		list = append(list, b.param(v))
	}
	if !x.typ.IsList() {
		return &ql.In{X: x.path, List: list}, nil
	}
	for i, item := range list {
		list[i] = &ql.Binary{Op: ql.OpHas, Left: x.path, Right: item}
	}
	return join(ql.OpOr, list), nil
}
