package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

func declareIndex(t testing.TB, text string) *ql.CreateIndex {
	t.Helper()
	s, err := ql.Parse(text)
	require.NoError(t, err, text)
	return s.(*ql.CreateIndex)
}

func TestIndexInTheBuilding(t *testing.T) {
	for _, text := range []string{`create index on c (x) @sorted`, `create index on c (j.a.b) @unique`} {
		cat, col := create(t, new(catalog.Catalog), `create collection c (x int, j json, y int @hash)`)
		def := declareIndex(t, text)
		cat, before, building, x, err := cat.BeginIndex(def)
		require.NoError(t, err)
		require.Same(t, col, before)
		require.False(t, building.Built(x))
		require.True(t, building.Built(building.Fields[2].Index))
		require.Contains(t, building.Indexes(), x, "blocks keep it in step")
		require.Nil(t, building.Fields[0].Index, "nobody reads it")
		require.Empty(t, building.Paths)
		require.Equal(t, []*catalog.Index{x}, building.NewIndexes(before))

		stored, err := catalog.Decode(building.Append(nil))
		require.NoError(t, err)
		require.Equal(t, building.Append(nil), stored.Append(nil))
		require.Len(t, stored.Building, 1)

		_, _, _, _, err = cat.CreateIndex(def)
		require.Equal(t, fault.Exists, fault.KindOf(err), "another one on the same")
		_, _, _, _, err = cat.BeginIndex(def)
		require.Equal(t, fault.Exists, fault.KindOf(err))

		with, _, after, err := cat.InstallIndex(col.Number, x)
		require.NoError(t, err)
		require.True(t, after.Built(x))
		require.Contains(t, after.Indexes(), x)
		require.Empty(t, after.NewIndexes(building), "its entries are there")
		require.Empty(t, after.Building)
		_, _, _, err = with.InstallIndex(col.Number, x)
		require.Equal(t, fault.NotFound, fault.KindOf(err))

		_, was, without, err := cat.AbandonIndex(col.Number, x)
		require.NoError(t, err)
		require.NotContains(t, without.Indexes(), x)
		require.Equal(t, []*catalog.Index{x}, was.NewIndexes(without), "its space is to be dropped")
	}
}

func TestIndexInTheBuildingGoesWithItsField(t *testing.T) {
	cat, col := create(t, new(catalog.Catalog), `create collection c (x int, y int)`)
	cat, _, _, x, err := cat.BeginIndex(declareIndex(t, `create index on c (x) @hash`))
	require.NoError(t, err)
	s, err := ql.Parse(`alter collection c drop x`)
	require.NoError(t, err)
	cat, _, after, err := cat.Alter(s.(*ql.AlterCollection))
	require.NoError(t, err)
	require.Empty(t, after.Indexes())
	_, _, _, err = cat.InstallIndex(col.Number, x)
	require.Equal(t, fault.NotFound, fault.KindOf(err))
}
