package exec_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

const people = `create collection people (name text @unique, age int @sorted, note json, tags [text], born timestamp required)`

func openPeople(t testing.TB) *testDB {
	return openTest(t, people,
		`put people {name: "Ann", age: 30, note: {a: {b: 1}}, tags: ["x"], born: "1990-01-02"}`,
		`put people {name: "Bob", age: 20, born: 0}`,
		`put people {id: 7, name: "Cyd", note: [1, 2.5, null], born: null}`,
	)
}

func TestGetJSON(t *testing.T) {
	db := openPeople(t)
	require.Equal(t, `[{"id":1,"name":"Ann","age":30,"note":{"a":{"b":1}},"tags":["x"],"born":"1990-01-02T00:00:00Z"},`+
		`{"id":2,"name":"Bob","age":20,"note":null,"tags":null,"born":"1970-01-01T00:00:00Z"},`+
		`{"id":7,"name":"Cyd","age":null,"note":[1,2.5,null],"tags":null,"born":null}]`,
		db.must(`get people`).json(t))
	require.Equal(t, db.must(`get people`).json(t), db.must(`get * from people`).json(t))
	require.Equal(t, `[{"note.a":{"b":1},"id":1,"twice":60,"n":"Ann"}]`,
		db.must(`get note.a, id, age * 2 as twice, name as n from people limit 1`).json(t))
	require.Equal(t, `[{"id":1},{"id":2},{"id":7}]`, db.must(`get id from people order age desc`).json(t))
	require.Equal(t, `[{"name":"Ann"}]`, db.must(`get name, name from people limit 1`).json(t), "one member")
	require.Equal(t, `[]`, db.must(`get people limit 0`).json(t))
	require.Equal(t, `[{"count":3}]`, db.must(`get people count`).json(t))
}

func TestResult(t *testing.T) {
	db := openPeople(t)
	res := db.must(`get name, id, age + 0.5 as a, now() as now, note as n from people where id <= 2`).res
	require.Equal(t, []string{"name", "id", "a", "now", "n"}, res.Columns())
	require.Equal(t, 2, res.Len())
	var got []string
	for i := range res.Len() {
		for c := range res.Columns() {
			v, err := res.Value(i, c)
			require.NoError(t, err)
			got = append(got, v.Kind().String()+" "+v.String())
		}
	}
	require.Equal(t, []string{
		`text "Ann"`, `int 1`, `float 30.5`, `timestamp "2026-06-01T00:00:00Z"`, `object {"a":{"b":1}}`,
		`text "Bob"`, `int 2`, `float 20.5`, `timestamp "2026-06-01T00:00:00Z"`, `null null`,
	}, got)
	require.Equal(t, uint64(2), res.ID(1))

	whole := db.must(`get people where id = 1`).res
	require.Equal(t, []string{"id", "name", "age", "note", "tags", "born"}, whole.Columns())
	v, err := whole.Value(0, 1)
	require.NoError(t, err)
	require.Equal(t, "Ann", v.AsText())
}

// TestResultOutlivesRun reads a result after what it came from has changed.
func TestResultOutlivesRun(t *testing.T) {
	db := openPeople(t)
	var before []string
	var results []*exec.Result
	for _, text := range []string{
		`get people`, `get people order age`, `get people order name limit 2`, `get people where name = "Ann"`,
		`get name, upper(name) as u from people order tags`,
	} {
		out := db.must(text)
		before = append(before, out.json(t))
		results = append(results, out.res)
	}
	db.must(`set people {name: name + "!", note: null, tags: ["other"]}`)
	db.must(`del people`)
	for i, res := range results {
		require.Equal(t, before[i], outcome{res: res}.json(t))
	}
}

func TestGetRefused(t *testing.T) {
	db := openPeople(t)
	for text, want := range map[string]fault.Kind{
		`get nobody`:                                   fault.NotFound,
		`get nope from people`:                         fault.NotFound,
		`get nope.a from people`:                       fault.NotFound,
		`get nope + 1 as x from people where id = 99`:  fault.NotFound,
		`get people order nope`:                        fault.NotFound,
		`get people order age, nope.x`:                 fault.NotFound,
		`get people where nope = 1`:                    fault.NotFound,
		`get people order age.x`:                       fault.Type,
		`get age.x from people`:                        fault.Type,
		`get age * 2 from people`:                      fault.Query,
		`get 1 from people`:                            fault.Query,
		`get age as x, name as x from people`:          fault.Query,
		`get age, name as age from people`:             fault.Query,
		`get age + 1 as a, age + 1 as a from people`:   fault.Query,
		`get people select name count`:                 fault.Query,
		`get people select * count`:                    fault.Query,
		`get people order age count`:                   fault.Query,
		`get people limit 1 count`:                     fault.Query,
		`get people offset 1 count`:                    fault.Query,
		`get people where 1 / (age - 20) = 1 order id`: fault.Query,
		`get people where $1`:                          fault.Query,
		`get nosuch(age) as x from people`:             fault.Query,
		`explain get nobody`:                           fault.NotFound,
		`explain get people order nope`:                fault.NotFound,
	} {
		db.fails(want, text)
	}
	require.Empty(t, db.must(`get people where nope = 1 and id = 99`).ids(), "no row is evaluated")
	require.Empty(t, db.must(`get 1 / 0 as x from people limit 0`).ids())
}

