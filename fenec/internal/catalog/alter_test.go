package catalog_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// change runs an alter or a create index.
func change(t testing.TB, c *catalog.Catalog, text string) (out *catalog.Catalog, before, after *catalog.Collection, err error) {
	t.Helper()
	s, err := ql.Parse(text)
	if err != nil {
		return nil, nil, nil, err
	}
	if s, ok := s.(*ql.CreateIndex); ok {
		out, before, after, x, err := c.CreateIndex(s)
		if err == nil {
			require.Contains(t, after.Indexes(), x)
		}
		return out, before, after, err
	}
	return c.Alter(s.(*ql.AlterCollection))
}

// changes runs several, which must succeed, and returns the last definition.
func changes(t testing.TB, c *catalog.Catalog, texts ...string) (*catalog.Catalog, *catalog.Collection) {
	t.Helper()
	var after *catalog.Collection
	for _, text := range texts {
		var err error
		c, _, after, err = change(t, c, text)
		require.NoError(t, err, text)
	}
	return c, after
}

const item = `create collection item (sku text @unique, price int @sorted, at timestamp @sorted, meta json, name text collate tr)`

func TestAlterAdd(t *testing.T) {
	c, old := create(t, new(catalog.Catalog), item)
	c1, before, after, err := change(t, c, `alter collection item add size int @hash`)
	require.NoError(t, err)
	require.Same(t, old, before)
	require.Same(t, after, c1.Find("item"))
	require.Same(t, after, c1.Numbered(old.Number))
	require.Same(t, old, c.Find("item"), "the catalog before is as it was")
	require.Len(t, old.Fields, 5)

	require.Equal(t, old.Number, after.Number)
	require.Equal(t, old.Fields, after.Fields[:5])
	x := after.Fields[5].Index
	require.Equal(t, &catalog.Index{Kind: catalog.Hash, Space: 5, Field: 5}, x)
	require.Equal(t, []*catalog.Index{x}, after.NewIndexes(before))
	require.Empty(t, before.NewIndexes(after))
	require.Equal(t, uint32(6), c1.Next())
	at, ok := after.Position("size")
	require.True(t, ok)
	require.Equal(t, 5, at)
}

func TestAlterDrop(t *testing.T) {
	c, _ := create(t, new(catalog.Catalog), item)
	c, _ = changes(t, c, `create index on item (meta.kind) @hash`, `create index on item (meta.a.b) @unique`)
	c, before, after, err := change(t, c, `alter collection item drop meta`)
	require.NoError(t, err)
	require.Empty(t, after.Paths)
	require.Len(t, before.NewIndexes(after), 2)
	require.True(t, after.Fields[3].Dropped())
	require.Equal(t, value.TypeJSON, after.Fields[3].Type, "what its place holds is known")
	for _, name := range []string{"meta", ""} {
		_, ok := after.Position(name)
		require.False(t, ok)
	}
	at, ok := after.Position("name")
	require.True(t, ok)
	require.Equal(t, 4, at, "the fields after it stay where they are")

	_, again := changes(t, c, `alter collection item add meta json @hash`)
	at, _ = again.Position("meta")
	require.Equal(t, 5, at, "a field of the same name is another one")
	require.EqualValues(t, 7, again.Fields[5].Index.Space, "and so is its index")
}

func TestAlterRename(t *testing.T) {
	c, _ := create(t, new(catalog.Catalog), item)
	c, _ = changes(t, c, `create index on item (meta.kind) @hash`)
	_, before, after, err := change(t, c, `alter collection item rename meta to more`)
	require.NoError(t, err)
	require.Equal(t, "more.kind", after.PathName(after.PathIndex(3, []string{"kind"})))
	require.Empty(t, after.NewIndexes(before))
	require.Empty(t, before.NewIndexes(after))
	_, ok := after.Position("meta")
	require.False(t, ok)
}

