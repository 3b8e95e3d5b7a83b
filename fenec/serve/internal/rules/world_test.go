package rules_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
)

// doc is a document of the matrix: owner, kind and n, "" standing for null.
type doc map[string]string

func (d doc) with(other doc) doc {
	out := maps.Clone(d)
	maps.Copy(out, other)
	return out
}

// text returns the document as the language writes it.
func (d doc) text() string {
	var parts []string
	for _, field := range slices.Sorted(maps.Keys(d)) {
		v := d[field]
		switch {
		case v == "":
			v = "null"
		case field != "n":
			v = fmt.Sprintf("%q", v)
		}
		parts = append(parts, field+": "+v)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// person is a token of the matrix.
type person struct {
	token string
	sub   string // "" for none
	kinds []string
	lists bool // has the claim kinds
	role  string
}

var persons = []person{
	{token: `{}`},
	{token: `{"sub":"ada"}`, sub: "ada"},
	{token: `{"sub":"bob","role":"mod"}`, sub: "bob", role: "mod"},
	{token: `{"sub":"ada","kinds":["k","l"]}`, sub: "ada", kinds: []string{"k", "l"}, lists: true},
	{token: `{"kinds":[],"role":["mod"]}`, lists: true, role: "mod"},
	{token: `{"sub":"bob","kinds":"k"}`, sub: "bob", kinds: []string{"k"}, lists: true},
}

// term is a filter of the matrix with what it means.
type term struct {
	text          string
	needs         string // the claims it needs
	meets         func(p *person, d doc) bool
	owner, kindIs string // what it pins: "$sub" for the subject's
}

var terms = []term{
	{text: "", meets: func(*person, doc) bool { return true }},
	{text: "owner = $jwt.sub", needs: "sub", owner: "$sub",
		meets: func(p *person, d doc) bool { return d["owner"] == p.sub }},
	{text: `kind = "k"`, kindIs: "k", meets: func(_ *person, d doc) bool { return d["kind"] == "k" }},
	{text: `owner = $jwt.sub and kind = "k"`, needs: "sub", owner: "$sub", kindIs: "k",
		meets: func(p *person, d doc) bool { return d["owner"] == p.sub && d["kind"] == "k" }},
	{text: "kind in $jwt.kinds", needs: "kinds",
		meets: func(p *person, d doc) bool { return slices.Contains(p.kinds, d["kind"]) }},
	{text: `owner = $jwt.sub or kind in [$jwt.kinds, "m"]`, needs: "sub kinds",
		meets: func(p *person, d doc) bool {
			return d["owner"] == p.sub || d["kind"] == "m" || slices.Contains(p.kinds, d["kind"])
		}},
	{text: "n > 1", meets: func(_ *person, d doc) bool { return d["n"] > "1" }}, // one digit each
	{text: "n is null", meets: func(_ *person, d doc) bool { return d["n"] == "" }},
}

// line is a rule of the matrix.
type line struct {
	collection string
	grants     []string
	fields     []string // of update; nil for all
	term       *term
	role       string
}

func (l *line) text() string {
	grants := strings.Join(l.grants, ",")
	if l.fields != nil {
		grants = strings.Replace(grants, "update", "update("+strings.Join(l.fields, ", ")+")", 1)
	}
	out := l.collection + " " + grants
	if l.term.text != "" {
		out += " where " + l.term.text
	}
	if l.role != "" {
		out += " for " + l.role
	}
	return out
}

func (l *line) grantsTo(p *person, collection, grant string) bool {
	return (l.collection == collection || l.collection == "*") &&
		(l.role == "" || l.role == p.role) &&
		(!strings.Contains(l.term.needs, "sub") || p.sub != "") &&
		(!strings.Contains(l.term.needs, "kinds") || p.lists) &&
		(slices.Contains(l.grants, grant) || grant != "read" && slices.Contains(l.grants, "write"))
}

// names reports whether l names a change on a collection, rather than write.
func (l *line) names(collection string) bool {
	return (collection == "*" || l.collection == collection) &&
		(slices.Contains(l.grants, "update") || slices.Contains(l.grants, "delete"))
}

// world is a policy file of the matrix, and what the obvious reading of it says.
type world struct {
	lines      []line
	appendOnly string // a collection, "*" or ""
}

func newWorld(r *rand.Rand) *world {
	w := &world{appendOnly: []string{"", "", "", "docs", "*"}[r.IntN(5)]}
	for range 1 + r.IntN(5) {
		l := line{
			collection: []string{"docs", "docs", "more", "*"}[r.IntN(4)],
			term:       &terms[r.IntN(len(terms))],
			role:       []string{"", "", "mod"}[r.IntN(3)],
		}
		for _, g := range []string{"read", "insert", "update", "delete", "write"} {
			if r.IntN(3) == 0 {
				l.grants = append(l.grants, g)
			}
		}
		if len(l.grants) == 0 {
			l.grants = []string{"read"}
		}
		if slices.Contains(l.grants, "update") && !slices.Contains(l.grants, "write") && r.IntN(2) == 0 {
			l.fields = [][]string{{"n"}, {"kind", "n"}, {"owner"}}[r.IntN(3)]
		}
		w.lines = append(w.lines, l)
	}
	return w
}

func (w *world) text() string {
	var b strings.Builder
	if w.appendOnly != "" {
		fmt.Fprintf(&b, "%s append-only\n", w.appendOnly)
	}
	for _, l := range w.lines {
		b.WriteString(l.text() + "\n")
	}
	return b.String()
}

// contradicts reports whether the file is to be refused.
func (w *world) contradicts() bool {
	return w.appendOnly != "" && slices.ContainsFunc(w.lines, func(l line) bool { return l.names(w.appendOnly) })
}

func (w *world) granting(p *person, collection, grant string) []*line {
	if (grant == "update" || grant == "delete") && w.onlyAppends(collection) {
		return nil
	}
	var out []*line
	for i := range w.lines {
		if w.lines[i].grantsTo(p, collection, grant) {
			out = append(out, &w.lines[i])
		}
	}
	return out
}

func (w *world) onlyAppends(collection string) bool {
	return w.appendOnly == "*" || w.appendOnly == collection
}

func admits(lines []*line, p *person, d doc) bool {
	return slices.ContainsFunc(lines, func(l *line) bool { return l.term.meets(p, d) })
}

// changes reports whether a row may become another one.
func changes(lines []*line, p *person, before, after doc) bool {
	var whole []*line
	for _, l := range lines {
		if l.fields == nil {
			whole = append(whole, l)
			continue
		}
		only := true
		for field := range after {
			only = only && (before[field] == after[field] || slices.Contains(l.fields, field))
		}
		if only && l.term.meets(p, before) && l.term.meets(p, after) {
			return true
		}
	}
	return admits(whole, p, before) && admits(whole, p, after)
}

// filled returns a document with the fields that all lines pin.
func filled(lines []*line, p *person, d doc) doc {
	out := doc{"owner": "", "kind": "", "n": ""}
	for field, pinned := range map[string]func(*term) string{
		"owner": func(t *term) string { return t.owner },
		"kind":  func(t *term) string { return t.kindIs },
	} {
		v := pinned(lines[0].term)
		if slices.ContainsFunc(lines, func(l *line) bool { return pinned(l.term) != v }) {
			v = ""
		}
		out[field] = strings.Replace(v, "$sub", p.sub, 1)
	}
	return out.with(d)
}

// outcome is how an operation ends: the rows there are then, the ones that were
// read, and the error's kind.
type outcome struct {
	rows, read map[int]doc
	err        error
}

// expect returns what an operation on the rows comes to.
func (w *world) expect(p *person, op operation, rows map[int]doc) outcome {
	out := outcome{rows: rows}
	any := false
	for _, g := range []string{"read", "insert", "update", "delete"} {
		any = any || len(w.granting(p, op.collection, g)) > 0
	}
	need := map[string][]string{"get": {"read"}, "put": {"insert"}, "set": {"read", "update"}, "del": {"read", "delete"}}[op.verb]
	for _, g := range need {
		if len(w.granting(p, op.collection, g)) == 0 {
			out.err = fenec.ErrDenied
		}
	}
	switch {
	case !any:
		out.err = fenec.ErrNotFound
		return out
	case out.err != nil:
		return out
	case op.verb == "put":
		return w.expectPut(p, op, rows)
	}
	return w.expectPicked(p, op, rows)
}

func (w *world) expectPut(p *person, op operation, rows map[int]doc) outcome {
	lines := w.granting(p, op.collection, "insert")
	d := filled(lines, p, op.doc)
	if !admits(lines, p, d) {
		return outcome{rows: rows, err: fenec.ErrDenied}
	}
	after := maps.Clone(rows)
	after[len(rows)+1] = d
	return outcome{rows: after}
}

// expectPicked is expect for what picks rows.
func (w *world) expectPicked(p *person, op operation, rows map[int]doc) outcome {
	read, update, del := w.granting(p, op.collection, "read"), w.granting(p, op.collection, "update"), w.granting(p, op.collection, "delete")
	out := outcome{rows: maps.Clone(rows), read: map[int]doc{}}
	for id, d := range rows {
		if !admits(read, p, d) || op.id != 0 && op.id != id {
			continue
		}
		switch op.verb {
		case "get":
			out.read[id] = d
		case "del":
			if admits(del, p, d) {
				delete(out.rows, id)
			}
		case "set":
			if !admits(update, p, d) {
				continue
			}
			after := d.with(op.doc)
			if !changes(update, p, d, after) {
				return outcome{rows: rows, err: fenec.ErrDenied}
			}
			out.rows[id] = after
		}
	}
	return out
}
