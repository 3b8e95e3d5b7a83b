package fenec

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// RowChange is a row that is about to be written. It must not be used after the
// function it was given to has returned.
type RowChange struct {
	Collection string
	ID         int64
	Before     *Doc // nil when the document is new
	After      *Doc // nil when it is deleted

	col           *catalog.Collection
	before, after Doc
}

// Changed returns the names of the fields whose stored values differ before and
// after, those of a document that is not there counting as null.
func (c *RowChange) Changed() ([]string, error) {
	places, err := exec.ChangedFields(c.col, c.before.row, c.after.row)
	if err != nil {
		return nil, public(err)
	}
	names := make([]string, len(places))
	for i, at := range places {
		names[i] = c.col.Fields[at].Name
	}
	return names, nil
}

// Doc is a document of a RowChange or a FeedChange.
type Doc struct {
	col *catalog.Collection
	id  uint64
	row []byte
}

// value returns the named field, in memory of its own.
func (d *Doc) value(name string) (value.Value, error) {
	if name == catalog.ID {
		return value.Int(int64(d.id)), nil
	}
	at, ok := d.col.Position(name)
	if !ok {
		return value.Null, d.col.NoField(name)
	}
	v, err := row.Field(d.row, at, d.col.Fields[at].Type)
	return v, public(err)
}

// Get returns the named field as Row.Value returns a column.
func (d *Doc) Get(name string) (any, error) {
	v, err := d.value(name)
	if err != nil {
		return nil, err
	}
	return v.Go(), nil
}

// Scan stores the named field in what dest points to, as Row.Scan does.
func (d *Doc) Scan(name string, dest any) error {
	v, err := d.value(name)
	if err != nil {
		return err
	}
	if at, ok := d.col.Position(name); ok && d.col.Fields[at].Type.Is(value.BaseJSON) {
		v = withTimes(v, reflect.TypeOf(dest))
	}
	return scan("field", name, v, dest)
}

// Int returns the named field, which must hold an int.
func (d *Doc) Int(name string) (n int64, err error) { return n, d.Scan(name, &n) }

// Float returns the named field, which must hold a number.
func (d *Doc) Float(name string) (f float64, err error) { return f, d.Scan(name, &f) }

// Text returns the named field, which must hold a text.
func (d *Doc) Text(name string) (s string, err error) { return s, d.Scan(name, &s) }

// Bool returns the named field, which must hold a bool.
func (d *Doc) Bool(name string) (b bool, err error) { return b, d.Scan(name, &b) }

// Time returns the named field, which must hold a timestamp.
func (d *Doc) Time(name string) (t time.Time, err error) { return t, d.Scan(name, &t) }

// SetHook makes fn see, from now on, every row that is about to be written or
// deleted, by whatever statement or by the removal of expired rows. An error of fn
// fails the statement, which returns it as ErrDenied too unless it has a kind:
// remote users are told its text. fn is called under the write lock: it must return
// soon and must not use the database. Dropping a collection and altering it call
// nothing. nil takes the hook away.
func (db *DB) SetHook(fn func(*RowChange) error) {
	if fn == nil {
		db.hook.Store(nil)
		return
	}
	db.hook.Store(&fn)
}

// hook sets what sees the rows that the block writes, if anybody is to.
func (w *block) hook() {
	all, policy := w.db.hook.Load(), w.session.policy
	if all == nil && (policy == nil || policy.check == nil) {
		w.tx.Hook = nil
		return
	}
	args := w.session.args
	w.tx.Hook = func(c *catalog.Collection, id uint64, before, after []byte) error {
		change := newRowChange(c, id, before, after)
		if policy != nil && policy.check != nil {
			if err := refusal(policy.check(args, change)); err != nil {
				return err
			}
		}
		if all == nil {
			return nil
		}
		return refusal((*all)(change))
	}
}

// refusal gives an error of a function of the program a kind, ErrDenied if it has
// none: the function does not want the row. Damage and the end of a context stay
// what they are.
func refusal(err error) error {
	if err == nil || fault.KindOf(err) != 0 {
		return err
	}
	for _, other := range []error{ErrCorrupt, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, other) {
			return err
		}
	}
	return &fault.Error{Kind: fault.Denied, Msg: err.Error(), Err: err}
}

func newRowChange(c *catalog.Collection, id uint64, before, after []byte) *RowChange {
	out := &RowChange{Collection: c.Name, ID: int64(id), col: c}
	out.before, out.after = Doc{c, id, before}, Doc{c, id, after}
	if before != nil {
		out.Before = &out.before
	}
	if after != nil {
		out.After = &out.after
	}
	return out
}
