package exec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Rows that were told of in JSON are told again in the same words.
func TestGivenRows(t *testing.T) {
	list, err := value.ParseJSONString(`[1,{"a":null}]`)
	require.NoError(t, err)
	children := &exec.Given{Columns: []string{"id"}, Rows: [][]value.Value{{value.Int(7)}, {value.Int(8)}}}
	tests := map[string]struct {
		given exec.Given
		want  string
	}{
		"none":    {exec.Given{}, `[]`},
		"values":  {exec.Given{Columns: []string{"a", "b"}, Rows: [][]value.Value{{list, value.Text("x")}, {value.Null, value.Null}}}, `[{"a":[1,{"a":null}],"b":"x"},{"a":null,"b":null}]`},
		"no keys": {exec.Given{Rows: [][]value.Value{{}}}, `[{}]`},
		"scores":  {exec.Given{Columns: []string{"id", "_score"}, Rows: [][]value.Value{{value.Int(1), value.Float(0.1)}}}, `[{"id":1,"_score":0.1}]`},
		"no score": {exec.Given{Columns: []string{"_score"}, Rows: [][]value.Value{{value.Float(0.1)}, {value.Null}}},
			`[{"_score":0.1},{"_score":null}]`},
		"children": {exec.Given{Columns: []string{"id", "kids"}, Rows: [][]value.Value{{value.Int(1)}, {value.Int(2)}, {value.Int(3)}}, Children: children, UpTo: []int{1, 1, 2}},
			`[{"id":1,"kids":[{"id":7}]},{"id":2,"kids":[]},{"id":3,"kids":[{"id":8}]}]`},
		"facets": {exec.Given{Facets: []exec.FacetCounts{{Name: "f", Counts: []exec.FacetCount{{Value: value.Bool(true), Count: 2}}}}},
			`{"rows":[],"facets":{"f":[{"value":true,"count":2}]}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := test.given.Result().AppendJSON(nil)
			require.NoError(t, err)
			require.Equal(t, test.want, string(got))
		})
	}
}

// A score is the float32 that the search has found.
func TestGivenScores(t *testing.T) {
	given := exec.Given{Columns: []string{"_score"}, Rows: [][]value.Value{{value.Float(0.1)}, {value.Int(2)}}}
	r := given.Result()
	v, err := r.Value(0, 0)
	require.NoError(t, err)
	require.Equal(t, value.Float(float64(float32(0.1))), v)
	require.False(t, r.HoldsJSON(0))
	require.Equal(t, []string{"_score"}, r.Columns())
}