func TestPut(t *testing.T) {
	db := openPeople(t)
	for text, want := range map[string]fault.Kind{
		`put people {name: "Dan"}`:                                   fault.Type, // born is required
		`put people {name: "Ann", born: null}`:                       fault.Duplicate,
		`insert people {id: 1, name: "Dan", born: null}`:             fault.Duplicate,
		`put people {id: 0, born: null}`:                             fault.Type,
		`put people {id: "1", born: null}`:                           fault.Type,
		`put people {age: "x", born: null}`:                          fault.Type,
		`put people {age: name, born: null}`:                         fault.Query,
		`put people {age.x: 1, born: null}`:                          fault.Type,
		`put people {id.x: 1, born: null}`:                           fault.Type,
		`put people {nope: 1, born: null}`:                           fault.NotFound,
		`put people {"note.a": 1, born: null}`:                       fault.NotFound,
		`put people {age: nosuch(), born: null}`:                     fault.Query,
		`put people {note: {a: 1}, note.a.b: 2, born: null}`:         fault.Type,
		`put people {born: null} {name: "Bob", born: null}`:          fault.Duplicate,
		`put people {id: 9223372036854775807, born: null} {born: 0}`: fault.Query,
		`put people $1`: fault.Query,
	} {
		db.fails(want, text)
	}
	require.Equal(t, 3, db.must(`get people`).res.Len(), "failed statements leave nothing")

	require.Equal(t, 1, db.must(`put people {name: "x", name: "Eve", note.a: 1, note.b.c: $1, note.a: 2, born: null}`, []any{1}).affected)
	require.Equal(t, `[{"name":"Eve","note":{"a":2,"b":{"c":[1]}}}]`, db.must(`get name, note from people where id = 8`).json(t))
	db.must(`put people {id: 8, born: "2000-01-01"}`)
	require.Equal(t, `[{"id":8,"name":null,"age":null,"note":null,"tags":null,"born":"2000-01-01T00:00:00Z"}]`,
		db.must(`get people where id = 8`).json(t), "the whole document is replaced")
}

func TestPutParameter(t *testing.T) {
	db := openPeople(t)
	require.Equal(t, 1, db.must(`put people $1`, map[string]any{
		"name": "Dan", "born": "2001-02-03", "note": map[string]any{"a": 1}, "note.b": 2.5, "tags": []string{"p", "q"},
	}).affected)
	require.Equal(t, `[{"name":"Dan","note":{"a":1,"b":2.5},"tags":["p","q"]}]`,
		db.must(`get name, note, tags from people where id = 8`).json(t))
	require.Equal(t, 2, db.must(`put people $1`, []any{map[string]any{"born": nil}, map[string]any{"id": 20, "born": nil}}).affected)
	require.Equal(t, []uint64{9, 20}, db.must(`get people where id > 8`).ids())
	require.Equal(t, 0, db.must(`put people $1`, []any{}).affected)
	for _, bad := range []any{5, "x", nil, []any{5}, []any{map[string]any{"born": nil}, "x"}, map[string]any{"born": "x"}} {
		db.fails(fault.Type, `put people $1`, bad)
	}
	db.fails(fault.NotFound, `put people $1`, map[string]any{"nope": 1, "born": nil})
	db.fails(fault.NotFound, `put people $1`, map[string]any{"nope.x": 1, "born": nil})
	db.fails(fault.Type, `put people $1`, map[string]any{"age.x": 1, "born": nil})
	db.fails(fault.Type, `put people $1`, map[string]any{"name": "Fay"})
	require.Equal(t, 6, db.must(`get people`).res.Len())
}

