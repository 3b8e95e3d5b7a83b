package exec_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

// script runs statements, the last of which comes to want: "n=2", JSON rows, or
// the kind of an error.
type script struct {
	texts []string
	want  string
}

func (db *testDB) check(s script) {
	db.t.Helper()
	last := len(s.texts) - 1
	for _, text := range s.texts[:last] {
		db.must(text)
	}
	out, err := db.run(s.texts[last])
	got := fmt.Sprintf("n=%d", out.affected)
	switch {
	case err != nil:
		got = fault.KindOf(err).String()
	case out.res != nil:
		got = out.json(db.t)
	}
	require.Equal(db.t, s.want, got, "%q: %v", s.texts, err)
}

// TestAbsent puts documents in whose keys may be taken.
func TestAbsent(t *testing.T) {
	for _, s := range []script{
		{[]string{`put kv {k: "a", n: 5} if absent`}, `n=0`},
		{[]string{`put kv [{k: "a"}, {k: "x"}, {k: "x"}, {n: 1}, {n: 2}] if absent`}, `n=3`},
		{[]string{`insert kv {id: 1, k: "z"} if absent`}, `n=0`},
		{[]string{`put kv {id: 9, k: "z"} if absent`, `get id from kv where k = "z"`}, `[{"id":9}]`},
		{[]string{`put kv {id: 9, k: "a"} if absent`, `get kv where id = 9 count`}, `[{"count":0}]`},
		{[]string{`put kv {j: {key: 7}} if absent`}, `n=0`},
		{[]string{`put kv {k: null, j.key: null} if absent`}, `n=1`},
		// What is refused is refused before anything is looked up.
		{[]string{`put kv {k: "a", n: "x"} if absent`}, `type error`},
		{[]string{`put kv {id: 0, k: "a"} if absent`}, `type error`},
		{[]string{`put must {k: "a"} if absent`}, `type error`},
		// The row in the way is changed.
		{[]string{`put kv {k: "a", n: 5} if absent else set {n: n + new.n}`, `get n from kv where k = "a"`}, `[{"n":6}]`},
		{[]string{`put kv {k: "a"} if absent else set {n: new.n}`, `get n from kv where id = 1`}, `[{"n":null}]`},
		{[]string{`put kv {k: "a", n: 3} if absent else set {n: n + 1}`}, `n=1`},
		{[]string{`put kv {k: "new", n: 3} if absent else set {n: n + 1}`, `get n from kv where k = "new"`}, `[{"n":3}]`},
		{[]string{`put kv [{k: "x", n: 1}, {k: "x", n: 2}, {k: "x", n: 4}] if absent else set {n: n + new.n}`, `get n from kv where k = "x"`}, `[{"n":7}]`},
		{[]string{`put kv {id: 1, n: 3} if absent else set {n: new.id}`, `get n from kv where id = 1`}, `[{"n":1}]`},
		{[]string{`put kv {k: "a"} if absent else set {n: coalesce(new.id, -1)}`, `get n from kv where id = 1`}, `[{"n":-1}]`},
		{[]string{`put kv {k: "a", j: {deep: {x: 4}}} if absent else set {n: new.j.deep.x, j.was: new.j.nope}`,
			`get n, j from kv where id = 1`}, `[{"n":4,"j":{"key":7,"was":null}}]`},
		{[]string{`put kv {k: "a", v: [1, 2]} if absent else set {v: new.v, n: len(new.v)}`, `get n, v from kv where id = 1`}, `[{"n":2,"v":[1,2]}]`},
		{[]string{`put kv {k: "a"} if absent else set {k: "b", n: 9}`}, `duplicate`},
		{[]string{`put kv {k: "a"} if absent else set {k: new.k}`}, `n=1`},
		{[]string{`put kv {k: "a"} if absent else set {id: 5}`}, `not found`},
		{[]string{`put kv {k: "a"} if absent else set {nope: 5}`}, `not found`},
		{[]string{`put kv {k: "free"} if absent else set {nope: 5}`}, `n=1`},
		{[]string{`put kv {k: "free"} if absent else set {n: new.nope}`}, `not found`},
		{[]string{`put kv {k: "a"} if absent else set {n: new.k.x}`}, `type error`},
		{[]string{`put kv {k: "a"} if absent else set {n: new.id.x}`}, `type error`},
		{[]string{`put kv {k: "a"} if absent else set {n: nope}`}, `not found`},
		{[]string{`put kv {k: "a"} if absent else set {n: "x"}`}, `type error`},
		{[]string{`put kv {k: new.k} if absent else set {n: 1}`}, `query error`},
		// The id comes before a unique value.
		{[]string{`put kv {id: 2, k: "a"} if absent else set {n: 99}`, `get id, n from kv order id`},
			`[{"id":1,"n":1},{"id":2,"n":99}]`},
		{[]string{`put named {k: "a"} if absent else set {new.x: new.k, n: 1}`, `get new from named`}, `[{"new":{"x":"a"}}]`},
		{[]string{`put kv {k: "a"} if absent require 1`}, `unmet`},
		{[]string{`put kv [{k: "a"}, {k: "y"}] if absent require 1`}, `n=1`},
		{[]string{`put kv [{k: "a"}, {k: "y"}] if absent else set {n: 0} require 2`}, `n=2`},
		{[]string{`put kv [{k: "a"}, {k: "y"}] require 2`}, `duplicate`},
		{[]string{`put kv {} require 0`}, `unmet`},
	} {
		db := openTest(t, `create collection kv (k text @unique, n int, j json, v vector<2>)`,
			`create index on kv (j.key) @unique`,
			`create collection must (k text @unique, n int required)`,
			`create collection named (k text @unique, new json, n int)`,
			`put kv [{k: "a", n: 1, j: {key: 7}}, {k: "b", n: 2}]`,
			`put must {k: "a", n: 1}`, `put named {k: "a"}`)
		db.check(s)
	}
}

