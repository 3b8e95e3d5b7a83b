package value

import (
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

// Member is one key of an object and its value.
type Member struct {
	Key   string
	Value Value
}

// Object returns an object. members is kept and sorted by key in place. A key
// given twice is a fault.Query.
func Object(members []Member) (Value, error) {
	if key, twice := sortMembers(members); twice {
		return Null, fault.New(fault.Query, "member %q is given twice", key)
	}
	return object(members), nil
}

// sortMembers sorts members by key and returns a key that is there twice.
func sortMembers(members []Member) (key string, twice bool) {
	if len(members) <= 24 {
		insertMembers(members)
	} else {
		slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
	}
	for i := 1; i < len(members); i++ {
		if members[i].Key == members[i-1].Key {
			return members[i].Key, true
		}
	}
	return "", false
}

// insertMembers sorts few members. Each takes one move to its place among those
// before it, which is what documents spend most time on when they are read.
func insertMembers(members []Member) {
	for i := 1; i < len(members); i++ {
		at := i
		for at > 0 && members[at-1].Key > members[i].Key {
			at--
		}
		if at < i {
			m := members[i]
			copy(members[at+1:i+1], members[at:i])
			members[at] = m
		}
	}
}

// Get returns the member of an object by its key. A missing key and a v that
// is no object give null and false.
func (v Value) Get(key string) (Value, bool) {
	if v.kind != KindObject {
		return Null, false
	}
	members := v.AsObject()
	i, ok := findMember(members, key)
	if !ok {
		return Null, false
	}
	return members[i].Value, true
}

// Path returns what lies under keys, one object within the other. A missing
// key, or something on the way that is no object, gives null.
func (v Value) Path(keys ...string) Value {
	for _, key := range keys {
		v, _ = v.Get(key)
	}
	return v
}

// SetPath returns v with x under keys, leaving v as it is. Objects are made
// where the way is missing or null; anything else on the way that is no
// object is a fault.Type.
func SetPath(v Value, keys []string, x Value) (Value, error) {
	if len(keys) == 0 {
		return x, nil
	}
	if v.kind != KindObject && v.kind != KindNull {
		return Null, fault.New(fault.Type, "key %q of a %s, want an object", keys[0], v.kind)
	}
	var members []Member
	if v.kind == KindObject {
		members = v.AsObject()
	}
	i, found := findMember(members, keys[0])
	var inner Value
	if found {
		inner = members[i].Value
	}
	inner, err := SetPath(inner, keys[1:], x)
	if err != nil {
		return Null, err
	}
	changed := slices.Clone(members)
	if found {
		changed[i].Value = inner
	} else {
		changed = slices.Insert(changed, i, Member{Key: keys[0], Value: inner})
	}
	return object(changed), nil
}

// findMember returns where key is among members, or where it would go.
func findMember(members []Member, key string) (int, bool) {
	return slices.BinarySearchFunc(members, key, func(m Member, key string) int {
		return strings.Compare(m.Key, key)
	})
}
