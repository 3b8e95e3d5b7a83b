package fenec_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// sharedSchema is what sessions are compared in. No value is unique: a clash with
// a hidden row is an answer that no filter explains.
var sharedSchema = []string{
	`create collection a (owner text @hash, n int @sorted, open bool, tags [text], at timestamp @ttl(1h), j json)`,
	`create index on a (j.k) @hash`,
	`create collection b (a int @hash, owner text, n int)`,
}

// policyGen makes random policies, rows and statements.
type policyGen struct{ *rand.Rand }

func (g policyGen) of(list ...string) string { return list[g.IntN(len(list))] }

func (g policyGen) owner() string { return g.of(`"ada"`, `"bob"`, `"eve"`, `null`) }

// condition returns a filter over what both collections have, with the values
// of a session as $1 and $2.
func (g policyGen) condition(depth int) string {
	if depth > 0 && g.IntN(2) == 0 {
		return fmt.Sprintf("(%s %s %s)", g.condition(depth-1), g.of("and", "or"), g.condition(depth-1))
	}
	return g.of(`owner = $1`, `owner = $1`, `n > $2`, `not n < $2`, `owner in [$1, "bob"]`, `id > 3`, `id in [1, 2, $2, 9]`,
		`true`, `false`, `owner is null`, `n = $2`, `n / 2 * 2 = n`, `owner ~ "A"`, `coalesce(n, 0) < $2`)
}

// filter returns a filter of a statement on a.
func (g policyGen) filter() string {
	return g.of(`owner = "ada"`, `n > 4`, `n between`, `open`, `not open`, `tags has "x"`, `id = 4`, `id in [1, 2, 3, 8]`, `true`, `j.k = 1`,
		`n in (get n from b)`, `id in (get a from b where n > 2)`, `owner in (get owner from a where open)`,
		`owner = "ada" or n < 5`, `n is null`, `id > 5 and n < 8`, `expired()`, `not expired()`, `at < now()`, `100 / (n - 5) > 20`,
		`100 / (n - 5) > 20 and owner = "ada"`, `100 / (n - 5) > 20 and n > 3`, `owner = "bob" and j.k = 1 and 100 / (n - 5) > 20`,
		`100 / (n - 5) > 20 and j.k = 2 and owner = "ada"`, `100 / (n - 5) > 20 and owner = "ada" or id = 3`, `100 / (n - 5) > 20 and n = 6`,
		`owner = "ada" and n > 1 / 0`, `nope = 1 and owner = "ada"`, `j.k = 1 and (n = 5 or 100 / (n - 5) > 20)`)
}

// read returns a statement that reads.
func (g policyGen) read() string {
	text := g.of(`get a`, `get id, n from a`, `get id from a`, `get owner, n + 1 as m, j.k from a`, `get a select *`)
	tail := g.of(``, ` order n`, ` order owner, id desc limit 3`, ` limit 2 offset 1`, ` order n desc limit 2`, ` count`,
		` facet owner`, ` limit 1 facet owner, n ranges [0, 5, 10]`, ` lookup b on a`, ` lookup b on a where n > 2 order n limit 1`,
		` lookup b on a required`, ` lookup b on a lookup a on id = a`, ` require 2`)
	switch g.IntN(6) {
	case 0:
		text, tail = g.of(`get count(*), sum(n), max(owner) from a`, `get count(distinct owner), avg(n) from a`), ``
	case 1:
		text, tail = g.of(`get owner, count(*), sum(n) from a`, `get owner, first(id by n) from a`), ` group owner having count(*) > 0 order owner`
	case 2:
		text, tail = `get b`, g.of(``, ` count`, ` lookup a on id = a`, ` lookup a on id = a required`)
		return text + g.of(``, ` where n > 3`, ` where a in (get id from a)`) + tail
	case 3:
		return text + ` where owner = "ada" and ` + g.of(`n > 2`, `open`) + ` facet owner disjunctive`
	}
	if strings.HasPrefix(tail, " count") && text != `get a` {
		tail = ``
	}
	return text + g.where() + tail
}

func (g policyGen) where() string {
	if f := g.filter(); f != `n between` {
		return " where " + f
	}
	return ""
}

// write returns a statement that changes or deletes rows of a.
func (g policyGen) write() string {
	return g.of(`set a {n: n + 1}`, `set a {owner: "ada"}`, `set a {n: 100 / (n - 5)}`, `set a {j.k: n, tags: []}`, `del a`) + g.where() +
		g.of(``, ` order n desc limit 2`, ` limit 1`) + g.of(``, ` returning *`, ` returning id, n`, ` require 1`)
}

