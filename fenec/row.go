package fenec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Row is one row of a Result, or of DB.Rows. It is good for as long as it is kept. A
// column's name that the Result lacks is ErrNotFound; a value of another kind than
// a method wants, null among them, is ErrType.
type Row struct {
	res *Result
	at  int
}

// AppendJSON appends the row as Result.AppendJSON does: an object of the columns in
// order, a lookup's children among them.
func (r Row) AppendJSON(dst []byte) ([]byte, error) {
	if r.at < 0 {
		return dst, errNoRow
	}
	dst, err := r.res.rows.AppendRowJSON(dst, r.at)
	return dst, public(err)
}

// Seq returns the sequence that the statement saw, as Result.Seq does.
func (r Row) Seq() uint64 { return r.res.seq }

// Value returns column i as a Go value: nil, bool, int64, float64, string,
// []byte, time.Time (UTC), []float32 for a vector, []any for a list, or
// map[string]any. A lookup's children are a list of such maps.
func (r Row) Value(i int) (any, error) {
	v, err := r.res.value(r.at, i)
	if err != nil {
		return nil, err
	}
	return v.Go(), nil
}

// Get returns the named column as Value does.
func (r Row) Get(name string) (any, error) {
	i, err := r.res.column(name)
	if err != nil {
		return nil, err
	}
	return r.Value(i)
}

// Int returns the named column, which must hold an int.
func (r Row) Int(name string) (n int64, err error) { return n, r.scanNamed(name, &n) }

// Float returns the named column, which must hold a number.
func (r Row) Float(name string) (f float64, err error) { return f, r.scanNamed(name, &f) }

// Text returns the named column, which must hold a text.
func (r Row) Text(name string) (s string, err error) { return s, r.scanNamed(name, &s) }

// Bool returns the named column, which must hold a bool.
func (r Row) Bool(name string) (b bool, err error) { return b, r.scanNamed(name, &b) }

// Time returns the named column, which must hold a timestamp.
func (r Row) Time(name string) (t time.Time, err error) { return t, r.scanNamed(name, &t) }

// Vector returns the named column, which must hold a vector.
func (r Row) Vector(name string) (x []float32, err error) { return x, r.scanNamed(name, &x) }

func (r Row) scanNamed(name string, dest any) error {
	i, err := r.res.column(name)
	if err != nil {
		return err
	}
	return r.scanColumn(i, dest)
}

// Scan stores the columns, in order, in what dest points to, one pointer a
// column: to a bool, an integer or float type, a string, []byte, time.Time,
// []float32, any, another slice or an array, a map with string keys, a struct
// for an object or for children (see ScanStruct), or to a pointer to any of
// these, which is nil for null. A json.RawMessage takes any value as JSON, but
// bytes as they are. Null fits nothing else but an interface, a slice and a map:
// use a pointer where it may come. A time is text in json, and in columns that are
// computed, and fits a time.Time from there too. A value that does not fit matches
// ErrType.
//
// The column of a lookup's children may be left out, to be read with Children.
func (r Row) Scan(dest ...any) error {
	if n := len(r.res.columns()); len(dest) != n && (len(dest) != n-1 || r.res.nested() == nil) {
		return fmt.Errorf("scan: %d destinations for %d columns", len(dest), n)
	}
	for i, d := range dest {
		if err := r.scanColumn(i, d); err != nil {
			return err
		}
	}
	return nil
}

func (r Row) scanColumn(i int, dest any) error {
	done, err := r.scanStored(i, dest)
	if done {
		return nil
	}
	if err != nil {
		return fmt.Errorf("column %q: %w", r.res.columns()[i], err)
	}
	v, err := r.res.value(r.at, i)
	if err != nil || assignPlain(dest, v) {
		return err
	}
	return scan("column", r.res.columns()[i], r.res.fitting(i, v, reflect.TypeOf(dest)), dest)
}

// fitting returns v, which is of column i, as a destination of type t takes it.
func (r *Result) fitting(i int, v value.Value, t reflect.Type) value.Value {
	if !r.rows.HoldsJSON(i) {
		return v
	}
	return withTimes(v, t)
}

// scanStored stores JSON or children in what dest points to. It reports false if
// that takes a value.
func (r Row) scanStored(i int, dest any) (bool, error) {
	if raw, ok := dest.(*json.RawMessage); ok && raw != nil {
		b, ok, err := r.res.json(r.at, i)
		if !ok || err != nil {
			return false, err
		}
		*raw = b
		return true, nil
	}
	if r.res.isNested(i) {
		return r.scanChildren(dest)
	}
	return false, nil
}

// scan stores v, which is what the column or field of that name holds, in what
// dest points to.
func scan(what, name string, v value.Value, dest any) error {
	p := reflect.ValueOf(dest)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return fmt.Errorf("scan: the destination of %s %q is a %T, want a pointer", what, name, dest)
	}
	if err := assign(p.Elem(), v); err != nil {
		return fmt.Errorf("%s %q: %w", what, name, err)
	}
	return nil
}
