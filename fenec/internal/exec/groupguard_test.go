package exec_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// onlyKind lets rows of one kind be read, which is the first parameter.
type onlyKind struct{ exec.Guard }

func (onlyKind) Read(*catalog.Collection) (ql.Expr, error) {
	return &ql.Binary{Op: ql.OpEq, Left: &ql.Path{Field: "kind"}, Right: &ql.Param{N: 1}}, nil
}

// TestCountsKeepToTheGuard asks for counts of rows that may not be read.
func TestCountsKeepToTheGuard(t *testing.T) {
	db := openItems(t)
	for text, want := range map[string]string{
		`get count(*) from item`:                                  `[{"count":3}]`,
		`get kind, count(*) from item group kind`:                 `[{"kind":"tool","count":3}]`,
		`get count(distinct kind), max(price) from item`:          `[{"count(distinct kind)":1,"max(price)":120}]`,
		`get id from item where id = 2 facet kind`:                `{"rows":[],"facets":{"kind":[]}}`,
		`get id from item where kind = $1 facet kind disjunctive`: `{"rows":[],"facets":{"kind":[{"value":"tool","count":3}]}}`,
	} {
		tree, err := ql.Parse(text)
		require.NoError(t, err)
		c, err := exec.Compile(db.cat, tree, exec.Options{Guard: onlyKind{}})
		require.NoError(t, err, text)
		env := exec.Env{Params: params(t, "part"), Guard: []value.Value{value.Text("tool")}}
		res, err := db.query(context.Background(), c.(exec.Query), env)
		require.NoError(t, err, text)
		require.Equal(t, want, outcome{res: res}.json(t), text)
	}
}