// row returns a random document of a collection.
func (g policyGen) row(collection string) string {
	n := g.of("null", fmt.Sprint(g.IntN(12)), fmt.Sprint(g.IntN(12)))
	if collection == "b" {
		return fmt.Sprintf(`{a: %d, owner: %s, n: %s}`, 1+g.IntN(12), g.owner(), n)
	}
	return fmt.Sprintf(`{owner: %s, n: %s, open: %v, tags: [%s], at: %s, j: {k: %d}}`, g.owner(), n, g.IntN(2) == 0, g.of(`"x"`, `"y"`, ``),
		g.of("null", "now()", "now() - 7200000"), g.IntN(3))
}

// shared opens a database and fills it with rows, by collection.
func shared(t *testing.T, rows map[string][]string) *fenec.DB {
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	db, err := fenec.OpenMemory(fenec.Options{SweepInterval: -1, Clock: func() time.Time { return noon }})
	require.NoError(t, err)
	for _, text := range sharedSchema {
		_, err := db.Exec(context.Background(), text)
		require.NoError(t, err)
	}
	for name, docs := range rows {
		for _, doc := range docs {
			_, err := db.Exec(context.Background(), "put "+name+" "+doc)
			require.NoError(t, err, doc)
		}
	}
	return db
}

// naive returns a copy of db with the rows that meet the conditions only.
func naive(t *testing.T, db *fenec.DB, conditions map[string]string, values ...any) *fenec.DB {
	out := shared(t, nil)
	for name, cond := range conditions {
		for _, expiry := range []string{"true", "expired()"} {
			if name == "b" && expiry != "true" {
				continue
			}
			res, err := db.Query(context.Background(), fmt.Sprintf("get %s where %s and (%s)", name, expiry, cond), values...)
			require.NoError(t, err)
			b, err := res.AppendJSON(nil)
			require.NoError(t, err)
			var docs []any
			require.NoError(t, json.Unmarshal(b, &docs))
			_, err = out.Exec(context.Background(), "put "+name+" $1", json.RawMessage(b))
			require.NoError(t, err)
		}
	}
	return out
}

// TestSessionsSeeNothingElse compares sessions under random policies with
// databases that hold nothing but the rows these admit: every statement
// gives the same answer, or the same kind of error.
func TestSessionsSeeNothingElse(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 60
	}
	for seed := range uint64(rounds) {
		g := policyGen{rand.New(rand.NewPCG(7, seed))}
		rows := map[string][]string{}
		most := 14
		if seed%8 == 0 {
			most = 600 // beyond what is read whatever it costs
		}
		for _, name := range []string{"a", "b"} {
			for range g.IntN(most) {
				rows[name] = append(rows[name], g.row(name))
			}
		}
		conditions := map[string]string{"a": g.condition(2), "b": g.condition(1)}
		values := []any{g.of("ada", "bob"), g.IntN(10)}
		access := fenec.Access{Collections: map[string]fenec.Grants{}}
		everything := fenec.Access{Collections: map[string]fenec.Grants{}}
		for name, cond := range conditions {
			access.Collections[name] = readable(fenec.Rows(cond))
			everything.Collections[name] = readable("id > 0") // imposed too, so that rows are tested in the same order
			if cond == "true" {
				everything.Collections[name] = readable(fenec.EveryRow)
			}
		}
		db := shared(t, rows)
		s := session(t, db, access, values...)
		alone := naive(t, db, conditions, values...)
		admitted := session(t, alone, everything)
		for range 25 {
			text := g.read()
			require.Equal(t, told(t, admitted, text), told(t, s, text), "seed %d: %v %v: %s", seed, conditions, values, text)
		}
		compareWrite(t, g, seed, db, s, admitted, conditions, values)
		require.NoError(t, db.Close())
		require.NoError(t, alone.Close())
	}
}

func readable(rows fenec.Rows) fenec.Grants {
	return fenec.Grants{Read: rows, Expired: fenec.EveryRow, Delete: fenec.EveryRow, Update: []fenec.Update{{Rows: fenec.EveryRow}}}
}

// compareWrite runs a statement that writes in a session and in the database
// that holds what the session may see.
func compareWrite(t *testing.T, g policyGen, seed uint64, db *fenec.DB, s, admitted *fenec.Session, conditions map[string]string, values []any) {
	text := g.write()
	hidden := fmt.Sprintf("get a where not (%s) or not (%s) and expired()", conditions["a"], conditions["a"])
	before := told(t, db, hidden, values...)
	got, want := told(t, s, text), told(t, admitted, text)
	if !strings.Contains(text, "returning") || strings.HasPrefix(text, "del") {
		require.Equal(t, want, got, "seed %d: %v %v: %s", seed, conditions, values, text)
	}
	// What could not be seen before is as it was, but rows may have moved out
	// of sight.
	for _, line := range strings.SplitAfter(strings.Trim(before, "[]"), "},") {
		line = strings.TrimSuffix(strings.TrimSuffix(line, ","), "\n")
		require.Contains(t, told(t, db, hidden, values...), line, "seed %d: %v %v: %s", seed, conditions, values, text)
	}
}
