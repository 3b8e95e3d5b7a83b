package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// declare parses a create collection.
func declare(t testing.TB, text string) *ql.CreateCollection {
	t.Helper()
	s, err := ql.Parse(text)
	require.NoError(t, err, text)
	return s.(*ql.CreateCollection)
}

func create(t testing.TB, c *catalog.Catalog, text string) (*catalog.Catalog, *catalog.Collection) {
	t.Helper()
	out, col, err := c.Create(declare(t, text))
	require.NoError(t, err, text)
	return out, col
}

func TestCreate(t *testing.T) {
	c0 := new(catalog.Catalog)
	c1, a := create(t, c0, `create collection a (x int @sorted, y text @unique required, z json)`)
	c2, b := create(t, c1, `create collection b (x int)`)

	require.Empty(t, c0.Collections(), "a catalog does not change")
	require.Nil(t, c0.Find("a"))
	require.Same(t, a, c2.Find("a"))
	require.Same(t, b, c2.Find("b"))
	require.Same(t, a, c2.Numbered(a.Number))
	require.Nil(t, c2.Numbered(99))
	require.Equal(t, []*catalog.Collection{a, b}, c2.Collections())

	spaces := append(a.Spaces(), b.Spaces()...)
	require.Equal(t, []uint32{1, 2, 3, 4}, spaces)
	require.Equal(t, uint32(5), c2.Next())
	require.True(t, a.Fields[1].Required)
	require.Equal(t, catalog.Unique, a.Fields[1].Index.Kind)
	require.Nil(t, a.Fields[2].Index)

	_, err := c2.Collection("c")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	_, err = c2.Collection("A")
	require.Equal(t, fault.NotFound, fault.KindOf(err), "names differ by case")
}

func TestCreateRefused(t *testing.T) {
	c, _ := create(t, new(catalog.Catalog), `create collection taken (x int)`)
	for text, want := range map[string]fault.Kind{
		`create collection taken (x int)`:                                  fault.Exists,
		`create collection if not exists taken (x int)`:                    fault.Exists,
		`create collection c (id int)`:                                     fault.Query,
		`create collection c (x int, x text)`:                              fault.Exists,
		`create collection c (x [json])`:                                   fault.Type,
		`create collection c (x vector<0>)`:                                fault.Query,
		`create collection c (x vector<99999999>)`:                         fault.Query,
		`create collection c (x [[vector<0>]])`:                            fault.Query,
		`create collection c (x bool @sorted)`:                             fault.Type,
		`create collection c (x json @sorted)`:                             fault.Type,
		`create collection c (x bytes @sorted)`:                            fault.Type,
		`create collection c (x [int] @sorted)`:                            fault.Type,
		`create collection c (x vector<2> @sorted)`:                        fault.Type,
		`create collection c (x geo @sorted)`:                              fault.Type,
		`create collection c (x geo @hash)`:                                fault.Type,
		`create collection c (x geo @unique)`:                              fault.Type,
		`create collection c (x [geo] @geo)`:                               fault.Type,
		`create collection c (x text @geo)`:                                fault.Type,
		`create collection c (x int @ttl(1d))`:                             fault.Type,
		`create collection c (x timestamp @ttl(0s))`:                       fault.Query,
		`create collection c (x timestamp @ttl(1y))`:                       fault.Query,
		`create collection c (x timestamp @ttl(9999999999999d))`:           fault.Query,
		`create collection c (x timestamp @ttl(1d), y timestamp @ttl(1d))`: fault.Query,
		`create collection c (x int collate tr)`:                           fault.Query,
		`create collection c (x [[text]] collate und)`:                     fault.Query,
		`create collection c (x sparse<0>)`:                                fault.Query,
		`create collection c (x sparse<1000000001>)`:                       fault.Query,
		`create collection c (x int @text)`:                                fault.Type,
		`create collection c (x text @hnsw)`:                               fault.Type,
		`create collection c (x text @inverted)`:                           fault.Type,
		`create collection c (x vector<2> @hnsw(m=1))`:                     fault.Query,
		`create collection c (x vector<2> @hnsw(ef_construction=7))`:       fault.Query,
		`create collection c (x vector<2> @hnsw(l2, quant=bit))`:           fault.Query,
		`create collection c (x text @text(k1=101))`:                       fault.Query,
		`create collection c (x text @text(prefix=65))`:                    fault.Query,
		`create collection c (x text @text(prefix_min=0))`:                 fault.Query,
	} {
		var out *catalog.Catalog
		var col *catalog.Collection
		s, err := ql.Parse(text) // which refuses some of it
		if err == nil {
			out, col, err = c.Create(s.(*ql.CreateCollection))
		}
		require.Error(t, err, text)
		require.Equal(t, want, fault.KindOf(err), "%s: %v", text, err)
		require.Nil(t, out, text)
		require.Nil(t, col, text)
	}
}

