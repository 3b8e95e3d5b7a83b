package exec

import (
	"slices"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Result is the rows that a query answers. They stay encoded until they are
// asked for. It does not change and may be shared.
type Result struct {
	*heading
	rows   []resultRow
	room   [1]resultRow // for rows, which often are no more
	memory plan.Arena
	beside *beside // or nil
}

// heading is the columns of results, which share it: it does not change.
type heading struct {
	columns []column
	names   []string // of the columns, and of the children behind them
}

// newHeading returns the heading of columns without children.
func newHeading(columns ...column) *heading {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].name
	}
	return &heading{columns, names}
}

// with returns a heading with one more column.
func (h *heading) with(c column) *heading {
	return newHeading(append(slices.Clip(h.columns), c)...)
}

// beside is what few results have beside the data of their rows.
type beside struct {
	scores []float32     // of the rows, if one column is that
	nested *nested       // the rows' children, or nil
	facets []FacetCounts // or nil
}

// besides returns what r has beside its rows, to be added to.
func (r *Result) besides() *beside {
	if r.beside == nil {
		r.beside = new(beside)
	}
	return r.beside
}

// nested returns the rows' children, or nil.
func (r *Result) nested() *nested {
	if r.beside == nil {
		return nil
	}
	return r.beside.nested
}

// keptRows is the most rows that a recycled result has room for.
const keptRows = 64

// Recycle empties r for Env.Into. Nothing that it has told is good afterwards.
func (r *Result) Recycle() {
	clear(r.rows)
	rows := r.rows[:0]
	if cap(rows) > keptRows {
		rows = r.room[:0]
	}
	r.memory.Reset()
	*r = Result{rows: rows, memory: r.memory}
}

// NoRows returns a result without rows or columns.
func NoRows() *Result { return &Result{heading: new(heading)} }

// resultRow is one row: its id and its columns in the encoding of package row.
type resultRow struct {
	id   uint64
	data []byte
}

// scoreName is the name of the column with the scores.
const scoreName = catalog.Score

// addWhole adds a row of the collection as it is.
func (r *Result) addWhole(p plan.Row) {
	data := p.Data
	if !p.Kept {
		data = r.memory.Copy(data)
	}
	r.rows = added(r.rows, resultRow{p.ID, data})
}

// manyRows is how many rows there is room for when there are more than one.
const manyRows = 16

// added is append for one of many or of one.
func added[T any](list []T, e T) []T {
	if len(list) == cap(list) && len(list) < manyRows {
		list = append(make([]T, 0, manyRows), list...)
	}
	return append(list, e)
}

// wholeRowsOf is a result that adds the rows it visits.
type wholeRowsOf Result

func (r *wholeRowsOf) Visit(p plan.Row) error {
	(*Result)(r).addWhole(p)
	return nil
}

// addIDs adds rows that are ids and nothing else.
func (r *Result) addIDs(ids []uint64) {
	r.rows = make([]resultRow, len(ids))
	for i, id := range ids {
		r.rows[i].id = id
	}
}

// countResult is the answer of a count.
func countResult(n int64) *Result {
	r := &Result{heading: countHeading}
	r.rows = r.room[:0]
	r.addValue(value.TypeInt, value.Int(n))
	return r
}

var countHeading = newHeading(newColumn("count", 0, value.TypeInt))

// textResult is one column of text.
func textResult(name string, lines []string) *Result {
	r := &Result{heading: newHeading(newColumn(name, 0, value.TypeText))}
	for _, line := range lines {
		r.addValue(value.TypeText, value.Text(line))
	}
	return r
}

func (r *Result) addValue(t value.Type, v value.Value) {
	r.rows = append(r.rows, resultRow{data: row.Encode(nil, []value.Type{t}, []value.Value{v})})
}

// Faceted reports whether there are facets beside the rows.
func (r *Result) Faceted() bool { return r.Facets() != nil }

// Columns returns the names of the columns. The slice must not be changed.
func (r *Result) Columns() []string { return r.names }

// Len returns the number of rows.
func (r *Result) Len() int { return len(r.rows) }

// Facets returns what was counted of each facet, in the order of the clause;
// nil without one. The slice must not be changed.
func (r *Result) Facets() []FacetCounts {
	if r.beside == nil {
		return nil
	}
	return r.beside.facets
}

