package ql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

func TestShape(t *testing.T) {
	for text, want := range map[string]string{
		``:                                    ``,
		`get t`:                               `get t`,
		"  get   t\n\twhere a = 1 -- why\n":   `get t where a = $1`,
		`put t {a: 1, b:"x", c: $7}`:          `put t {a: $1, b:$2, c: $3}`,
		`get t where a = -5 and b = 1 - 2`:    `get t where a = $1 and b = $2 - $3`,
		`get t where a in [1, 2, -3] limit 9`: `get t where a in $1 limit $2`,
		`put t {v: [0.5, 1e3], l: ["a", b]}`:  `put t {v: $1, l: [$2, b]}`,
		`get t where a = TRUE or b is null`:   `get t where a = $1 or b is $2`,
		`get t near v [1] select a.b`:         `get t near v $1 select a.b`,
		`put t {l: [[1], [2, 3]]}`:            `put t {l: [$1, $2]}`,
		"get t where \x01 12":                 "get t where \x01 12",
		`get t where a = "open`:               `get t where a = "open`,
		`get t where a in [1, 2`:              `get t where a in [$1, $2`,
	} {
		require.Equal(t, want, ql.Shape(text), text)
	}
}

func FuzzShape(f *testing.F) {
	f.Add(`get t where a in [1, -2.5, "x"] and b = -1`)
	f.Add(`put t [{a: [1, {b: 2}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		shape := ql.Shape(text)
		require.LessOrEqual(t, len(shape), 24*len(text)+1) // a digit becomes a number of a parameter
		if ql.Shape(shape) != shape {
			if _, err := ql.Parse(text); err == nil {
				t.Fatalf("%q has the shape %q, which has another one", text, shape)
			}
		}
	})
}
