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

// everyKind returns a collection with all that version 2 has and version 1 has
// not.
func everyKind(t testing.TB) *catalog.Collection {
	c, _ := create(t, new(catalog.Catalog), `create collection kinds (a text collate tr @sorted, b [text] collate und, c int @hash,
		d timestamp @ttl(36h), e geo @geo, f sparse<30000>, g json, h [geo])`)
	_, col := changes(t, c, `alter collection kinds drop c`, `create index on kinds (g.a) @hash`, `create index on kinds (g.b.c) @unique`,
		`alter collection kinds add i int @sorted`, `create index on kinds (g.ışık) @sorted`)
	return col
}

// everySearch returns a collection with all that version 3 has and version 2 has
// not.
func everySearch(t testing.TB) *catalog.Collection {
	c, _ := create(t, new(catalog.Catalog), `create collection search (a text @text, b text collate tr @text(k1=1.25, b=0, prefix=6, prefix_min=2, chars),
		c vector<3> @hnsw, d vector<300, f16> @hnsw(l2, m=256, ef_construction=65536, ef_search=65536, quant=int8),
		e vector<2> @hnsw(dot), f vector<8> @hnsw(quant=bit), g sparse<30000> @inverted, h text @sorted, i vector<2>)`)
	c, _ = changes(t, c, `alter collection search add j text @text(prefix=4)`)
	_, _, col, _, err := c.BeginIndex(declareIndex(t, `create index on search (i) @hnsw(m=2, ef_construction=8, ef_search=1)`))
	require.NoError(t, err)
	return col
}

func TestCodec(t *testing.T) {
	_, types := create(t, new(catalog.Catalog), everyType)
	_, small := create(t, new(catalog.Catalog), `create collection c (x int)`)
	for _, col := range []*catalog.Collection{types, small, everyKind(t), everySearch(t)} {
		stored := col.Append([]byte("before"))
		got, err := catalog.Decode(stored[len("before"):])
		require.NoError(t, err)
		require.Equal(t, col, got)
	}
}

// TestStoredForm reads definitions that earlier builds have written.
func TestStoredForm(t *testing.T) {
	_, types := create(t, new(catalog.Catalog), everyType)
	const newest = "testdata/search.v3"
	if os.Getenv("UPDATE_TESTDATA") != "" {
		require.NoError(t, os.WriteFile(newest, everySearch(t).Append(nil), 0o644))
	}
	for file, want := range map[string]*catalog.Collection{
		"testdata/everything.v1": types, "testdata/kinds.v2": everyKind(t), newest: everySearch(t),
	} {
		stored, err := os.ReadFile(file)
		require.NoError(t, err)
		got, err := catalog.Decode(stored)
		require.NoError(t, err, file)
		require.Equal(t, want, got, file)
	}
	stored, err := os.ReadFile(newest)
	require.NoError(t, err)
	require.Equal(t, stored, everySearch(t).Append(nil), "it is still written so")
}

