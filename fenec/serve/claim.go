package serve

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// claim is what a held request waits for: a write to one of its collections, or
// a moment at which time itself lets a row match.
type claim struct {
	collections []string
	moments     []moment
}

// moment is a condition "field <op> now() + shift": a row begins to meet it, or
// ceases to, when the time passes its field less the shift.
type moment struct {
	collection string
	field      string
	shift      time.Duration
	next       string // the get that finds the next such field past $1
}

// claims finds out what a request waits for that is to be held while it writes
// nothing. It refuses one that cannot be.
func (c *call) claims(kinds []*traits) *Answer {
	if c.holding == nil {
		return nil
	}
	x := &claim{}
	for _, t := range kinds {
		if err := x.add(t); err != nil {
			a := Fail(http.StatusBadRequest, "Fenec-Wait: "+err.Error())
			return &a
		}
	}
	c.claim = x
	return c.takeTurn()
}

func (x *claim) add(t *traits) error {
	var name string
	var where ql.Expr
	switch tree := t.tree.(type) {
	case *ql.Set:
		name, where = tree.Name.Text, tree.Where
	case *ql.Del:
		name, where = tree.From.Text, tree.Where
	default:
		if t.verb.writes() {
			return errors.New("only set and del can wait")
		}
		return nil
	}
	x.collections = append(x.collections, t.reads...)
	return x.times(name, where)
}

// times collects the moments of a condition.
func (x *claim) times(collection string, where ql.Expr) (err error) {
	if where == nil {
		return nil
	}
	ql.Walk(where, func(e ql.Expr) bool {
		switch e := e.(type) {
		case *ql.Binary:
			field, shift, ok := againstNow(e)
			if ok {
				x.moments = append(x.moments, newMoment(collection, field, shift))
				return false
			}
		case *ql.Call:
			switch strings.ToLower(e.Name) {
			case "now":
				err = errors.New(`a condition may use now() as "field < now() + n" only, with <, <=, > or >=`)
			case "expired":
				x.moments = append(x.moments, moment{collection: collection})
			}
		}
		return err == nil
	})
	return err
}

func newMoment(collection string, field *ql.Path, shift time.Duration) moment {
	name := ql.PrintExpr(field)
	get := &ql.Get{From: ql.Name{Text: collection}, Columns: []ql.Column{{Expr: field}}, Order: []ql.Key{{Path: *field}}}
	one := int64(1)
	get.Limit = &one
	get.Where = &ql.Binary{Op: ql.OpGt, Left: field, Right: &ql.Param{N: 1}}
	return moment{collection, name, shift, ql.Print(get)}
}

// againstNow takes "field <op> now() + shift" apart, either way round.
func againstNow(b *ql.Binary) (field *ql.Path, shift time.Duration, ok bool) {
	switch b.Op {
	case ql.OpLt, ql.OpLe, ql.OpGt, ql.OpGe:
	default:
		return nil, 0, false
	}
	left, right := b.Left, b.Right
	if _, isPath := left.(*ql.Path); !isPath {
		left, right = right, left
	}
	field, isPath := left.(*ql.Path)
	shift, isNow := nowPlus(right)
	return field, shift, isPath && isNow
}

// longestShift bounds what is added to now(), in milliseconds: some 100 years.
const longestShift = 100 * 366 * 24 * int64(time.Hour/time.Millisecond)

// nowPlus takes "now()", "now() + number" or "now() - number" apart, the number
// in milliseconds.
func nowPlus(e ql.Expr) (time.Duration, bool) {
	switch e := e.(type) {
	case *ql.Call:
		return 0, isNow(e)
	case *ql.Binary:
		call, isCall := e.Left.(*ql.Call)
		n, isLiteral := e.Right.(*ql.Literal)
		if !isCall || !isLiteral || !isNow(call) || n.Kind != ql.Int || n.Int > longestShift || n.Int < -longestShift {
			return 0, false
		}
		shift := time.Duration(n.Int) * time.Millisecond
		switch e.Op {
		case ql.OpAdd:
			return shift, true
		case ql.OpSub:
			return -shift, true
		}
	}
	return 0, false
}

func isNow(c *ql.Call) bool { return strings.EqualFold(c.Name, "now") }

// moment returns when time itself may next let a row match; zero for never.
func (x *claim) moment(ctx context.Context, c *call) (next time.Time, err error) {
	now := time.Now()
	for _, m := range x.moments {
		at, err := m.after(ctx, c, now)
		if err != nil {
			return next, err
		}
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next, nil
}

// after returns the first moment past now, zero for none. A millisecond later the
// comparison has another outcome, whether it admits equals or not.
func (m *moment) after(ctx context.Context, c *call, now time.Time) (time.Time, error) {
	if m.field == "" {
		return c.nextExpiry(ctx, m.collection)
	}
	res, err := c.view.Query(ctx, m.next, now.Add(m.shift))
	if err != nil || !res.Next() {
		return time.Time{}, err
	}
	var at time.Time
	if err := res.Scan(&at); err != nil {
		return time.Time{}, err
	}
	return at.Add(-m.shift + time.Millisecond), nil
}

// nextExpiry returns when the next row of a collection expires, zero for never.
func (c *call) nextExpiry(ctx context.Context, collection string) (time.Time, error) {
	field, period := c.expiry(collection)
	if field == "" {
		return time.Time{}, nil
	}
	least := &ql.Get{
		From:    ql.Name{Text: collection},
		Columns: []ql.Column{{Expr: &ql.Call{Name: "min", Args: []ql.Expr{&ql.Path{Field: field}}}}},
	}
	res, err := c.view.Query(ctx, ql.Print(least))
	if err != nil || !res.Next() {
		return time.Time{}, err
	}
	var at *time.Time
	if err := res.Scan(&at); err != nil || at == nil {
		return time.Time{}, err
	}
	return at.Add(period + time.Millisecond), nil
}