func TestAlterIndex(t *testing.T) {
	c, old := create(t, new(catalog.Catalog), item)
	require.Nil(t, old.TTL())
	_, _, ok := old.Cutoff(5)
	require.False(t, ok)
	c, before, after, err := change(t, c, `alter collection item alter at @ttl(90m)`)
	require.NoError(t, err)
	require.Empty(t, after.NewIndexes(before), "the entries are the same")
	require.Equal(t, &catalog.Index{Kind: catalog.TTL, Space: old.Fields[2].Index.Space, Field: 2, Period: 90 * time.Minute}, after.TTL())
	field, cutoff, ok := after.Cutoff(1e12)
	require.True(t, ok)
	require.Equal(t, 2, field)
	require.EqualValues(t, 1e12-90*60*1000, cutoff)
	_, cutoff, _ = after.Cutoff(-1 << 63)
	require.EqualValues(t, -1<<63, cutoff)

	_, after = changes(t, c, `alter collection item alter at @ttl(1d)`, `alter collection item alter at @sorted`)
	require.Nil(t, after.TTL())
	require.Equal(t, old.Fields[2].Index, after.Fields[2].Index)
}

func TestCreateIndex(t *testing.T) {
	c, _ := create(t, new(catalog.Catalog), item)
	c, _ = create(t, c, `create collection other (x int @hash)`)
	c, after := changes(t, c, `create index on item (name) @sorted`, `create index on item (meta.kind) @hash`,
		`create index on item (meta) @unique`, `create index on item (meta.kind.deep) @sorted`)
	kind := after.PathIndex(3, []string{"kind"})
	require.Equal(t, &catalog.Index{Kind: catalog.Hash, Space: 8, Field: 3, Keys: []string{"kind"}}, kind)
	require.Nil(t, after.PathIndex(3, []string{"nope"}))
	require.Nil(t, after.PathIndex(3, nil))
	require.Equal(t, []uint32{1, 2, 3, 4, 9, 7, 8, 10}, after.Spaces())
	require.Equal(t, []string{"sku", "price", "at", "meta", "name", "meta.kind", "meta.kind.deep"}, names(after))
	require.Equal(t, "item", c.Collections()[0].Name, "it keeps its turn")
}

func names(c *catalog.Collection) (list []string) {
	for _, x := range c.Indexes() {
		list = append(list, c.PathName(x))
	}
	return list
}

func TestChangeRefused(t *testing.T) {
	c, _ := create(t, new(catalog.Catalog), item)
	c, _ = create(t, c, `create collection one (a int, gone int)`)
	c, _ = create(t, c, `create collection log (at timestamp @ttl(1d), b timestamp @sorted)`)
	c, _ = changes(t, c, `alter collection one drop gone`, `create index on item (meta.kind) @hash`)
	for text, want := range map[string]fault.Kind{
		`alter collection nope add a int`:                  fault.NotFound,
		`alter collection item add price int`:              fault.Exists,
		`alter collection item add id int`:                 fault.Query,
		`alter collection item add x int required`:         fault.Query,
		`alter collection item add x [json]`:               fault.Type,
		`alter collection item add x bool @sorted`:         fault.Type,
		`alter collection item add x text @hnsw`:           fault.Type,
		`alter collection item drop nope`:                  fault.NotFound,
		`alter collection item drop id`:                    fault.NotFound,
		`alter collection one drop gone`:                   fault.NotFound,
		`alter collection one drop a`:                      fault.Query,
		`alter collection item rename price to sku`:        fault.Exists,
		`alter collection item rename price to price`:      fault.Exists,
		`alter collection item rename price to id`:         fault.Query,
		`alter collection item rename id to x`:             fault.Query,
		`alter collection item rename nope to x`:           fault.NotFound,
		`alter collection item alter sku @sorted`:          fault.Query,
		`alter collection item alter meta @sorted`:         fault.Query,
		`alter collection item alter nope @sorted`:         fault.NotFound,
		`alter collection item alter price @ttl(1d)`:       fault.Type,
		`alter collection item alter at @ttl(0d)`:          fault.Query,
		`alter collection log alter b @ttl(1d)`:            fault.Query,
		`alter collection log add c timestamp @ttl(1d)`:    fault.Query,
		`create index on nope (a) @hash`:                   fault.NotFound,
		`create index on item (nope) @hash`:                fault.NotFound,
		`create index on item (nope.x) @hash`:              fault.NotFound,
		`create index on item (id) @hash`:                  fault.NotFound,
		`create index on item (price) @hash`:               fault.Exists,
		`create index if not exists on item (price) @hash`: fault.Exists,
		`create index on item (meta.kind) @unique`:         fault.Exists,
		`create index on item (name.x) @hash`:              fault.Type,
		`create index on item (meta) @sorted`:              fault.Type,
		`create index on item (meta.x) @geo`:               fault.Query,
		`create index on item (meta.x) @ttl(1d)`:           fault.Query,
		`create index on item (meta.x) @text`:              fault.Query,
		`create index on item (meta.x) @hnsw`:              fault.Query,
		`create index on item (name) @text(b=200)`:         fault.Query,
		`create index on item (name) @inverted`:            fault.Type,
		`create index on item (sku) @text`:                 fault.Exists,
	} {
		out, _, after, err := change(t, c, text)
		require.Error(t, err, text)
		require.Equal(t, want, fault.KindOf(err), "%s: %v", text, err)
		require.Nil(t, out, text)
		require.Nil(t, after, text)
	}
}

