package catalog_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
)

const everyType = `create collection everything (
	a bool @hash, b int @sorted required, c float, d text @unique, e bytes, f timestamp @sorted, g json,
	h vector<3>, i vector<1000, f16> required, j [text], k [[int]], l [vector<2, f16>] @hash, ü text)`

func TestCodec(t *testing.T) {
	for _, text := range []string{everyType, `create collection c (x int)`} {
		_, col := create(t, new(catalog.Catalog), text)
		stored := col.Append([]byte("before"))
		got, err := catalog.Decode(stored[len("before"):])
		require.NoError(t, err)
		require.Equal(t, col, got)
	}
}

// TestStoredForm reads a definition that an earlier build has written.
func TestStoredForm(t *testing.T) {
	_, col := create(t, new(catalog.Catalog), everyType)
	const file = "testdata/everything.v1"
	if os.Getenv("UPDATE_TESTDATA") != "" {
		require.NoError(t, os.WriteFile(file, col.Append(nil), 0o644))
	}
	stored, err := os.ReadFile(file)
	require.NoError(t, err)
	got, err := catalog.Decode(stored)
	require.NoError(t, err)
	require.Equal(t, col, got)
}

func TestDecodeDamaged(t *testing.T) {
	_, col := create(t, new(catalog.Catalog), everyType)
	stored := col.Append(nil)
	for n := range stored {
		_, err := catalog.Decode(stored[:n])
		require.ErrorIs(t, err, catalog.ErrCorrupt, "cut at %d", n)
	}
	_, err := catalog.Decode(append(stored, 0))
	require.ErrorIs(t, err, catalog.ErrCorrupt, "a byte too many")

	for name, bad := range map[string][]byte{
		"another version":        {2, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 0},
		"number 0":               {1, 0, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 0},
		"no field":               {1, 1, 1, 1, 'c', 0},
		"a field named id":       {1, 1, 1, 1, 'c', 1, 2, 'i', 'd', 2, 0, 0, 0},
		"an unknown base":        {1, 1, 1, 1, 'c', 1, 1, 'x', 99, 0, 0, 0},
		"an unknown flag":        {1, 1, 1, 1, 'c', 1, 1, 'x', 2, 4, 0, 0},
		"f16 of an int":          {1, 1, 1, 1, 'c', 1, 1, 'x', 2, 2, 0, 0},
		"a list of json":         {1, 1, 1, 1, 'c', 1, 1, 'x', 8, 0, 1, 0},
		"an unknown index":       {1, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 9, 2},
		"sorted bools":           {1, 1, 1, 1, 'c', 1, 1, 'x', 1, 0, 0, 3, 2},
		"a space used twice":     {1, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 1, 1},
		"a name that is no text": {1, 1, 1, 1, 0xff, 1, 1, 'x', 2, 0, 0, 0},
	} {
		_, err := catalog.Decode(bad)
		require.ErrorIs(t, err, catalog.ErrCorrupt, name)
	}
	_, err = catalog.Decode([]byte{1, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 0})
	require.NoError(t, err, "what the damaged ones were made of")
}

func FuzzDecode(f *testing.F) {
	_, col := create(f, new(catalog.Catalog), everyType)
	f.Add(col.Append(nil))
	f.Add([]byte{1, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := catalog.Decode(b)
		if err != nil {
			require.ErrorIs(t, err, catalog.ErrCorrupt)
			return
		}
		again, err := catalog.Decode(c.Append(nil))
		require.NoError(t, err)
		require.Equal(t, c, again)
	})
}