// TestAbsentParameter puts documents of a parameter in.
func TestAbsentParameter(t *testing.T) {
	db := openTest(t, `create collection kv (k text @unique, n int)`, `put kv {k: "a", n: 1}`)
	list := []any{map[string]any{"k": "a", "n": 4}, map[string]any{"k": "b", "n": 5}, map[string]any{"k": "b", "n": 6}}
	require.Equal(t, 3, db.must(`put kv $1 if absent else set {n: n + new.n + $2}`, list, 10).affected)
	require.Equal(t, `[{"k":"a","n":15},{"k":"b","n":21}]`, db.must(`get k, n from kv order k`).json(t))
	require.Equal(t, 0, db.must(`put kv $1 if absent`, list).affected)
}

// TestExpiredMakesWay writes over rows that are expired, which are no longer
// in the way of anything.
func TestExpiredMakesWay(t *testing.T) {
	for _, s := range []script{
		{[]string{`put ses {who: "old"} if absent`, `get id, who from ses`}, `[{"id":1,"who":"live"},{"id":4,"who":"old"}]`},
		{[]string{`put ses {id: 2, who: "x"} if absent`}, `n=1`},
		{[]string{`put ses {who: "old"} if absent else set {who: "changed"}`, `get ses where who = "changed" count`}, `[{"count":0}]`},
		{[]string{`insert ses {id: 2, who: "old"}`}, `n=1`},
		{[]string{`set ses {who: "old"} where id = 1`, `get id from ses where expired()`}, `[{"id":3}]`},
		{[]string{`set ses {n: 1} where who = "old"`}, `n=0`},
		{[]string{`set ses {n: 1} where expired() returning id`}, `[{"id":2},{"id":3}]`},
		{[]string{`set ses {who: "mine"} where expired() limit 1`, `put ses {who: "mine"}`}, `n=1`},
		{[]string{`del ses where expired() returning who`}, `[{"who":"old"},{"who":"older"}]`},
		{[]string{`del ses`, `get ses where expired() count`}, `[{"count":2}]`},
		{[]string{`del ses require 1`}, `n=1`},
		// The first row takes a value that the second, expired like itself, has:
		// the second is gone when its turn comes.
		{[]string{`set ses {who: "older", seen: now()} where expired()`}, `n=1`},
		{[]string{`set ses {who: "older", seen: now()} where expired() returning id, who`}, `[{"id":2,"who":"older"}]`},
		{[]string{`set ses {who: "older", seen: now()} where expired() require 2`}, `unmet`},
	} {
		db := openTest(t, `create collection ses (who text @unique, seen timestamp @ttl(10m), n int)`,
			`put ses [{who: "live", seen: now()}, {who: "old", seen: now() - 600000}, {who: "older", seen: now() - 700000}]`)
		db.check(s)
	}
}