// Value returns a column of row i, by its number. Texts and bytes lie in the
// memory of r.
func (r *Result) Value(i, column int) (value.Value, error) {
	if column == len(r.columns) {
		return r.childList(i)
	}
	c := &r.columns[column]
	switch c.at {
	case idColumn:
		return value.Int(int64(r.rows[i].id)), nil
	case scoreColumn:
		return value.Float(float64(r.beside.scores[i])), nil
	}
	return row.View(r.rows[i].data, c.at, c.typ)
}

// AppendColumnJSON appends the JSON of a column of row i, by its number. A column
// that is null or holds bytes is left to Value: nothing is appended then, and ok
// is false.
func (r *Result) AppendColumnJSON(dst []byte, i, column int) (out []byte, ok bool, err error) {
	if column == len(r.columns) {
		first, end := r.Children(i)
		out, err = r.nested().of.appendRows(dst, first, end)
		return out, true, err
	}
	c := &r.columns[column]
	switch c.at {
	case idColumn:
		return strconv.AppendUint(dst, r.rows[i].id, 10), true, nil
	case scoreColumn:
		return value.AppendJSONFloat32(dst, r.beside.scores[i]), true, nil
	}
	fields, err := row.Parse(r.rows[i].data)
	if err != nil {
		return dst, false, err
	}
	stored, err := fields.Raw(c.at)
	if stored == nil || err != nil || c.holdsBytes(stored) {
		return dst, false, err
	}
	room := len(stored) + len(stored)/2 + 8 // enough for most
	out, err = fields.AppendJSON(slices.Grow(dst, room), c.at, c.typ)
	return out, true, err
}

// holdsBytes reports whether a column's data is bytes.
func (c *column) holdsBytes(data []byte) bool {
	return c.typ.Is(value.BaseBytes) || c.typ.Is(value.BaseJSON) && len(data) > 0 && data[0] == bytesTag
}

// bytesTag is what bytes in their stored form begin with.
var bytesTag = value.Append(nil, value.Bytes(nil))[0]

// AppendJSON appends the rows as a list of objects, whose members are the
// columns in order; with facets, as an object of these rows and the facets. It
// fails on a damaged row only; what dst has received then is of no use.
func (r *Result) AppendJSON(dst []byte) ([]byte, error) {
	if !r.Faceted() {
		return r.appendRows(dst, 0, len(r.rows))
	}
	dst, err := r.appendRows(append(dst, `{"rows":`...), 0, len(r.rows))
	if err != nil {
		return dst, err
	}
	return append(appendFacets(append(dst, `,"facets":`...), r.Facets()), '}'), nil
}

// AppendRowJSON appends row i as AppendJSON does.
func (r *Result) AppendRowJSON(dst []byte, i int) ([]byte, error) { return r.appendRow(dst, i) }

// appendRows appends the rows from first on, before end.
func (r *Result) appendRows(dst []byte, first, end int) ([]byte, error) {
	dst = append(dst, '[')
	var err error
	for i := first; i < end; i++ {
		if i > first {
			dst = append(dst, ',')
		}
		if dst, err = r.appendRow(dst, i); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// appendRow appends row n as an object.
func (r *Result) appendRow(dst []byte, n int) ([]byte, error) {
	data := &r.rows[n]
	var fields row.Row
	var err error
	if data.data != nil {
		if fields, err = row.Parse(data.data); err != nil {
			return dst, err
		}
	}
	dst = append(dst, '{')
	for i := range r.columns {
		c := &r.columns[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, c.member...)
		if c.at == idColumn {
			dst = strconv.AppendUint(dst, data.id, 10)
		} else if c.at == scoreColumn {
			dst = value.AppendJSONFloat32(dst, r.beside.scores[n])
		} else if dst, err = fields.AppendJSON(dst, c.at, c.typ); err != nil {
			return dst, err
		}
	}
	if x := r.nested(); x != nil {
		if len(r.columns) > 0 {
			dst = append(dst, ',')
		}
		first, end := r.Children(n)
		if dst, err = x.of.appendRows(append(dst, x.member...), first, end); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}
