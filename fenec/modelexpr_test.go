package fenec_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// expression is an expression as text, and as the oracle computes it.
type expression struct {
	text string
	eval func(scope) (any, error)
}

// condition makes an expression that never fails, whatever row it meets: which
// rows a filter is evaluated for is the database's choice.
func (g *generator) condition(t *table, depth int) *expression {
	if depth > 0 && g.chance(45) {
		a, b := g.condition(t, depth-1), g.condition(t, depth-1)
		switch g.IntN(4) {
		case 0:
			return &expression{"not (" + a.text + ")", func(s scope) (any, error) {
				v, err := a.eval(s)
				return !truthy(v), err
			}}
		case 1:
			return binary("("+a.text+" or "+b.text+")", a, b, func(x, y any) any { return truthy(x) || truthy(y) })
		}
		return binary("("+a.text+" and "+b.text+")", a, b, func(x, y any) any { return truthy(x) && truthy(y) })
	}
	f := pickOne(g, slices.Concat(t.fields, []modelField{{name: "id", typ: "int"}})...)
	x := fieldExpression(f.name)
	switch n := g.IntN(20); {
	case n == 0 && f.typ == "bool":
		return x
	case n <= 1:
		return g.isNull(x)
	case n <= 4:
		return g.in(x, f.typ)
	case n <= 7 && f.typ == "text":
		y := g.constant(pickOne(g, "a", "B", "long", "é", ""))
		return binary(x.text+" ~ "+y.text, x, y, func(a, b any) any {
			s, ok := a.(string)
			return ok && strings.Contains(strings.ToLower(s), strings.ToLower(b.(string)))
		})
	case n <= 12 && strings.HasPrefix(f.typ, "["):
		y := g.constant(g.value(strings.Trim(f.typ, "[]")))
		return binary(x.text+" has "+y.text, x, y, func(a, b any) any {
			list, _ := a.([]any)
			return slices.ContainsFunc(list, func(e any) bool { return equals(e, b) })
		})
	case n == 13 && f.typ != "bool":
		x = g.update(t, f)
		if _, err := x.eval(scope{&world{}, 1, doc{}}); err != nil || strings.ContainsAny(x.text, "+-*/") {
			x = fieldExpression(f.name)
		}
	}
	return g.comparison(x, f.typ)
}

func (g *generator) isNull(x *expression) *expression {
	if g.chance(50) {
		return binary(x.text+" is null", x, x, func(a, _ any) any { return a == nil })
	}
	return binary(x.text+" is not null", x, x, func(a, _ any) any { return a != nil })
}

func (g *generator) in(x *expression, typ string) *expression {
	var items []*expression
	var texts []string
	for range pickOne(g, 0, 1, 2, 3, 12) {
		items = append(items, g.constant(g.comparable(typ)))
		texts = append(texts, items[len(items)-1].text)
	}
	return binary(x.text+" in ["+strings.Join(texts, ", ")+"]", x, x, func(a, _ any) any {
		for _, item := range items {
			if v, _ := item.eval(scope{}); equals(a, v) {
				return true
			}
		}
		return false
	})
}

func (g *generator) comparison(x *expression, typ string) *expression {
	y := g.constant(g.comparable(typ))
	if g.chance(10) {
		x, y = y, x
	}
	op := pickOne(g, "=", "=", "=", "==", "!=", "<>", "<", "<=", ">", ">=")
	return binary(x.text+" "+op+" "+y.text, x, y, func(a, b any) any {
		if op[0] == '=' || op[0] == '!' || op == "<>" {
			return equals(a, b) == (op[0] == '=')
		}
		sign := compare(a, b)
		return a != nil && b != nil && (op[0] == '<' && sign < 0 || op[0] == '>' && sign > 0 || op[1:] == "=" && sign == 0)
	})
}

func binary(text string, a, b *expression, of func(x, y any) any) *expression {
	return &expression{text, func(s scope) (any, error) {
		x, err := a.eval(s)
		if err != nil {
			return nil, err
		}
		y, err := b.eval(s)
		if err != nil {
			return nil, err
		}
		return of(x, y), nil
	}}
}

func fieldExpression(name string) *expression {
	return &expression{name, func(s scope) (any, error) { return s.field(name), nil }}
}

// update makes an expression of fields that most often fits field f.
func (g *generator) update(t *table, f modelField) *expression {
	same := slices.DeleteFunc(slices.Concat(t.fields, []modelField{f}), func(o modelField) bool { return o.typ != f.typ })
	x := fieldExpression(pickOne(g, same...).name)
	switch g.IntN(6) {
	case 0:
		return x
	case 1:
		y := g.constant(g.value(f.typ))
		return &expression{"coalesce(" + x.text + ", " + y.text + ")", func(s scope) (any, error) {
			if v, err := x.eval(s); v != nil || err != nil {
				return v, err
			}
			return y.eval(s)
		}}
	case 2:
		cond, y := g.condition(t, 1), g.constant(g.value(f.typ))
		return &expression{"case when " + cond.text + " then " + x.text + " else " + y.text + " end", func(s scope) (any, error) {
			if v, err := cond.eval(s); err != nil || truthy(v) {
				if err != nil {
					return nil, err
				}
				return x.eval(s)
			}
			return y.eval(s)
		}}
	case 3:
		if f.typ == "timestamp" {
			return &expression{"now()", func(s scope) (any, error) { return s.w.now, nil }}
		}
		return g.constant(g.fit(f.typ))
	case 4:
		return g.constant(g.fit(f.typ))
	}
	return g.compute(x, f.typ)
}

