package plan_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/plan"
)

func TestSort(t *testing.T) {
	list := rand.New(rand.NewPCG(1, 2)).Perm(200_000)
	ctx, cancel := context.WithCancel(t.Context())
	compared, limit := 0, 0
	compare := func(a, b int) int {
		if compared++; compared == limit {
			cancel()
		}
		return cmp.Compare(a, b)
	}
	sorted := slices.Clone(list)
	require.NoError(t, plan.Sort(ctx, sorted, compare))
	require.True(t, slices.IsSorted(sorted))
	all := compared
	compared, limit = 0, 100_000
	require.ErrorIs(t, plan.Sort(ctx, slices.Clone(list), compare), context.Canceled)
	require.Less(t, compared, 120_000)
	require.Greater(t, all, 1_000_000)
	require.NoError(t, plan.Sort(t.Context(), []int(nil), compare))
}