func TestDecodeDamaged(t *testing.T) {
	for _, col := range []*catalog.Collection{everyKind(t), everySearch(t)} {
		stored := col.Append(nil)
		for n := range stored {
			_, err := catalog.Decode(stored[:n])
			require.ErrorIs(t, err, catalog.ErrCorrupt, "cut at %d", n)
		}
		_, err := catalog.Decode(append(stored, 0))
		require.ErrorIs(t, err, catalog.ErrCorrupt, "a byte too many")
	}
	for name, bad := range map[string][]byte{
		"version 0":                         {0, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 0, 0, 0},
		"another version":                   {4, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 0, 0, 0},
		"number 0":                          {1, 0, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 0},
		"no field":                          {1, 1, 1, 1, 'c', 0},
		"a field named id":                  {1, 1, 1, 1, 'c', 1, 2, 'i', 'd', 2, 0, 0, 0},
		"an unknown base":                   {1, 1, 1, 1, 'c', 1, 1, 'x', 99, 0, 0, 0},
		"an unknown flag":                   {1, 1, 1, 1, 'c', 1, 1, 'x', 2, 4, 0, 0},
		"f16 of an int":                     {1, 1, 1, 1, 'c', 1, 1, 'x', 2, 2, 0, 0},
		"a list of json":                    {1, 1, 1, 1, 'c', 1, 1, 'x', 8, 0, 1, 0},
		"an unknown index":                  {1, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 9, 2},
		"sorted bools":                      {1, 1, 1, 1, 'c', 1, 1, 'x', 1, 0, 0, 3, 2},
		"a space used twice":                {1, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 1, 1},
		"a name that is no text":            {1, 1, 1, 1, 0xff, 1, 1, 'x', 2, 0, 0, 0},
		"base 0":                            {1, 1, 1, 1, 'c', 1, 1, 'x', 0, 0, 0, 0},
		"dropped in version 1":              {1, 1, 1, 1, 'c', 2, 1, 'x', 2, 0, 0, 0, 0, 2, 0, 0, 0},
		"a ttl in version 1":                {1, 1, 1, 1, 'c', 1, 1, 'x', 6, 0, 0, 4, 2},
		"a point in version 1":              {1, 1, 1, 1, 'c', 1, 1, 'x', 10, 0, 0, 0},
		"no paths in version 2":             {2, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 0},
		"all fields dropped":                {2, 1, 1, 1, 'c', 1, 0, 2, 0, 0, 0, 0, 0},
		"dropped with an index":             {2, 1, 1, 1, 'c', 2, 1, 'x', 2, 0, 0, 0, 0, 2, 0, 0, 1, 2, 0, 0},
		"dropped but required":              {2, 1, 1, 1, 'c', 2, 1, 'x', 2, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0},
		"dropped without a type":            {2, 1, 1, 1, 'c', 2, 1, 'x', 2, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0},
		"ints collated":                     {2, 1, 1, 1, 'c', 1, 1, 'x', 2, 4, 0, 1, 0, 0, 0},
		"collation 0":                       {2, 1, 1, 1, 'c', 1, 1, 'x', 4, 4, 0, 0, 0, 0, 0},
		"an unknown collation":              {2, 1, 1, 1, 'c', 1, 1, 'x', 4, 4, 0, 9, 0, 0, 0},
		"a ttl without a period":            {2, 1, 1, 1, 'c', 1, 1, 'x', 6, 0, 0, 4, 2, 0, 0, 0},
		"two ttls":                          {2, 1, 1, 1, 'c', 2, 1, 'x', 6, 0, 0, 4, 2, 1, 1, 'y', 6, 0, 0, 4, 3, 1, 0, 0},
		"a path into an int":                {2, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 0, 1, 0, 1, 1, 'a', 1, 2, 0},
		"a path without keys":               {2, 1, 1, 1, 'c', 1, 1, 'x', 8, 0, 0, 0, 1, 0, 0, 1, 2, 0},
		"a path past the fields":            {2, 1, 1, 1, 'c', 1, 1, 'x', 8, 0, 0, 0, 1, 1, 1, 1, 'a', 1, 2, 0},
		"a path twice":                      {2, 1, 1, 1, 'c', 1, 1, 'x', 8, 0, 0, 0, 2, 0, 1, 1, 'a', 1, 2, 0, 1, 1, 'a', 1, 3, 0},
		"a path without index":              {2, 1, 1, 1, 'c', 1, 1, 'x', 8, 0, 0, 0, 1, 0, 1, 1, 'a', 0, 0},
		"a building one on a dropped field": {2, 1, 1, 1, 'c', 2, 1, 'x', 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 1, 0, 1, 2},
		"a building one beside another":     {2, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 1, 2, 0, 1, 0, 0, 1, 3},
		"a ttl on a path":                   {2, 1, 1, 1, 'c', 1, 1, 'x', 8, 0, 0, 0, 1, 0, 1, 1, 'a', 4, 2, 1, 0},
		"a text in version 1":               {1, 1, 1, 1, 'c', 1, 1, 'x', 4, 0, 0, 6, 2, 90, 40, 0, 3, 0},
		"a text in version 2":               {2, 1, 1, 1, 'c', 1, 1, 'x', 4, 0, 0, 6, 2, 90, 40, 0, 3, 0, 0, 0},
		"an inverted in version 2":          {2, 1, 1, 1, 'c', 1, 1, 'x', 9, 0, 0, 9, 8, 2, 0, 0},
		"an unknown index in version 3":     {3, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 9, 2, 0, 0},
		"a text on an int":                  {3, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 6, 2, 90, 40, 0, 3, 0, 0, 0},
		"k1 past 100":                       {3, 1, 1, 1, 'c', 1, 1, 'x', 4, 0, 0, 6, 2, 0x91, 0x4e, 40, 0, 3, 0, 0, 0},
		"b past 100":                        {3, 1, 1, 1, 'c', 1, 1, 'x', 4, 0, 0, 6, 2, 90, 0x91, 0x4e, 0, 3, 0, 0, 0},
		"prefix past 64":                    {3, 1, 1, 1, 'c', 1, 1, 'x', 4, 0, 0, 6, 2, 90, 40, 65, 3, 0, 0, 0},
		"prefix_min 0":                      {3, 1, 1, 1, 'c', 1, 1, 'x', 4, 0, 0, 6, 2, 90, 40, 0, 0, 0, 0, 0},
		"prefix_min past 64":                {3, 1, 1, 1, 'c', 1, 1, 'x', 4, 0, 0, 6, 2, 90, 40, 0, 65, 0, 0, 0},
		"chars 2":                           {3, 1, 1, 1, 'c', 1, 1, 'x', 4, 0, 0, 6, 2, 90, 40, 0, 3, 2, 0, 0},
		"a text on a path":                  {3, 1, 1, 1, 'c', 1, 1, 'x', 8, 0, 0, 0, 1, 0, 1, 1, 'a', 6, 2, 90, 40, 0, 3, 0, 0},
		"an hnsw on a sparse vector":        {3, 1, 1, 1, 'c', 1, 1, 'x', 9, 0, 0, 9, 7, 2, 0, 16, 99, 99, 0, 0, 0},
		"an unknown metric":                 {3, 1, 1, 1, 'c', 1, 1, 'x', 7, 0, 0, 9, 7, 2, 3, 16, 99, 99, 0, 0, 0},
		"m 1":                               {3, 1, 1, 1, 'c', 1, 1, 'x', 7, 0, 0, 9, 7, 2, 0, 1, 99, 99, 0, 0, 0},
		"m past 256":                        {3, 1, 1, 1, 'c', 1, 1, 'x', 7, 0, 0, 9, 7, 2, 0, 0x81, 2, 99, 99, 0, 0, 0},
		"ef_construction 7":                 {3, 1, 1, 1, 'c', 1, 1, 'x', 7, 0, 0, 9, 7, 2, 0, 16, 7, 99, 0, 0, 0},
		"ef_construction past 65536":        {3, 1, 1, 1, 'c', 1, 1, 'x', 7, 0, 0, 9, 7, 2, 0, 16, 0x81, 0x80, 4, 99, 0, 0, 0},
		"ef_search 0":                       {3, 1, 1, 1, 'c', 1, 1, 'x', 7, 0, 0, 9, 7, 2, 0, 16, 99, 0, 0, 0, 0},
		"ef_search past 65536":              {3, 1, 1, 1, 'c', 1, 1, 'x', 7, 0, 0, 9, 7, 2, 0, 16, 99, 0x81, 0x80, 4, 0, 0, 0},
		"an unknown quant":                  {3, 1, 1, 1, 'c', 1, 1, 'x', 7, 0, 0, 9, 7, 2, 0, 16, 99, 99, 3, 0, 0},
		"bits by l2":                        {3, 1, 1, 1, 'c', 1, 1, 'x', 7, 0, 0, 9, 7, 2, 1, 16, 99, 99, 2, 0, 0},
		"an inverted on a vector":           {3, 1, 1, 1, 'c', 1, 1, 'x', 7, 0, 0, 9, 8, 2, 0, 0},
		"a search space with its bit":       {3, 1, 1, 1, 'c', 1, 1, 'x', 9, 0, 0, 9, 8, 0x82, 0x80, 0x80, 0x80, 8, 0, 0},
		"a number drawn twice":              {3, 1, 1, 1, 'c', 2, 1, 'x', 9, 0, 0, 9, 8, 2, 1, 'y', 2, 0, 0, 1, 2, 0, 0},
	} {
		_, err := catalog.Decode(bad)
		require.ErrorIs(t, err, catalog.ErrCorrupt, name)
	}
	for _, good := range [][]byte{ // what the damaged ones were made of
		{1, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 0},
		{2, 1, 1, 1, 'c', 2, 1, 'x', 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0},
		{2, 1, 1, 1, 'c', 1, 1, 'x', 4, 4, 0, 1, 0, 0, 0},
		{2, 1, 1, 1, 'c', 1, 1, 'x', 6, 0, 0, 4, 2, 1, 0, 0},
		{2, 1, 1, 1, 'c', 1, 1, 'x', 8, 0, 0, 0, 1, 0, 1, 1, 'a', 1, 2, 0},
		{2, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 0, 0, 1, 0, 0, 1, 3},
		{3, 1, 1, 1, 'c', 1, 1, 'x', 2, 0, 0, 0, 0, 0},
		{3, 1, 1, 1, 'c', 1, 1, 'x', 4, 0, 0, 6, 2, 90, 40, 0, 3, 0, 0, 0},
		{3, 1, 1, 1, 'c', 1, 1, 'x', 4, 0, 0, 6, 2, 0x90, 0x4e, 0x90, 0x4e, 64, 64, 1, 0, 0},
		{3, 1, 1, 1, 'c', 1, 1, 'x', 7, 0, 0, 9, 7, 2, 0, 16, 99, 99, 0, 0, 0},
		{3, 1, 1, 1, 'c', 1, 1, 'x', 7, 0, 0, 9, 7, 2, 0, 0x80, 2, 0x80, 0x80, 4, 0x80, 0x80, 4, 2, 0, 0},
		{3, 1, 1, 1, 'c', 1, 1, 'x', 9, 0, 0, 9, 8, 2, 0, 0},
		{3, 1, 1, 1, 'c', 2, 1, 'x', 9, 0, 0, 9, 8, 2, 1, 'y', 2, 0, 0, 1, 3, 0, 0},
	} {
		_, err := catalog.Decode(good)
		require.NoError(t, err, good)
	}
}

func FuzzDecode(f *testing.F) {
	_, col := create(f, new(catalog.Catalog), everyType)
	f.Add(col.Append(nil))
	f.Add(everyKind(f).Append(nil))
	f.Add(everySearch(f).Append(nil))
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
