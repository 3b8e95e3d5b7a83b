package fenec_test

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// asked is what all parts of one statement share.
type asked struct {
	w      *world
	params []any
	inners map[*ql.Get][]any // the values of gets that have been run
}

// scope is what an expression is evaluated in.
type scope struct {
	*asked
	t  *table
	id int64
	d  doc // nil where there is no row

	refused doc // what "new" stands for, or nil

	// stands, if set, says what a part of an expression over groups stands for.
	stands func(ql.Expr) (v any, ok bool, err error)
}

func (s *scope) eval(e ql.Expr) (any, error) {
	if s.stands != nil {
		if v, ok, err := s.stands(e); ok || err != nil {
			return v, err
		}
	}
	switch e := e.(type) {
	case *ql.Literal:
		return literalValue(e), nil
	case *ql.List:
		list := make([]any, len(e.Items))
		for i := range e.Items {
			list[i], _ = s.eval(e.Items[i]) // a constant
		}
		return list, nil
	case *ql.Object:
		object := map[string]any{}
		for _, m := range e.Members {
			object[m.Key], _ = s.eval(m.Value)
		}
		return object, nil
	case *ql.Param:
		if e.N > len(s.params) {
			return nil, fenec.ErrQuery
		}
		return s.params[e.N-1], nil
	case *ql.Path:
		return s.path(e)
	case *ql.Unary:
		v, err := s.eval(e.X)
		if err != nil {
			return nil, err
		}
		if e.Op == ql.OpNot {
			return !truthy(v), nil
		}
		return arithmetic('*', v, int64(-1))
	case *ql.Binary:
		return s.binary(e)
	case *ql.In:
		return s.in(e)
	case *ql.IsNull:
		v, err := s.eval(e.X)
		return (v == nil) != e.Not, err
	case *ql.Case:
		return s.caseWhen(e)
	case *ql.Call:
		return s.call(e)
	}
	panic("the model does not know this expression")
}

func literalValue(l *ql.Literal) any {
	switch l.Kind {
	case ql.Bool:
		return l.Bool
	case ql.Int:
		return l.Int
	case ql.Float:
		return l.Float
	case ql.Text:
		return l.Text
	}
	return nil
}

func (s *scope) path(p *ql.Path) (any, error) {
	if p.Field == "new" && s.refused != nil {
		return getPath(s.refused[p.Keys[0]], p.Keys[1:]), nil
	}
	if p.Field == "id" {
		if len(p.Keys) > 0 {
			return nil, fenec.ErrType
		}
		return s.id, nil
	}
	f := s.t.field(p.Field)
	switch {
	case f == nil:
		return nil, fenec.ErrNotFound
	case len(p.Keys) > 0 && f.Type.Kind != ql.TypeJSON:
		return nil, fenec.ErrType
	}
	return s.d.at(p), nil
}

func (s *scope) binary(e *ql.Binary) (any, error) {
	a, err := s.eval(e.Left)
	if err != nil {
		return nil, err
	}
	if e.Op == ql.OpAnd && !truthy(a) || e.Op == ql.OpOr && truthy(a) {
		return truthy(a), nil
	}
	b, err := s.eval(e.Right)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case ql.OpAnd, ql.OpOr:
		return truthy(b), nil
	case ql.OpEq, ql.OpNe:
		return equals(a, b) == (e.Op == ql.OpEq), nil
	case ql.OpHas:
		list, _ := a.([]any)
		return slices.ContainsFunc(list, func(item any) bool { return equals(item, b) }), nil
	case ql.OpContains:
		t, ok := a.(string)
		u, ok2 := b.(string)
		return ok && ok2 && strings.Contains(lower(t), lower(u)), nil
	case ql.OpAdd, ql.OpSub, ql.OpMul, ql.OpDiv:
		return arithmetic(e.Op.String()[0], a, b)
	}
	if a == nil || b == nil {
		return false, nil
	}
	sign := compareBy(a, b, s.collation(e.Left, e.Right))
	switch e.Op {
	case ql.OpLt:
		return sign < 0, nil
	case ql.OpLe:
		return sign <= 0, nil
	case ql.OpGt:
		return sign > 0, nil
	}
	return sign >= 0, nil
}

// collation returns the collation of the first of some expressions that is a
// field with one.
func (s *scope) collation(exprs ...ql.Expr) string {
	for _, e := range exprs {
		if p, ok := e.(*ql.Path); ok && s.t != nil && len(p.Keys) == 0 {
			if f := s.t.field(p.Field); f != nil && f.Collate != "" {
				return f.Collate
			}
		}
	}
	return ""
}