// TestReturning asks for the rows that were written.
func TestReturning(t *testing.T) {
	for _, s := range []script{
		{[]string{`set kv {n: n + 1} order n desc limit 2 returning id, n`}, `[{"id":3,"n":31},{"id":2,"n":21}]`},
		{[]string{`set kv {n: 0} where id = 2 returning *`}, `[{"id":2,"k":"b","n":0,"j":null}]`},
		{[]string{`set kv {j.x: n} where id = 1 returning j.x, j.y, j`}, `[{"j.x":10,"j.y":null,"j":{"x":10}}]`},
		{[]string{`set kv {n: 0} where id = 9 returning *`}, `[]`},
		{[]string{`set kv {n: 0} limit 0 returning id`}, `[]`},
		{[]string{`set kv {n: 0} where id = 9 returning nope`}, `not found`},
		{[]string{`set kv {n: 0} where id = 9 returning k.x`}, `[]`},
		{[]string{`set kv {n: 0} where id = 1 returning k.x`}, `type error`},
		{[]string{`set kv {n: 0} where id < 3 returning id require 2`}, `[{"id":1},{"id":2}]`},
		{[]string{`set kv {n: 0} where id < 3 returning id require 3`}, `unmet`},
		{[]string{`del kv where n > 10 order n desc returning *`}, `[{"id":3,"k":"c","n":30,"j":null},{"id":2,"k":"b","n":20,"j":null}]`},
		{[]string{`del kv where id = 1 returning k, id`}, `[{"k":"a","id":1}]`},
		{[]string{`del kv returning nope`}, `not found`},
		{[]string{`del kv where id = 9 returning nope`}, `not found`},
		{[]string{`del kv where id = 1 returning id`, `get kv count`}, `[{"count":2}]`},
		{[]string{`del kv require 2`}, `unmet`},
		{[]string{`del kv require 3`}, `n=3`},
		{[]string{`del kv where id = 7 require 0`}, `n=0`},
	} {
		db := openTest(t, `create collection kv (k text @unique, n int, j json)`,
			`put kv [{k: "a", n: 10}, {k: "b", n: 20}, {k: "c", n: 30}]`)
		db.check(s)
		if s.want == "unmet" || s.want == "not found" || s.want == "type error" {
			require.Equal(t, `[{"n":10},{"n":20},{"n":30}]`, db.must(`get n from kv`).json(t), "%q leaves nothing", s.texts)
		}
	}
}

// TestReturningManyRows returns more than a run keeps in one piece.
func TestReturningManyRows(t *testing.T) {
	db := openTest(t, `create collection c (n int, t text)`)
	docs := make([]any, 3000)
	for i := range docs {
		docs[i] = map[string]any{"n": i, "t": fmt.Sprint("text ", i)}
	}
	db.must(`put c $1 require 3000`, docs)
	out := db.must(`set c {n: n + 1} returning id, t, n`)
	require.Equal(t, 3000, out.affected)
	require.Equal(t, 3000, out.res.Len())
	for i := range 3000 {
		v, err := out.res.Value(i, 1)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint("text ", i), v.AsText())
		v, err = out.res.Value(i, 2)
		require.NoError(t, err)
		require.EqualValues(t, i+1, v.AsInt())
	}
	require.Equal(t, 3000, db.must(`del c returning t`).res.Len())
}