func TestIndexesAllowed(t *testing.T) {
	for _, field := range []string{
		"bool @hash", "int @unique", "float @sorted", "text @sorted", "bytes @hash", "timestamp @sorted",
		"vector<3> @hash", "vector<3, f16> @unique", "[text] @hash", "[[int]] @unique", "json @hash",
		"timestamp @ttl(1ms)", "geo @geo", "geo", "sparse<1000000000> @hash", "[geo] @hash", "text collate tr @sorted",
		"[text] collate und @unique", "text @text", "text collate tr @text", "vector<3> @hnsw", "vector<3, f16> @hnsw(dot)",
		"sparse<9> @inverted",
	} {
		create(t, new(catalog.Catalog), `create collection c (x `+field+`)`)
	}
}

func TestDrop(t *testing.T) {
	c, a := create(t, new(catalog.Catalog), `create collection a (x int @hash)`)
	c, b := create(t, c, `create collection b (x int)`)
	without, dropped, err := c.Drop("a")
	require.NoError(t, err)
	require.Same(t, a, dropped)
	require.Equal(t, []*catalog.Collection{b}, without.Collections())
	require.Nil(t, without.Find("a"))
	require.Same(t, a, c.Find("a"), "the catalog before has it still")

	_, _, err = without.Drop("a")
	require.Equal(t, fault.NotFound, fault.KindOf(err))

	again, a2 := create(t, without, `create collection a (x int @hash)`)
	require.Equal(t, []uint32{4, 5}, a2.Spaces(), "numbers are never used again")
	require.Equal(t, []*catalog.Collection{b, a2}, again.Collections())
	without, _, err = again.Drop("a")
	require.NoError(t, err)
	require.Equal(t, uint32(6), without.Next(), "not even after the last was dropped")
}

func TestAdd(t *testing.T) {
	c, a := create(t, new(catalog.Catalog), `create collection a (x int @hash)`)
	c, b := create(t, c, `create collection b (x int)`)

	replica, err := new(catalog.Catalog).Add(a)
	require.NoError(t, err)
	replica, err = replica.Add(b)
	require.NoError(t, err)
	require.Equal(t, c.Collections(), replica.Collections())
	require.Equal(t, c.Next(), replica.Next())

	_, err = replica.Add(b)
	require.Equal(t, fault.Exists, fault.KindOf(err))
	gone, _, err := replica.Drop("b")
	require.NoError(t, err)
	_, err = gone.Add(b)
	require.ErrorIs(t, err, catalog.ErrCorrupt, "its number has been given out")
}

func TestLoad(t *testing.T) {
	c, a := create(t, new(catalog.Catalog), `create collection a (x int @hash)`)
	c, b := create(t, c, `create collection b (x int)`)

	loaded, err := catalog.Load(9, []*catalog.Collection{b, a})
	require.NoError(t, err)
	require.Equal(t, c.Collections(), loaded.Collections())
	require.Equal(t, uint32(9), loaded.Next())

	empty, err := catalog.Load(0, nil)
	require.NoError(t, err)
	require.Equal(t, uint32(1), empty.Next())

	renamed := *b
	renamed.Name = "a"
	clash := *b
	clash.RowSpace = a.RowSpace
	_, search := create(t, new(catalog.Catalog), `create collection search (x text @text)`)
	drawn := *b
	drawn.RowSpace = search.Fields[0].Index.Space - catalog.SearchSpaces
	for name, bad := range map[string]struct {
		next uint32
		list []*catalog.Collection
	}{
		"a number past the next": {3, []*catalog.Collection{a, b}},
		"one twice":              {9, []*catalog.Collection{a, a}},
		"a name twice":           {9, []*catalog.Collection{a, &renamed}},
		"a space twice":          {9, []*catalog.Collection{a, &clash}},
		"a number drawn twice":   {9, []*catalog.Collection{search, &drawn}},
		"a search space past":    {2, []*catalog.Collection{search}},
	} {
		_, err := catalog.Load(bad.next, bad.list)
		require.ErrorIs(t, err, catalog.ErrCorrupt, name)
	}
}

func TestPosition(t *testing.T) {
	_, few := create(t, new(catalog.Catalog), `create collection c (a int, b int)`)
	_, many := create(t, new(catalog.Catalog),
		`create collection c (a int, b int, c int, d int, e int, f int, g int, h int, i int, j int, k int, l int, m int)`)
	for _, c := range []*catalog.Collection{few, many} {
		for i := range c.Fields {
			at, ok := c.Position(c.Fields[i].Name)
			require.True(t, ok)
			require.Equal(t, i, at)
		}
		_, ok := c.Position("nope")
		require.False(t, ok)
	}
}

func TestNamed(t *testing.T) {
	err := catalog.Named("price", fault.New(fault.Type, "want int, got text"))
	require.EqualError(t, err, `type error: field "price": want int, got text`)
	require.Equal(t, catalog.ErrCorrupt, catalog.Named("price", catalog.ErrCorrupt))
}
