package expr

import (
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Values is a set of values that tells fast whether one is in it. Two values
// are the same when value.Equal says so. Once all are added it does not change
// and may be shared. The zero Values is empty.
type Values struct {
	all   []value.Value // each once
	texts map[string]struct{}
	ints  map[int64]struct{}
	keys  map[string]struct{} // of all values whose keys are the same when they are equal
	odd   []value.Value       // all other values
	kinds uint32              // of what was added, a bit each
}

// Add adds v unless it is in the set, and reports whether it was not.
func (s *Values) Add(v value.Value) bool {
	if s.Has(v) {
		return false
	}
	s.all = append(s.all, v)
	s.kinds |= 1 << v.Kind()
	switch {
	case v.Kind() == value.KindText:
		s.texts = added(s.texts, v.AsText())
	case v.Kind() == value.KindInt && exactly(v):
		s.ints = added(s.ints, v.AsInt())
	case exactly(v):
		s.keys = added(s.keys, string(key.Append(nil, v)))
	default:
		s.odd = append(s.odd, v)
	}
	return true
}

func added[K comparable](m map[K]struct{}, k K) map[K]struct{} {
	if m == nil {
		m = map[K]struct{}{}
	}
	m[k] = struct{}{}
	return m
}

// exact is where floats stop telling whole numbers apart.
const exact = 1 << 53

// exactly reports whether the values equal to v are those with its key.
func exactly(v value.Value) bool {
	switch v.Kind() {
	case value.KindNull, value.KindBool, value.KindBytes:
		return v.Len() < key.MaxLen/4 // each byte takes two at most
	case value.KindInt, value.KindFloat:
		f, _ := v.Number()
		return -exact < f && f < exact
	}
	return false
}

// Len returns how many values there are.
func (s *Values) Len() int { return len(s.all) }

// All returns the values in the order they were added. The slice must not be
// changed.
func (s *Values) All() []value.Value { return s.all }

// Has reports whether a value equal to v is in the set.
func (s *Values) Has(v value.Value) bool {
	switch v.Kind() {
	case value.KindText:
		if _, ok := s.texts[v.AsText()]; ok {
			return true
		}
		// What else may equal a text.
		if s.kinds&(1<<value.KindBytes|1<<value.KindTimestamp) == 0 {
			return false
		}
	case value.KindInt:
		if _, ok := s.ints[v.AsInt()]; ok {
			return true
		}
		if s.kinds == 1<<value.KindInt && len(s.odd) == 0 {
			return false
		}
	}
	return s.search(v)
}

func (s *Values) search(v value.Value) bool {
	if exactly(v) && s.kinds&(1<<value.KindText) == 0 {
		if f, ok := v.Number(); ok && len(s.ints) > 0 && f == float64(int64(f)) {
			if _, ok := s.ints[int64(f)]; ok {
				return true
			}
		}
		var buf [64]byte
		if _, ok := s.keys[string(key.Append(buf[:0], v))]; ok {
			return true
		}
		return among(v, s.odd)
	}
	return among(v, s.all)
}

func among(v value.Value, list []value.Value) bool {
	for _, w := range list {
		if value.Equal(v, w) {
			return true
		}
	}
	return false
}