func (s *scope) in(e *ql.In) (any, error) {
	v, err := s.eval(e.X)
	if err != nil {
		return nil, err
	}
	if e.Get != nil {
		values, out := s.inner(e.Get)
		return slices.ContainsFunc(values, func(item any) bool { return equals(v, item) }), out.err
	}
	for _, item := range e.List {
		x, err := s.eval(item)
		if err != nil {
			return nil, err
		}
		if equals(v, x) {
			return true, nil
		}
	}
	return false, nil
}

func (s *scope) caseWhen(e *ql.Case) (any, error) {
	for _, when := range e.Whens {
		v, err := s.eval(when.Cond)
		if err != nil {
			return nil, err
		}
		if truthy(v) {
			return s.eval(when.Then)
		}
	}
	if e.Else == nil {
		return nil, nil
	}
	return s.eval(e.Else)
}

// call calls a scalar function.
func (s *scope) call(e *ql.Call) (any, error) {
	name := strings.ToLower(e.Name)
	var args []any
	for _, a := range e.Args {
		if d, ok := a.(*ql.Duration); ok {
			args = append(args, d)
			continue
		}
		v, err := s.eval(a)
		if err != nil {
			return nil, err
		}
		if args = append(args, v); name == "coalesce" && v != nil {
			return v, nil // the rest is not looked at
		}
	}
	switch name {
	case "now":
		return s.w.now, nil
	case "expired":
		return s.w.expired(s.t, s.d), nil
	case "coalesce":
		return nil, nil
	case "greatest":
		return extreme(args, 1), nil
	case "least":
		return extreme(args, -1), nil
	case "lower", "upper":
		t, ok := args[0].(string)
		switch {
		case !ok:
			return args[0], nil
		case name == "lower":
			return lower(t), nil
		}
		return strings.ToUpper(t), nil
	case "len":
		return length(args[0]), nil
	case "timestamp":
		if _, ok := args[0].(float64); ok {
			return nil, fenec.ErrType
		}
		return coerce(&ql.TypeDef{Kind: ql.TypeTimestamp}, args[0])
	case "bucket":
		return bucket(args[0], args[1])
	case "distance", "within":
		return geoCall(name, args)
	case "hll_estimate": // of a sketch of few values
		return args[0], nil
	}
	return vectorCall(name, args)
}

func lower(s string) string { return strings.ToLower(strings.ReplaceAll(s, "İ", "i\u0307")) }

func extreme(args []any, sign int) any {
	var best any
	for _, v := range args {
		if v != nil && (best == nil || compare(v, best)*sign > 0) {
			best = v
		}
	}
	return best
}

func length(v any) int64 {
	switch x := v.(type) {
	case string:
		return int64(utf8.RuneCountInString(x))
	case blob:
		return int64(len(x))
	case vector:
		return int64(len(x))
	case []any:
		return int64(len(x))
	}
	return 0
}

// bucket returns the start of the bucket that holds v, an int or a moment.
func bucket(v, width any) (any, error) {
	if v == nil {
		return nil, nil
	}
	d, ok := width.(*ql.Duration)
	if n, isInt := width.(int64); isInt {
		d, ok = &ql.Duration{N: n, Unit: "ms"}, true
	}
	if s, isText := width.(string); isText {
		digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")
		d, ok = &ql.Duration{N: atoi(digits), Unit: s[len(digits):]}, true
	}
	ms, isInt := v.(int64)
	m, isTime := v.(moment)
	if !ok || !isInt && !isTime {
		return nil, fenec.ErrType
	}
	if isTime {
		ms = int64(m)
	}
	start := bucketStart(ms, d)
	if start > ms { // it has no start that an int can hold
		return nil, fenec.ErrQuery
	}
	if isTime {
		return moment(start), nil
	}
	return start, nil
}

func bucketStart(ms int64, d *ql.Duration) int64 {
	months := map[string]int64{"mo": 1, "y": 12}[d.Unit] * d.N
	if months == 0 {
		width, origin := units[d.Unit]*d.N, int64(0)
		if d.Unit == "w" {
			origin = 4 * units["d"]
		}
		return origin + floorDiv(ms-origin, width)*width
	}
	t := time.UnixMilli(ms).UTC()
	month := floorDiv(int64(t.Year()-1970)*12+int64(t.Month())-1, months) * months
	return time.Date(1970, time.January+time.Month(month), 1, 0, 0, 0, 0, time.UTC).UnixMilli()
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
