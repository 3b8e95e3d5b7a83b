package descr

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// reader reads the JSON of a description. After its first error what its methods
// return means nothing.
type reader struct{ err error }

func (r *reader) set(err error) {
	if r.err == nil {
		r.err = err
	}
}

// fail records what is wrong at a place.
func (r *reader) fail(at, message string, args ...any) {
	r.set(fault.New(fault.Query, at+": "+message, args...))
}

// object is an object of the description. Members that are null are as none.
type object struct {
	r  *reader
	at string
	v  value.Value
}

// object takes v, at a place of the description, as an object with these keys at
// most.
func (r *reader) object(at string, v value.Value, keys ...string) object {
	if v.Kind() != value.KindObject {
		r.fail(at, "want an object, got %.80s", v)
		return object{r, at, value.Null}
	}
	for _, m := range v.AsObject() {
		if !slices.Contains(keys, m.Key) {
			r.fail(at, "unknown key %.80q", m.Key)
		}
	}
	return object{r, at, v}
}

func (o object) get(key string) value.Value {
	v, _ := o.v.Get(key)
	return v
}

// wants records that a member is not what it has to be.
func (o object) wants(key, what string) {
	o.r.fail(o.at, "%s: want %s, got %.80s", key, what, o.get(key))
}

// text reads a member that is a text.
func (o object) text(key string) (text string, given bool) {
	switch v := o.get(key); v.Kind() {
	case value.KindNull:
		return "", false
	case value.KindText:
		return v.AsText(), true
	}
	o.wants(key, "a text")
	return "", false
}

// needed reads a member that is a text and must be there.
func (o object) needed(key string) string {
	text, given := o.text(key)
	if !given {
		o.wants(key, "a text")
	}
	return text
}

func (o object) flag(key string) bool {
	switch v := o.get(key); v.Kind() {
	case value.KindNull:
		return false
	case value.KindBool:
		return v.AsBool()
	}
	o.wants(key, "true or false")
	return false
}

// whole reads a member that is a whole number of at least from.
func (o object) whole(key string, from int64) (n int64, given bool) {
	v := o.get(key)
	switch {
	case v.IsNull():
		return 0, false
	case v.Kind() == value.KindInt && v.AsInt() >= from:
		return v.AsInt(), true
	}
	o.r.fail(o.at, "%s: want a whole number from %d on, got %.80s", key, from, v)
	return 0, false
}

// count reads a member that is a whole number from 0 on, nil if it is not there.
func (o object) count(key string) *int64 {
	if n, given := o.whole(key, 0); given {
		return &n
	}
	return nil
}

// ratio reads a member that is a number, nil if it is not there.
func (o object) ratio(key string) *float64 {
	var f float64
	switch v := o.get(key); v.Kind() {
	case value.KindNull:
		return nil
	case value.KindInt:
		f = float64(v.AsInt())
	case value.KindFloat:
		f = v.AsFloat()
	default:
		o.wants(key, "a number")
	}
	return &f
}

// list reads a member that is a list.
func (o object) list(key string) []value.Value {
	v := o.get(key)
	switch v.Kind() {
	case value.KindNull:
		return nil
	case value.KindList:
		return v.AsList()
	}
	o.wants(key, "a list")
	return nil
}
