package plan

import (
	"strconv"
	"strings"
	"time"
)

// Trace takes down what a run does, for explain. All methods may be called on
// nil, and then do nothing.
type Trace struct {
	path  []string
	read  int // rows tested against the filter
	kept  int // rows that passed
	order string
	begun time.Time
}

// NewTrace returns a trace that begins now.
func NewTrace() *Trace { return &Trace{begun: time.Now()} }

// Filter returns what was done to find rows.
func (t *Trace) Filter() string {
	text := strings.Join(t.path, ", then ")
	return text + "; " + plural(t.read, "row") + " read, " + strconv.Itoa(t.kept) + " kept in " +
		time.Since(t.begun).Round(time.Microsecond).String()
}

// Order returns how rows were put in order.
func (t *Trace) Order() string {
	if t.order == "" {
		return "by id, as they are read"
	}
	return t.order
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func (t *Trace) add(path string) {
	if t != nil {
		t.path = append(t.path, path)
	}
}

func (t *Trace) tested(ok bool) {
	if t == nil {
		return
	}
	t.read++
	if ok {
		t.kept++
	}
}

func (t *Trace) nothing(why string) { t.add("no row is read, " + why) }

func (t *Trace) count() { t.add("no row is read, the number of rows is known") }

func (t *Trace) point(id uint64) {
	if t != nil {
		t.add("id " + strconv.FormatUint(id, 10))
	}
}

func (t *Trace) scan(in ids) {
	switch {
	case t == nil:
	case in == allIDs:
		t.add("scan of all rows")
	case in.last == maxID:
		t.add("scan of ids from " + strconv.FormatUint(in.first, 10))
	default:
		t.add("scan of ids " + strconv.FormatUint(in.first, 10) + " to " + strconv.FormatUint(in.last, 10))
	}
}

// option notes that the rows of o were looked up, n of them.
func (t *Trace) option(r *run, o *option, n int) {
	if t != nil {
		t.add(r.describe(o) + ", " + plural(n, "id"))
	}
}

func (t *Trace) stream(r *run, o *option) {
	if t != nil {
		t.add(r.describe(o) + " in order of ids")
	}
}

func (t *Trace) walk(r *run) {
	if t == nil {
		return
	}
	f := &r.col.Fields[r.order.field]
	t.add("walk of index " + f.Name + " @" + f.Index.Kind.String())
	t.order = r.orderText() + ", as index " + f.Name + " holds it"
}

func (t *Trace) gaveUp(n int) {
	t.add("given up after " + strconv.Itoa(n))
}

func (t *Trace) sorted(r *run, n int) {
	if t != nil {
		t.order = r.orderText() + ", sorted, " + plural(n, "row") + " held"
	}
}

func (r *run) orderText() string {
	var keys []string
	for _, k := range r.order.keys {
		text := k.text
		if k.desc {
			text += " desc"
		}
		keys = append(keys, text)
	}
	return strings.Join(keys, ", ")
}

// describe names the indexes and ids that an option reads.
func (r *run) describe(o *option) string {
	var parts []string
	n := map[string]int{}
	for i := range o.spans {
		name := "id"
		if s := &o.spans[i]; s.index != nil {
			name = "index " + r.col.Fields[s.field].Name + " @" + s.index.Kind.String()
		}
		if n[name]++; n[name] == 1 {
			parts = append(parts, name)
		}
	}
	for i, name := range parts {
		if n[name] > 1 && name != "id" {
			parts[i] = name + " (" + strconv.Itoa(n[name]) + " ranges)"
		}
	}
	return strings.Join(parts, " and ")
}
