package fenec

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// ResultKind says what a statement answered.
type ResultKind uint8

// The kinds of results.
const (
	KindRows     ResultKind = iota + 1 // of get, explain, and set and del with returning
	KindAffected                       // of put, insert, set, del
	KindMessage                        // of create, drop, compact
	KindSchemas                        // of collections, describe
)

// Result is what a statement answered. It holds all of it: nothing stays open
// in the database. It is for one goroutine at a time.
type Result struct {
	kind     ResultKind
	wrote    bool
	affected int
	seq      uint64
	rows     *exec.Result // nil unless KindRows
	told     *told        // nil unless KindMessage or KindSchemas

	at       int           // of the row Next moved to, plus 1
	children *Result       // of all rows, once asked for
	fields   *columnFields // of the struct last scanned
}

// told is what a statement answers that neither finds nor writes documents.
type told struct {
	message string
	schemas []*catalog.Collection
	served  []byte // the JSON of the schemas that another process has told of
}

// Kind says what the statement answered.
func (r *Result) Kind() ResultKind { return r.kind }

// Affected returns how many documents were written or deleted; 0 for a read.
func (r *Result) Affected() int { return r.affected }

// Message returns what a schema or maintenance statement says for people; "" for
// all others.
func (r *Result) Message() string {
	if r.told == nil {
		return ""
	}
	return r.told.message
}

// Seq returns, for a read, the sequence it saw; for a write, that of its last
// change.
func (r *Result) Seq() uint64 { return r.seq }

// Wrote reports whether the statement was one that writes.
func (r *Result) Wrote() bool { return r.wrote }

// Columns returns the names of the columns, in order; none unless KindRows. The
// slice is the caller's.
func (r *Result) Columns() []string { return slices.Clone(r.columns()) }

// columns is Columns for whom does not change them.
func (r *Result) columns() []string {
	if r.rows == nil {
		return nil
	}
	return r.rows.Columns()
}

// Len returns the number of rows; 0 unless KindRows.
func (r *Result) Len() int {
	if r.rows == nil {
		return 0
	}
	return r.rows.Len()
}

// Next moves to the next row, at first to the first one, and reports whether
// there is one. After the last it stays there.
func (r *Result) Next() bool {
	if r.at >= r.Len() {
		return false
	}
	r.at++
	return true
}

// Row returns the row that Next moved to. Before Next has been called its
// columns cannot be read.
func (r *Result) Row() Row { return Row{r, r.at - 1} }

// Scan stores the columns of the row that Next moved to, as Row.Scan does.
func (r *Result) Scan(dest ...any) error {
	if r.at == 0 {
		return errNoRow
	}
	return r.Row().Scan(dest...)
}

var errNoRow = errors.New("scan: Next has not been called")

// All returns the rows from the first to the last.
func (r *Result) All() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i := range r.Len() {
			if !yield(Row{r, i}) {
				return
			}
		}
	}
}

func (r *Result) value(row, column int) (value.Value, error) {
	if err := r.has(row, column); err != nil {
		return value.Null, err
	}
	v, err := r.rows.Value(row, column)
	return v, public(err)
}

// json returns the JSON of a column. ok is false if there is none such, or it is
// null or holds bytes.
func (r *Result) json(row, column int) (b []byte, ok bool, err error) {
	if r.has(row, column) != nil {
		return nil, false, nil // which value reports
	}
	b, ok, err = r.rows.AppendColumnJSON(nil, row, column)
	return b, ok, public(err)
}

// has returns why there is no such column of such a row.
func (r *Result) has(row, column int) error {
	switch {
	case row < 0:
		return errNoRow
	case column < 0 || column >= len(r.columns()):
		return fmt.Errorf("column %d of %d", column, len(r.columns()))
	}
	return nil
}

func (r *Result) column(name string) (int, error) {
	i := slices.Index(r.columns(), name)
	if i < 0 {
		return 0, fault.New(fault.NotFound, "no column %q in the result", name)
	}
	return i, nil
}

// AppendJSON appends the answer as servers give it to a single statement: rows
// as a list of objects, {"affected":n}, {"message":"…"}, or a list of schemas.
func (r *Result) AppendJSON(dst []byte) ([]byte, error) {
	switch r.kind {
	case KindRows:
		dst, err := r.rows.AppendJSON(dst)
		return dst, public(err)
	case KindAffected:
		dst = strconv.AppendInt(append(dst, `{"affected":`...), int64(r.affected), 10)
		return append(dst, '}'), nil
	case KindMessage:
		return append(value.AppendJSONString(append(dst, `{"message":`...), r.told.message), '}'), nil
	default:
		if r.told.served != nil {
			return append(dst, r.told.served...), nil
		}
		return catalog.AppendSchemasJSON(dst, r.told.schemas), nil
	}
}

// AppendBatchJSON appends the answer as servers give it within a batch:
// {"rows":[…]}, {"affected":n}, {"message":"…"} or {"collections":[…]}.
func (r *Result) AppendBatchJSON(dst []byte) ([]byte, error) {
	switch r.kind {
	case KindRows:
		if r.rows.Faceted() {
			return r.AppendJSON(dst)
		}
		dst = append(dst, `{"rows":`...)
	case KindSchemas:
		dst = append(dst, `{"collections":`...)
	default:
		return r.AppendJSON(dst)
	}
	dst, err := r.AppendJSON(dst)
	return append(dst, '}'), err
}
