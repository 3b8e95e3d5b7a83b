package descr

import (
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Plan is what makes a schema the described one.
type Plan struct {
	Migrations []Migration // that have not been recorded yet, in order; they come first
	Statements []string    // that add what is missing, one by one
	Refusals   []Refusal   // what stands against it; nothing may be done if there is one

	runs bool // the migrations have statements to run
}

// Migration is a migration to be done and recorded.
type Migration struct {
	N          int
	Text       string   // to be recorded
	Statements []string // to be run; none where it is only recorded
}

// Record is a migration that was recorded.
type Record struct {
	N    int
	Text string
}

// Plan returns what makes the schema live of a database, which has these records
// of migrations, the described one.
func (d *Description) Plan(live *Schema, records []Record) (*Plan, error) {
	p := &Plan{}
	at := live.clone()
	// Where there is nothing yet, the schema is made as it is now and the way that
	// others took to it is not gone again.
	fresh := len(live.names) == 0
	texts := make(map[int]string, len(records))
	for _, r := range records {
		texts[r.N] = r.Text
	}
	for i := range d.migrations {
		m := &d.migrations[i]
		text, done := texts[i+1]
		switch {
		case !done:
			if err := p.migrate(i+1, m, at, d.schema, fresh); err != nil {
				return nil, wrong(place(i), err)
			}
		case strings.TrimSpace(text) != m.text:
			return nil, fault.New(fault.Query, "%s was done as another one: %.200q", place(i), text)
		}
	}
	p.compare(at, d.schema, false)
	return p, nil
}

// migrate adds a migration, and does to the schema at what it does.
func (p *Plan) migrate(n int, m *migration, at, declared *Schema, fresh bool) error {
	out := Migration{N: n, Text: m.text}
	if !fresh {
		steps, err := m.steps(at, declared)
		if err != nil {
			return err
		}
		for _, st := range steps {
			if err := at.run(st); err != nil {
				return err
			}
			out.Statements = append(out.Statements, ql.Print(st))
		}
		p.runs = true
	}
	p.Migrations = append(p.Migrations, out)
	return nil
}

// Follow returns the refusals of a program that needs what is described and adds
// nothing: what is described and not there. What is there besides is not asked for.
func (d *Description) Follow(live *Schema) *Plan {
	p := &Plan{}
	p.compare(live, d.schema, true)
	return p
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool { return len(p.Migrations) == 0 && len(p.Statements) == 0 }

// Outcome appends what came of the plan:
//
//	{"kind":"schema","applied":true,"ran":false,"migrations":[1],"statements":["…"],"refusals":[…]}
//
// done says that it was carried out; then "applied" tells whether there was
// something to do and "ran" whether migrations were run, not only recorded.
func (p *Plan) Outcome(dst []byte, done bool) []byte {
	dst = strconv.AppendBool(append(dst, `{"kind":"schema","applied":`...), done && !p.Empty())
	dst = strconv.AppendBool(append(dst, `,"ran":`...), done && p.runs)
	dst = append(dst, `,"migrations":[`...)
	for i, m := range p.Migrations {
		dst = strconv.AppendInt(comma(dst, i), int64(m.N), 10)
	}
	dst = append(dst, `],"statements":[`...)
	for i, text := range p.Statements {
		dst = value.AppendJSONString(comma(dst, i), text)
	}
	dst = append(dst, `],"refusals":[`...)
	for i := range p.Refusals {
		dst = p.Refusals[i].appendJSON(comma(dst, i))
	}
	return append(dst, "]}"...)
}