// A message names the field once.
func TestMessagesOfIndexes(t *testing.T) {
	c, _ := create(t, new(catalog.Catalog), item)
	c, _ = changes(t, c, `create index on item (meta.kind) @hash`)
	for text, want := range map[string]string{
		`create index on item (price) @hash`:       `already exists: field "price" has an index already`,
		`create index on item (meta.kind) @unique`: `already exists: field "meta.kind" has an index already`,
		`create index on item (meta) @sorted`:      `type error: field "meta": @sorted is for int, float, timestamp and text, not for json`,
		`create index on item (meta.x) @geo`:       `query error: field "meta": @geo cannot be put on a path`,
	} {
		_, _, _, err := change(t, c, text)
		require.EqualError(t, err, want, text)
	}
}

func TestReplace(t *testing.T) {
	c, _ := create(t, new(catalog.Catalog), item)
	c, _ = create(t, c, `create collection other (x int @hash)`)
	replica, err := catalog.Load(c.Next(), c.Collections())
	require.NoError(t, err)
	for _, text := range []string{
		`alter collection item add size int @hash`, `alter collection item drop price`, `create index on item (meta.kind) @unique`,
		`alter collection item rename meta to more`, `alter collection item alter at @ttl(1d)`, `alter collection item drop more`,
	} {
		var before, after, was *catalog.Collection
		c, before, after, err = change(t, c, text)
		require.NoError(t, err)
		replica, was, err = replica.Replace(after)
		require.NoError(t, err, text)
		require.Same(t, before, was)
		require.Equal(t, c, replica, text)
	}
}

// A definition that no alteration leads to is damage.
func TestReplaceRefused(t *testing.T) {
	c0, _ := create(t, new(catalog.Catalog), item)
	c0, other := create(t, c0, `create collection other (x int @hash)`)
	c, _ := changes(t, c0, `create index on item (meta.kind) @hash`, `alter collection item drop price`)
	_, stranger := create(t, c, `create collection new (x int)`)
	decl := func(text string) *catalog.Collection { _, col := create(t, new(catalog.Catalog), text); return col }
	for name, bad := range map[string]*catalog.Collection{
		"an unknown number":        stranger,
		"another name":             decl(`create collection items (sku text @unique, price int @sorted, at timestamp @sorted, meta json, name text collate tr)`),
		"a field less":             decl(`create collection item (sku text @unique, price int @sorted, at timestamp @sorted, meta json)`),
		"another type":             decl(`create collection item (sku text @unique, price int @sorted, at timestamp @sorted, meta json, name bytes)`),
		"another collation":        decl(`create collection item (sku text @unique, price int @sorted, at timestamp @sorted, meta json, name text)`),
		"required":                 decl(`create collection item (sku text @unique, price int @sorted, at timestamp @sorted, meta json required, name text collate tr)`),
		"another kind":             decl(`create collection item (sku text @hash, price int @sorted, at timestamp @sorted, meta json, name text collate tr)`),
		"another field":            decl(`create collection item (sku text, price int @sorted, at timestamp @sorted, meta json, name text collate tr @hash)`),
		"a new index without turn": decl(`create collection item (sku text @unique, price int @sorted, at timestamp @sorted, meta json, name text collate tr @hash)`),
	} {
		_, _, err := c0.Replace(bad)
		require.ErrorIs(t, err, catalog.ErrCorrupt, name)
	}
	_, _, err := c.Replace(decl(item))
	require.ErrorIs(t, err, catalog.ErrCorrupt, "a field that was dropped")
	_, _, err = c0.Replace(other)
	require.NoError(t, err)
}
