package plan

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
)

// Trace takes down what runs do, for explain. All methods may be called on nil,
// and then do nothing.
type Trace struct {
	step  string   // what it is for, "" of the statement itself
	path  []string // of the first run
	runs  int
	read  int // rows tested against the filter
	kept  int // rows that passed
	spent time.Duration
	begun time.Time // of the run at hand
	order string
	group string // how rows were put in groups
	note  string // what a step of a ranking did
	steps []*Trace
}

// The steps of a statement beside its own filter and order.
const (
	StepSubquery  = "subquery"  // a get within an expression
	StepRequired  = "required"  // a look for children that rows must have
	StepAggregate = "aggregate" // a count of values, or groups
	StepLookup    = "lookup"    // a search for children
	StepMatch     = "match"     // a ranking by words
	StepNear      = "near"      // a ranking by distance
	StepRerank    = "rerank"    // a second ranking
	StepFuse      = "fuse"      // a ranking made of two
)

// stepsBefore and stepsAfter are the kinds of steps whose lines stand before
// that of the filter and after it.
var (
	stepsBefore = []string{StepSubquery}
	stepsAfter  = []string{StepMatch, StepNear, StepRerank, StepFuse, StepRequired, StepAggregate, StepLookup}
)

// Step returns the trace of a step of that kind and name, one for all its runs.
func (t *Trace) Step(kind, name string) *Trace {
	if t == nil {
		return nil
	}
	step := kind + ": " + name
	for _, s := range t.steps {
		if s.step == step {
			return s
		}
	}
	s := &Trace{step: step}
	t.steps = append(t.steps, s)
	return s
}

// Lines returns a line for the filter and one for each step, and for how rows
// were put in order if that is asked for.
func (t *Trace) Lines(order bool) []string {
	lines := t.stepLines(nil, stepsBefore)
	lines = append(lines, "filter: "+t.summary())
	if order {
		lines = append(lines, "order: "+t.orderSummary())
	}
	if t.group != "" {
		lines = append(lines, StepAggregate+": "+t.group)
	}
	return t.stepLines(lines, stepsAfter)
}

// stepLines appends a line for each step of kinds, and for the steps within it.
func (t *Trace) stepLines(lines []string, kinds []string) []string {
	for _, kind := range kinds {
		for _, s := range t.steps {
			if !strings.HasPrefix(s.step, kind+":") {
				continue
			}
			lines = s.stepLines(lines, stepsBefore)
			line := s.step + ": " + s.note
			if s.note == "" {
				line += s.summary()
			}
			if s.group != "" {
				line += ", in " + s.group
			}
			lines = append(lines, line)
			lines = s.stepLines(lines, stepsAfter)
		}
	}
	return lines
}

// Note says what a step of a ranking did.
func (t *Trace) Note(format string, args ...any) {
	if t != nil {
		t.note = fmt.Sprintf(format, args...)
	}
}

// Grouped notes that the rows were put in that many groups.
func (t *Trace) Grouped(groups int) {
	if t == nil {
		return
	}
	t.group = plural(groups, "group")
	if t.read > 0 {
		t.group += " of " + plural(t.kept, "row")
	}
}

// summary tells how rows were found.
func (t *Trace) summary() string {
	if t.runs == 0 || len(t.path) == 0 && t.read == 0 {
		return "not needed"
	}
	text := ""
	if len(t.path) > 0 {
		text = strings.Join(t.path, ", then ") + "; "
	}
	if t.runs > 1 {
		text += plural(t.runs, "run") + ", "
	}
	return text + plural(t.read, "row") + " read, " + strconv.Itoa(t.kept) + " kept in " +
		t.spent.Round(time.Microsecond).String()
}

func (t *Trace) orderSummary() string {
	if t.order == "" {
		return "by id, as they are read"
	}
	return t.order
}

// begin and end enclose a run.
func (t *Trace) begin() {
	if t != nil {
		t.runs++
		t.begun = time.Now()
	}
}

func (t *Trace) end() {
	if t != nil {
		t.spent += time.Since(t.begun)
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func (t *Trace) add(path string) {
	if t != nil && t.runs == 1 {
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
	case t == nil || t.runs > 1:
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
	if t != nil && t.runs == 1 {
		t.add(r.describe(o) + ", " + plural(n, "id"))
	}
}

// entries notes that the entries of o were counted.
func (t *Trace) entries(r *run, o *option) {
	if t != nil {
		t.add("count of the entries of " + r.describe(o))
	}
}

// keyed notes that n ids were found by a key.
func (t *Trace) keyed(r *run, key *target, n int) {
	switch {
	case t == nil:
	case key.isID():
		t.add(plural(n, "id"))
	default:
		t.add(r.indexName(key.index) + ", " + plural(n, "id"))
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
	t.add("walk of " + r.indexName(r.order.index))
	t.order = r.orderText() + ", as index " + r.col.PathName(r.order.index) + " holds it"
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

func (r *run) indexName(ix *catalog.Index) string {
	return "index " + r.col.PathName(ix) + " @" + ix.Kind.String()
}

// describe names the indexes and ids that an option reads.
func (r *run) describe(o *option) string {
	var parts []string
	n := map[string]int{}
	for i := range o.spans {
		name := "id"
		switch s := &o.spans[i]; {
		case s.index != nil:
			name = r.indexName(s.index)
		case !s.isID():
			name = "ids"
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