func TestSet(t *testing.T) {
	db := openPeople(t)
	require.Equal(t, 2, db.must(`set people {age: age + 1, note.seen: age} where age > 0`).affected)
	require.Equal(t, `[{"age":31,"note":{"a":{"b":1},"seen":30}},{"age":21,"note":{"seen":20}},{"age":null,"note":[1,2.5,null]}]`,
		db.must(`get age, note from people`).json(t), "right sides read the row as it was")
	require.Equal(t, 1, db.must(`set people {born: null} order age limit 1`).affected)
	require.Equal(t, `[{"id":7}]`, db.must(`get id from people where born is null`).json(t))
	require.Equal(t, 3, db.must(`set people {tags: ["same"]} order age desc`).affected)
	for text, want := range map[string]fault.Kind{
		`set people {id: 9}`:             fault.NotFound,
		`set people {nope: 9}`:           fault.NotFound,
		`set people {nope.x: 9}`:         fault.NotFound,
		`set people {age: nope}`:         fault.NotFound,
		`set people {age.x: 9}`:          fault.Type,
		`set people {age: "x"}`:          fault.Type,
		`set people {note.x: 9}`:         fault.Type, // Cyd's note is a list
		`set people {name: "Ann"}`:       fault.Duplicate,
		`set people {age: 1} order nope`: fault.NotFound,
		`set people {age: nosuch()}`:     fault.Query,
		`set nobody {age: 1}`:            fault.NotFound,
	} {
		db.fails(want, text)
	}
	for _, text := range []string{
		`set people {nope: 9} where id = 99`, `set people {id: 9} where id = 99`, `set people {age: age / 0} where id = 99`,
		`set people {age: nope} limit 0`,
	} {
		require.Zero(t, db.must(text).affected, text)
	}
}

// TestSetMeetsEachRowOnce changes what rows are found by.
func TestSetMeetsEachRowOnce(t *testing.T) {
	db := openTest(t, `create collection c (n int @sorted, h text @hash)`)
	var docs strings.Builder
	for i := range 500 {
		fmt.Fprintf(&docs, "{n: %d, h: \"a\"}", i)
	}
	db.must("put c " + docs.String())
	require.Equal(t, 500, db.must(`set c {n: n + 1000} where n >= 0`).affected)
	require.Equal(t, 20, db.must(`set c {n: n + 1000} where n >= 0 order n limit 20`).affected)
	require.Equal(t, 500, db.must(`set c {h: "b"} where h = "a" or h = "b"`).affected)
	require.Equal(t, `[{"count":20}]`, db.must(`get c where n >= 2000 count`).json(t))
}

func TestDel(t *testing.T) {
	db := openPeople(t)
	require.Equal(t, 1, db.must(`del people order age desc limit 1`).affected)
	require.Equal(t, []uint64{2, 7}, db.must(`get people`).ids())
	require.Zero(t, db.must(`del people where name = "Ann"`).affected)
	require.Equal(t, 2, db.must(`del people`).affected)
	require.Equal(t, `[{"count":0}]`, db.must(`get people count`).json(t))
	db.must(`put people {name: "Ann", born: null}`)
	require.Equal(t, []uint64{8}, db.must(`get people`).ids(), "ids are not used again")
	db.fails(fault.NotFound, `del people where nope = 1`)
	db.fails(fault.NotFound, `del people order nope`)
	db.fails(fault.NotFound, `del nobody`)
}

func TestLongValues(t *testing.T) {
	db := openTest(t, `create collection c (a text, b bytes, j json, k [text], d text, e text, f text)`)
	most := strings.Repeat("x", expr.MaxText)
	db.must(`put c {a: $1}`, most)
	for _, text := range []string{`put c {a: $1}`, `put c {b: $1}`, `put c {j: $1}`, `put c {k: $2}`, `put c {j: $2}`} {
		err := db.fails(fault.Type, text, most+"x", []any{most})
		require.ErrorContains(t, err, "bytes", text)
	}
	db.fails(fault.Type, `put c {a: $1, b: $1, d: $1, e: $1, f: $1}`, most)
	db.fails(fault.Type, `set c {b: $1, d: $1, e: $1, f: $1}`, most)
	require.Equal(t, `[{"n":16777216}]`, db.must(`get len(a) as n from c`).json(t))
}

