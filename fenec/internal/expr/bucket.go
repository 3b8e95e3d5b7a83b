package expr

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// interval is the width of the buckets that bucket puts moments in.
type interval struct {
	ms     int64 // fixed width in milliseconds, or 0
	origin int64 // where buckets of fixed width are counted from
	months int64 // width in months of the calendar, or 0
}

const (
	msPerDay = 24 * 60 * 60 * 1000

	// firstMonday is 1970-01-05, where weeks are counted from.
	firstMonday = 4 * msPerDay
)

// units are the units of an interval by name.
var units = map[string]interval{
	"ms": {ms: 1},
	"s":  {ms: 1000},
	"m":  {ms: 60 * 1000},
	"h":  {ms: 60 * 60 * 1000},
	"d":  {ms: msPerDay},
	"w":  {ms: 7 * msPerDay, origin: firstMonday},
	"mo": {months: 1},
	"y":  {months: 12},
}

// newInterval returns n units, a fault.Query if that is no width.
func newInterval(n int64, unit string) (interval, error) {
	i, ok := units[strings.ToLower(unit)]
	switch {
	case !ok:
		return interval{}, fault.New(fault.Query, "bucket: %q is no unit, want ms, s, m, h, d, w, mo or y", unit)
	case n <= 0:
		return interval{}, fault.New(fault.Query, "bucket: a width of %d, want 1 at least", n)
	case n > math.MaxInt64/max(i.ms, i.months):
		return interval{}, fault.New(fault.Query, "bucket: a width of %d%s is too large", n, unit)
	}
	i.ms *= n
	i.months *= n
	return i, nil
}

// parseInterval returns the width that a value says: a text such as "15m", or
// an int of milliseconds.
func parseInterval(v value.Value) (interval, error) {
	switch v.Kind() {
	case value.KindInt:
		return newInterval(v.AsInt(), "ms")
	case value.KindText:
		s := v.AsText()
		digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
		n, err := strconv.ParseInt(s[:digits], 10, 64)
		if err != nil {
			return interval{}, fault.New(fault.Query, "bucket: %q is no width, want a number and a unit", s)
		}
		return newInterval(n, s[digits:])
	}
	return interval{}, fault.New(fault.Type, "bucket: a width of %s, want text or int", v.Kind())
}

// floor returns the start of the bucket that holds the moment ms.
func (i interval) floor(ms int64) (int64, error) {
	start := ms
	if i.months > 0 {
		start = i.floorMonth(ms)
	} else {
		into := (ms%i.ms - i.origin%i.ms) % i.ms
		if into < 0 {
			into += i.ms
		}
		start -= into
	}
	if start > ms {
		return 0, fault.New(fault.Query, "bucket: the bucket of %d starts beyond 64 bits", ms)
	}
	return start, nil
}

func (i interval) floorMonth(ms int64) int64 {
	t := time.UnixMilli(ms).UTC()
	month := (int64(t.Year())-1970)*12 + int64(t.Month()) - 1
	into := month % i.months
	if into < 0 {
		into += i.months
	}
	first := month - into
	return time.Date(1970, time.January+time.Month(first), 1, 0, 0, 0, 0, time.UTC).UnixMilli()
}

// bucket is the call of that name. A width that is written out is in width, any
// other in by.
type bucket struct {
	x     node
	by    node // or nil
	width interval
}

func (c *Compiler) bucket(e *ql.Call) (node, class, error) {
	if err := arity(e, 2, 2); err != nil {
		return nil, 0, err
	}
	d, ok := e.Args[1].(*ql.Duration)
	if !ok {
		nodes, class, err := c.parts(e.Args...)
		if err != nil {
			return nil, 0, err
		}
		return finish(newBucket(nodes[0], nodes[1]), class)
	}
	width, err := newInterval(d.N, d.Unit)
	if err != nil {
		return nil, 0, err
	}
	nodes, class, err := c.parts(e.Args[0])
	if err != nil {
		return nil, 0, err
	}
	return finish(&bucket{x: nodes[0], width: width}, class)
}

// newBucket returns a bucket whose width is an expression.
func newBucket(x, by node) *bucket {
	l, ok := by.(*literal)
	if !ok {
		return &bucket{x: x, by: by}
	}
	width, err := parseInterval(l.v)
	if err != nil {
		return &bucket{x: x, by: failure{err}}
	}
	return &bucket{x: x, width: width}
}

func (x *bucket) eval(f *Frame) (value.Value, error) {
	v, err := x.x.eval(f)
	if err != nil {
		return value.Null, err
	}
	width := x.width
	if x.by != nil {
		by, err := x.by.eval(f)
		if err != nil {
			return value.Null, err
		}
		if width, err = parseInterval(by); err != nil {
			return value.Null, err
		}
	}
	switch v.Kind() {
	case value.KindNull:
		return value.Null, nil
	case value.KindInt:
		start, err := width.floor(v.AsInt())
		return value.Int(start), err
	case value.KindTimestamp:
		start, err := width.floor(v.AsInt())
		return value.Timestamp(start), err
	}
	return value.Null, fault.New(fault.Type, "bucket of a %s, want timestamp or int", v.Kind())
}