// compute makes an arithmetic expression, which may fail.
func (g *generator) compute(x *expression, typ string) *expression {
	op, y := pickOne(g, '+', '-', '*', '/'), g.constant(pickOne[any](g, int64(1), int64(2), int64(-3), int64(0), 0.5))
	switch typ {
	case "text":
		op, y = '+', g.constant(pickOne(g, "a", "b", ""))
	case "timestamp":
		op, y = pickOne(g, '+', '-'), g.constant(int64(g.IntN(1e9)))
	case "bool", "[int]", "[text]":
		if g.chance(90) {
			return x
		}
	}
	return &expression{x.text + " " + string(op) + " " + y.text, func(s scope) (any, error) {
		a, err := x.eval(s)
		if err != nil {
			return nil, err
		}
		b, err := y.eval(s)
		if err != nil {
			return nil, err
		}
		return arithmetic(byte(op), a, b)
	}}
}

// value makes a value of a type, from few so that they meet again.
func (g *generator) value(typ string) any {
	switch typ {
	case "bool":
		return g.chance(50)
	case "int":
		if g.chance(4) {
			return pickOne[any](g, int64(1<<53), int64(1<<53+1), int64(-1<<53-1), int64(1<<40))
		}
		return int64(g.IntN(40) - 10)
	case "float":
		if g.chance(4) {
			return pickOne[any](g, float64(1<<53), 1e300, -1e-300, 0.1)
		}
		return float64(g.IntN(60)-20) / 4
	case "text":
		return g.text()
	case "timestamp":
		return moment(1767225600000 + int64(g.IntN(30))*21600000 + int64(g.IntN(10)/9*g.IntN(1000)))
	}
	list := []any{}
	for range g.IntN(4) {
		if g.chance(5) {
			list = append(list, nil)
			continue
		}
		list = append(list, g.value(strings.Trim(typ, "[]")))
	}
	return list
}

func (g *generator) text() string {
	switch g.IntN(40) {
	case 0:
		return "long " + strings.Repeat("x", 300) + strconv.Itoa(g.IntN(3))
	case 1:
		return pickOne(g, "a\x00", "a\x00b", "quote \" and \\", "line\nbreak", "É", "é", "日本")
	case 2:
		if g.chance(10) { // longer than an index key
			return strings.Repeat("y", 17<<10) + strconv.Itoa(g.IntN(3))
		}
	}
	return string(rune('a'+g.IntN(8))) + strings.Repeat("b", g.IntN(3))
}

// fit makes a value that a field of the type takes, of another type at times.
func (g *generator) fit(typ string) any {
	if g.chance(8) {
		return nil
	}
	v := g.value(typ)
	if g.chance(80) {
		return v
	}
	switch x := v.(type) {
	case int64:
		if x == int64(float64(x)) {
			return float64(x)
		}
	case float64:
		return int64(g.IntN(9))
	case string:
		return g.value("timestamp")
	case moment:
		return pickOne[any](g, x.String(), int64(x))
	}
	return v
}

// misfit makes a value that a field of the type does not take.
func (g *generator) misfit(typ string) any {
	switch typ {
	case "int":
		return pickOne[any](g, "7", 7.5, true)
	case "float":
		return pickOne[any](g, "1.5", false, []any{int64(1)})
	case "text":
		return pickOne[any](g, int64(7), 7.5, true, []any{"a"})
	case "bool":
		return pickOne[any](g, int64(1), "true", moment(0))
	case "timestamp":
		return pickOne[any](g, "yesterday", "2026-02-30", 1.5, true)
	}
	return pickOne[any](g, "a", int64(1), []any{true}, []any{[]any{}})
}

// comparable makes a value that is worth comparing with one of the type.
func (g *generator) comparable(typ string) any {
	switch g.IntN(20) {
	case 0:
		return nil
	case 1:
		return g.value(pickOne(g, "bool", "int", "float", "text", "timestamp", "[int]"))
	case 2, 3, 4:
		switch typ {
		case "int":
			return g.value("float")
		case "float":
			return g.value("int")
		case "timestamp":
			return pickOne[any](g, g.value(typ).(moment).String(), "2026-01-03", "never", int64(1767225600000))
		}
	}
	return g.value(typ)
}

// constant makes an expression that is v: a literal or a parameter.
func (g *generator) constant(v any) *expression {
	e := &expression{eval: func(scope) (any, error) { return v, nil }}
	if _, timestamp := v.(moment); timestamp && g.chance(50) {
		e.text = "timestamp(" + literal(v.(moment).String()) + ")"
	} else if timestamp || g.chance(30) {
		g.args = append(g.args, v)
		e.text = "$" + strconv.Itoa(len(g.args))
	} else {
		e.text = literal(v)
	}
	return e
}

// literal writes a value as the language does.
func literal(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case string:
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\x00", `\0`).Replace(x) + `"`
	case float64:
		s := strconv.FormatFloat(x, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	case []any:
		parts := make([]string, len(x))
		for i := range x {
			parts[i] = literal(x[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// goValue returns v as one of the Go values that stand for it.
func (g *generator) goValue(v any) any {
	type named string
	switch x := v.(type) {
	case int64:
		if x == int64(int32(x)) {
			return pickOne[any](g, x, int(x), int32(x), &x, json.Number(strconv.FormatInt(x, 10)))
		}
	case float64:
		if x == float64(float32(x)) {
			return pickOne[any](g, x, float32(x), &x)
		}
	case string:
		quoted, _ := json.Marshal(x)
		return pickOne[any](g, x, named(x), &x, json.RawMessage(quoted))
	case moment:
		return pickOne[any](g, x.Time(), x.Time().In(time.FixedZone("", 3600)))
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = g.goValue(x[i])
		}
		return list
	case nil:
		return pickOne[any](g, nil, (*int)(nil), json.RawMessage("null"))
	}
	return v
}