func TestExplain(t *testing.T) {
	db := openPeople(t)
	for text, want := range map[string][]string{
		`explain get people where id = 7`:                       {`filter: id 7; 1 row read, 1 kept in `, `order: by id, as they are read`, `rows: 1`},
		`explain get people where name = "Bob" order age`:       {`filter: index name @unique, 1 id; 1 row read, 1 kept in `, `order: by id, as they are read`, `rows: 1`},
		`explain get people where age > 25`:                     {`filter: index age @sorted, 1 id; 1 row read, 1 kept in `, `order: by id, as they are read`, `rows: 1`},
		`explain get people order age desc limit 1`:             {`filter: walk of index age @sorted; 1 row read, 1 kept in `, `order: age desc, as index age holds it`, `rows: 1`},
		`explain get people where born > 0 order name`:          {`filter: scan of all rows; 3 rows read, 1 kept in `, `order: name, sorted, 1 row held`, `rows: 1`},
		`explain get people where id >= 2 and name ~ "c"`:       {`filter: scan of ids from 2; 2 rows read, 1 kept in `, `order: by id, as they are read`, `rows: 1`},
		`explain get people where id = 2 or name = "Cyd"`:       {`filter: id and index name @unique, 2 ids; 2 rows read, 2 kept in `, `order: by id, as they are read`, `rows: 2`},
		`explain get people where age > null`:                   {`filter: no row is read, no row can pass; 0 rows read, 0 kept in `, `order: by id, as they are read`, `rows: 0`},
		`explain get people limit 0`:                            {`filter: no row is read, the limit is 0; 0 rows read, 0 kept in `, `order: by id, as they are read`, `rows: 0`},
		`explain get people count`:                              {`filter: no row is read, the number of rows is known; 0 rows read, 0 kept in `, `count: 3`},
		`explain get people where name in ["Bob", "Cyd"] count`: {`filter: count of the entries of index name @unique (2 ranges); 0 rows read, 0 kept in `, `count: 2`},
	} {
		res := db.must(text).res
		require.Equal(t, []string{"plan"}, res.Columns())
		require.Equal(t, len(want), res.Len(), text)
		for i := range want {
			v, err := res.Value(i, 0)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(v.AsText(), want[i]), "%s\nwant %s\ngot  %s", text, want[i], v)
		}
	}
}

func TestCanceled(t *testing.T) {
	db := openTest(t, `create collection c (n int @sorted, m int)`)
	var docs strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&docs, "{n: %d, m: %d}", i%10, i)
	}
	db.must("put c " + docs.String())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, text := range []string{
		`get c`, `get c where m = 1 count`, `get c order m`, `get c where n in [1, 2, 3] and m = -1`, `get c order n limit 3000`,
		`set c {m: 1}`, `del c`, `put c ` + docs.String(),
	} {
		_, err := db.exec(ctx, db.compile(text), exec.Env{Now: t0})
		require.ErrorIs(t, err, context.Canceled, text)
	}
	require.Equal(t, `[{"count":5000}]`, db.must(`get c count`).json(t))
}

func TestValid(t *testing.T) {
	db := openPeople(t)
	s := db.compile(`get people`)
	require.True(t, exec.Valid(s, db.cat))
	db.must(`create collection other (a int)`)
	require.True(t, exec.Valid(s, db.cat))
	db.must(`drop collection people`)
	require.False(t, exec.Valid(s, db.cat))
	db.must(people)
	require.False(t, exec.Valid(s, db.cat), "another collection of the same name")
}

func TestCompileRefused(t *testing.T) {
	db := openPeople(t)
	for _, text := range []string{`collections`, `describe people`, `compact`, `create collection c (a int)`, `drop collection people`} {
		tree, err := ql.Parse(text)
		require.NoError(t, err)
		_, err = exec.Compile(db.cat, tree, exec.Options{})
		require.Equal(t, fault.Query, fault.KindOf(err), text)
	}
}

// TestConcurrentRuns runs one compiled statement on many goroutines.
func TestConcurrentRuns(t *testing.T) {
	db := openPeople(t)
	q := db.compile(`get id, upper(name) + $1 as u from people where name in [$2, $2, $2, $2, $2, $2, $2, $3] and age > $4 - 1 order name`).(exec.Query)
	names := []string{"Ann", "Bob"}
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				name := names[(i+j)%2]
				env := exec.Env{Now: t0, Params: []value.Value{value.Text("!"), value.Text("zzz"), value.Text(name), value.Int(5)}}
				res, err := db.query(context.Background(), q, env)
				if err != nil {
					errs <- err
					return
				}
				b, err := res.AppendJSON(nil)
				if want := fmt.Sprintf(`[{"id":%d,"u":"%s!"}]`, 1+(i+j)%2, strings.ToUpper(name)); err != nil || string(b) != want {
					errs <- fmt.Errorf("want %s, got %s (%v)", want, b, err)
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	require.NoError(t, <-errs)
}
