package value

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

// Struct is how the structs of one type stand for objects. It does not change.
type Struct struct {
	// Fields are the members that a struct is written as.
	Fields []*StructField

	all    []*StructField // the one that takes a name comes before the others
	byName map[string]*StructField
}

// StructField is a field of a struct, or of one embedded in it.
type StructField struct {
	Name      string // of the member
	OmitEmpty bool   // the zero value is left out when written; null is read as it
	Time      bool   // it is a time.Time or a pointer to one, which json holds as text

	index  []int
	tagged bool
}

var (
	structs  sync.Map // of *Struct, by reflect.Type
	timeType = reflect.TypeFor[time.Time]()
)

// StructOf returns how structs of type t stand for objects. The exported fields
// are members: under the name in the tag `fenec:"name"`, or else under their own
// in lower case. The tag "-" takes a field out, and "name,omitempty" leaves its
// zero value out. So is an ID of whole numbers without a tag: zero is no id of a
// document. Fields of an embedded struct without a name of its own are
// members too, except for what lies behind a pointer to an unexported type. Of
// fields that share a name the outermost counts, then the one with a tag, then
// the first.
func StructOf(t reflect.Type) *Struct {
	if s, ok := structs.Load(t); ok {
		return s.(*Struct)
	}
	s, _ := structs.LoadOrStore(t, newStruct(t))
	return s.(*Struct)
}

func newStruct(t reflect.Type) *Struct {
	s := &Struct{all: structFields(t), byName: map[string]*StructField{}}
	for _, f := range s.all {
		if s.Field(f.Name) == f {
			s.Fields = append(s.Fields, f)
		}
	}
	for _, f := range s.Fields {
		s.byName[f.Name] = f
	}
	return s
}

// structFields returns the members of all embedded structs, by precedence.
func structFields(t reflect.Type) []*StructField {
	var out []*StructField
	var closed [][]int // embedded structs whose fields are no members
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("fenec"), ",")
		under := func(index []int) bool {
			return len(f.Index) > len(index) && slices.Equal(f.Index[:len(index)], index)
		}
		switch {
		case slices.ContainsFunc(closed, under):
		case name == "-":
			closed = append(closed, f.Index)
		case name == "" && embeds(f):
			if f.Type.Kind() == reflect.Pointer && !f.IsExported() {
				closed = append(closed, f.Index)
			}
		default:
			if f.Anonymous {
				closed = append(closed, f.Index)
			}
			if f.IsExported() {
				out = append(out, newStructField(f, name, options))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *StructField) int {
		if c := cmp.Compare(len(a.index), len(b.index)); c != 0 || a.tagged == b.tagged {
			return c
		}
		if a.tagged {
			return -1
		}
		return 1
	})
	return out
}

// embeds reports whether f is an embedded struct, other than one that is a value.
func embeds(f reflect.StructField) bool {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return f.Anonymous && t.Kind() == reflect.Struct && t != timeType
}

func newStructField(f reflect.StructField, name, options string) *StructField {
	out := &StructField{Name: name, tagged: name != "", index: f.Index}
	if !out.tagged {
		out.Name = strings.ToLower(f.Name)
		if !strings.EqualFold(out.Name, f.Name) {
			out.Name = f.Name // of letters whose lower case is that of another
		}
	}
	out.OmitEmpty = slices.Contains(strings.Split(options, ","), "omitempty") || f.Tag.Get("fenec") == "" && isID(out.Name, f.Type)
	out.Time = f.Type == timeType || f.Type == reflect.PointerTo(timeType)
	return out
}

// isID reports whether a field of that name and type is the id of a document, as
// which zero, or a nil pointer, can only mean that there is none.
func isID(name string, t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return name == "id" && t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64
}

// Field returns the field that takes the member of that name: one with the name
// as its tag, or one without a tag whose name is the same but for case; nil if
// there is none.
func (s *Struct) Field(name string) *StructField {
	if f := s.byName[name]; f != nil {
		return f
	}
	for _, f := range s.all {
		if f.Name == name || !f.tagged && strings.EqualFold(f.Name, name) {
			return f
		}
	}
	return nil
}

// In returns the field of the struct x. ok is false if it lies in an embedded
// pointer that is nil, unless grow is set: then that is made to point to a zero
// struct.
func (f *StructField) In(x reflect.Value, grow bool) (field reflect.Value, ok bool) {
	for i, at := range f.index {
		if i > 0 && x.Kind() == reflect.Pointer {
			if x.IsNil() {
				if !grow {
					return reflect.Value{}, false
				}
				x.Set(reflect.New(x.Type().Elem()))
			}
			x = x.Elem()
		}
		x = x.Field(at)
	}
	return x, true
}

// reflectStruct returns the object that a struct stands for.
func reflectStruct(x reflect.Value, depth int) (Value, error) {
	s := StructOf(x.Type())
	if len(s.Fields) == 0 {
		return Null, noValue(x.Type())
	}
	if err := checkGoDepth(depth); err != nil {
		return Null, err
	}
	members := make([]Member, 0, len(s.Fields))
	for _, f := range s.Fields {
		field, ok := f.In(x, false)
		if !ok || f.OmitEmpty && field.IsZero() {
			continue
		}
		m, err := structMember(f.Name, field, depth)
		if err != nil {
			return Null, inField(f.Name, err)
		}
		members = append(members, m)
	}
	return Object(members)
}

// structMember returns a field as a member. A slice or a map that is nil is null,
// so that it is read as nil again.
func structMember(name string, field reflect.Value, depth int) (Member, error) {
	if k := field.Kind(); (k == reflect.Slice || k == reflect.Map) && field.IsNil() {
		return goMember(name, nil, depth)
	}
	return goMember(name, field.Interface(), depth)
}

// inField says in which field of a struct a fault lies.
func inField(name string, err error) error {
	if f, ok := err.(*fault.Error); ok {
		return fault.New(f.Kind, "field %q: %s", name, f.Msg)
	}
	return err
}
