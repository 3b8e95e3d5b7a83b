package rest

import (
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// members reads the members of an object, of which null is the same as none.
type members struct{ object value.Value }

func (m members) get(key string) value.Value {
	v, _ := m.object.Get(key)
	return v
}

func (m members) text(key string) (text string, given bool, err error) {
	switch v := m.get(key); v.Kind() {
	case value.KindNull:
		return "", false, nil
	case value.KindText:
		return v.AsText(), true, nil
	default:
		return "", false, wrongKind(key, "a text", v)
	}
}

// texts reads a list of texts, or one text. It is nil if there is none.
func (m members) texts(key string) ([]string, error) {
	v := m.get(key)
	switch v.Kind() {
	case value.KindNull:
		return nil, nil
	case value.KindText:
		return []string{v.AsText()}, nil
	case value.KindList:
	default:
		return nil, wrongKind(key, "a list of texts", v)
	}
	list := make([]string, v.Len())
	for i, e := range v.AsList() {
		if e.Kind() != value.KindText {
			return nil, wrongKind(key, "a list of texts", v)
		}
		list[i] = e.AsText()
	}
	return list, nil
}

// whole reads a whole number from 0 on. It is nil if there is none.
func (m members) whole(key string) (*int64, error) {
	v := m.get(key)
	switch {
	case v.IsNull():
		return nil, nil
	case v.Kind() != value.KindInt || v.AsInt() < 0:
		return nil, wrongKind(key, "a whole number", v)
	}
	n := v.AsInt()
	return &n, nil
}

// positive reads a whole number of which 0 stands for none.
func (m members) positive(key string) (*int64, error) {
	n, err := m.whole(key)
	if n != nil && *n == 0 {
		n = nil
	}
	return n, err
}

func (m members) on(key string) (bool, error) {
	switch v := m.get(key); v.Kind() {
	case value.KindNull:
		return false, nil
	case value.KindBool:
		return v.AsBool(), nil
	default:
		return false, wrongKind(key, "true or false", v)
	}
}

func wrongKind(key, want string, got value.Value) error {
	return fault.New(fault.Type, "%s: want %s, got %.80s", key, want, got)
}
