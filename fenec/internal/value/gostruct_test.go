package value_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

type (
	stamped struct {
		At   time.Time
		Note string `fenec:"note,omitempty"`
	}
	Base struct {
		ID    int `fenec:"id,omitempty"`
		Title string
		By    string `fenec:"author"`
	}
	hidden   struct{ Inner int }
	numbered struct{ ID int64 }
	Linked   struct{ Next int }
	node     struct {
		Name string
		Next *node
	}
)

func TestFromGoStruct(t *testing.T) {
	at := time.UnixMilli(5)
	seven := 7
	tests := map[string]struct {
		x    any
		want string
	}{
		"names": {struct {
			Title   string
			ISBN    string
			By      string `fenec:"author"`
			Skipped int    `fenec:"-"`
			kept    int
		}{"Dune", "x", "Herbert", 1, 2}, `{"author":"Herbert","isbn":"x","title":"Dune"}`},
		"omitempty": {struct {
			ID  int        `fenec:"id,omitempty"`
			N   int        `fenec:",omitempty"`
			P   *int       `fenec:",omitempty"`
			At  time.Time  `fenec:"at,omitempty"`
			Set []int      `fenec:",omitempty"`
			Sub hidden     `fenec:",omitempty"`
			Arr [2]float64 `fenec:",omitempty"`
		}{Set: []int{}}, `{"set":[]}`},
		"omitempty, not empty": {Base{ID: 3}, `{"author":"","id":3,"title":""}`},
		"a zero ID":            {struct{ ID, N int }{}, `{"n":0}`},
		"an ID":                {struct{ Id uint32 }{7}, `{"id":7}`},
		"a nil ID":             {struct{ ID *int64 }{}, `{}`},
		"a tagged ID": {struct {
			ID int `fenec:"id"`
		}{}, `{"id":0}`},
		"an ID that is a text": {struct{ ID string }{}, `{"id":""}`},
		"an ID within":         {struct{ Sub struct{ ID int } }{}, `{"sub":{}}`},
		"nil": {struct {
			P *int
			S []string
			B []byte
			V []float32
			M map[string]int
			J json.RawMessage
			A any
		}{}, `{"a":null,"b":null,"j":null,"m":null,"p":null,"s":null,"v":null}`},
		"values within": {struct {
			P *int
			M map[string]int
			J json.RawMessage
			A any
			S []hidden
		}{&seven, map[string]int{"k": 1}, json.RawMessage(`{"z":[1]}`), stamped{at, ""}, []hidden{{1}}},
			`{"a":{"at":"1970-01-01T00:00:00.005Z"},"j":{"z":[1]},"m":{"k":1},"p":7,"s":[{"inner":1}]}`},
		"embedded": {struct {
			Base
			*Linked
			hidden
			stamped `fenec:"when"`
			Title   int
		}{Base{1, "inner", "me"}, &Linked{2}, hidden{3}, stamped{}, 4}, `{"author":"me","id":1,"inner":3,"next":2,"title":4}`},
		"embedded nil": {struct{ *Linked }{}, `{}`},
		"embedded with a name": {struct {
			Base `fenec:"b"`
		}{}, `{"b":{"author":"","title":""}}`},
		"embedded ID": {struct{ numbered }{}, `{}`},
		"embedded and left out": {struct {
			Base `fenec:"-"`
			N    int
		}{}, `{"n":0}`},
		"embedded pointer unexported": {struct {
			*hidden
			N int
		}{hidden: &hidden{1}}, `{"n":0}`},
		"embedded time": {struct{ time.Time }{at}, `{"time":"1970-01-01T00:00:00.005Z"}`},
		"a tag before a name": {struct {
			Name  string
			Other string `fenec:"name"`
		}{"a", "b"}, `{"name":"b"}`},
		"the outermost first": {struct {
			Base
			Author string
		}{Author: "outer"}, `{"author":"outer","title":""}`},
		"the first of two": {struct{ NAME, Name string }{"a", "b"}, `{"name":"a"}`},
		"other letters":    {struct{ Ähre, İsim int }{1, 2}, `{"ähre":1,"İsim":2}`},
		"pointers":         {[]*Base{{Title: "x"}, nil}, `[{"author":"","title":"x"},null]`},
		"slices":           {[]hidden{{1}, {2}}, `[{"inner":1},{"inner":2}]`},
		"nested":           {&node{"a", &node{"b", nil}}, `{"name":"a","next":{"name":"b","next":null}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := value.FromGo(test.x)
			require.NoError(t, err)
			require.Equal(t, test.want, got.String())
		})
	}
}

func TestFromGoStructRefuses(t *testing.T) {
	loop := &node{}
	loop.Next = loop
	for _, test := range []struct {
		x    any
		want fault.Kind
		msg  string
	}{
		{hiddenOnly{1}, fault.Type, "hiddenOnly is not a value"},
		{struct{ F func() }{}, fault.Type, `field "f": a Go value of type func() is not a value`},
		{struct{ A any }{struct{ D time.Duration }{1}}, fault.Type, `field "a": field "d": a time.Duration`},
		{struct{ J json.RawMessage }{json.RawMessage("{")}, fault.Query, `field "j": `},
		{loop, fault.Type, "within each other"},
	} {
		_, err := value.FromGo(test.x)
		requireFault(t, test.want, err, "%T", test.x)
		require.ErrorContains(t, err, test.msg)
	}
}

type hiddenOnly struct{ n int }

func TestStructField(t *testing.T) {
	s := value.StructOf(reflect.TypeFor[struct {
		Base
		Name  string
		Other int `fenec:"Tagged,omitempty"`
	}]())
	require.Same(t, s.Field("title"), s.Field("TITLE"))
	require.Equal(t, "title", s.Field("Title").Name)
	require.True(t, s.Field("Tagged").OmitEmpty)
	require.Nil(t, s.Field("tagged"), "a tag is what it is")
	require.Nil(t, s.Field("by"), "the tag stands in for the name")
	require.Nil(t, s.Field("base"))
	require.Same(t, s, value.StructOf(reflect.TypeFor[struct {
		Base
		Name  string
		Other int `fenec:"Tagged,omitempty"`
	}]()))
}

func TestStructFieldIn(t *testing.T) {
	type outer struct{ *Linked }
	f := value.StructOf(reflect.TypeFor[outer]()).Field("next")
	var x outer
	at := reflect.ValueOf(&x).Elem()
	_, ok := f.In(at, false)
	require.False(t, ok)
	require.Nil(t, x.Linked)
	field, ok := f.In(at, true)
	require.True(t, ok)
	field.SetInt(7)
	require.Equal(t, 7, x.Next)
}
