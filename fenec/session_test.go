package fenec_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// memos is a database that two people share.
func memos(t testing.TB) *fenec.DB {
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, text := range []string{
		`create collection memo (owner text required @hash, slug text @unique, text text, stars int, j json)`,
		`create collection reply (memo int @hash, owner text, text text)`,
		`create collection secret (n int)`,
		`put memo [{owner: "ada", slug: "a", stars: 1}, {owner: "bob", slug: "b", stars: 2}, {owner: "ada", slug: "c", stars: 3}]`,
		`put reply [{memo: 1, owner: "bob"}, {memo: 1, owner: "ada"}, {memo: 2, owner: "ada"}]`,
		`put secret {n: 42}`,
	} {
		_, err := db.Exec(context.Background(), text)
		require.NoError(t, err, text)
	}
	return db
}

func session(t testing.TB, db *fenec.DB, a fenec.Access, values ...any) *fenec.Session {
	p, err := fenec.NewPolicy(a)
	require.NoError(t, err)
	s, err := db.Session(p, values...)
	require.NoError(t, err)
	return s
}

// own grants everything with the rows of the session's owner.
func own() fenec.Access {
	const mine = "owner = $1"
	return fenec.Access{Collections: map[string]fenec.Grants{
		"memo": {
			Read: mine, Insert: mine, Delete: mine, Update: []fenec.Update{{Rows: mine}},
			Fill: map[string]string{"owner": "$1"},
		},
		"reply": {Read: mine},
	}}
}

// querier is a DB, a Session or a Snapshot.
type querier interface {
	Query(ctx context.Context, text string, args ...any) (*fenec.Result, error)
}

// told returns the answer to a statement: JSON, or the kind of the error.
func told(t testing.TB, db querier, text string, args ...any) string {
	res, err := db.Query(context.Background(), text, args...)
	if err != nil {
		for _, kind := range []error{
			fenec.ErrQuery, fenec.ErrType, fenec.ErrNotFound, fenec.ErrExists, fenec.ErrDuplicate,
			fenec.ErrUnmet, fenec.ErrReadOnly, fenec.ErrDenied, fenec.ErrOverLimit, fenec.ErrPlugin,
		} {
			if errors.Is(err, kind) {
				return strings.TrimSuffix(kind.Error(), ": ")
			}
		}
		require.NoError(t, err, text)
	}
	b, err := res.AppendJSON(nil)
	require.NoError(t, err)
	return string(b)
}

// TestSessionReads asks for rows of others in every place that reads.
func TestSessionReads(t *testing.T) {
	db := memos(t)
	ada := session(t, db, own(), "ada")
	for text, want := range map[string]string{
		`get id from memo`:                                          `[{"id":1},{"id":3}]`,
		`get id from memo where id = 2`:                             `[]`,
		`get id from memo where owner = "bob" or true`:              `[{"id":1},{"id":3}]`,
		`get id from memo where slug = "b"`:                         `[]`,
		`get id from memo order stars desc limit 1`:                 `[{"id":3}]`,
		`get memo count`:                                            `[{"count":2}]`,
		`get sum(stars) as s from memo`:                             `[{"s":4}]`,
		`get owner, count(*) as n from memo group owner`:            `[{"owner":"ada","n":2}]`,
		`get id from memo where stars / (stars - 2) > 0`:            `[{"id":3}]`,
		`get id from memo where id in (get memo from reply)`:        `[{"id":1}]`,
		`get id from memo where id in (get id from secret)`:         `not found`,
		`get id from memo lookup reply on memo select id`:           `[{"id":1,"reply":[{"id":2}]},{"id":3,"reply":[]}]`,
		`get id from reply lookup memo on id = memo select id`:      `[{"id":2,"memo":[{"id":1}]},{"id":3,"memo":[]}]`,
		`get id from memo lookup reply on memo required`:            `[{"id":1,"reply":[{"id":2,"memo":1,"owner":"ada","text":null}]}]`,
		`get id from memo limit 0 facet owner`:                      `{"rows":[],"facets":{"owner":[{"value":"ada","count":2}]}}`,
		`get id from memo where owner = $1 facet owner disjunctive`: `{"rows":[],"facets":{"owner":[{"value":"ada","count":2}]}}`,
		`get id from memo require 2`:                                `[{"id":1},{"id":3}]`,
		`get secret`:                                                `not found`,
		`get nope`:                                                  `not found`,
		`describe secret`:                                           `not found`,
		`put secret {n: 1}`:                                         `not found`,
		`put reply {memo: 1}`:                                       `denied`,
		`set reply {memo: 1}`:                                       `denied`,
		`del reply`:                                                 `denied`,
		`create collection x (a int)`:                               `denied`,
		`drop collection memo`:                                      `denied`,
		`alter collection memo add x int`:                           `denied`,
		`create index on memo (stars) @sorted`:                      `denied`,
		`compact`:                                                   `denied`,
	} {
		require.Equal(t, want, told(t, ada, text, "bob"), text)
	}
	for text, rows := range map[string]int{`explain get memo where slug = "b"`: 0, `explain get memo where slug = "a"`: 1} {
		require.Equal(t, fmt.Sprintf(`[{"plan":"filter: not told, as rows may be hidden"},`+
			`{"plan":"order: not told, as rows may be hidden"},{"plan":"rows: %d"}]`, rows), told(t, ada, text))
	}
	require.Equal(t, []string{"memo", "reply"}, ada.Collections())
	res, err := ada.Query(context.Background(), `collections`)
	require.NoError(t, err)
	b, err := res.AppendJSON(nil)
	require.NoError(t, err)
	require.NotContains(t, string(b), "secret")
	require.NoError(t, ada.View(context.Background(), func(sn *fenec.Snapshot) error {
		require.Equal(t, `[{"count":2}]`, told(t, sn, `get memo count`))
		require.Equal(t, `read only`, told(t, sn, `del memo`))
		return nil
	}))
}

// TestSessionHidesInErrors requires a hidden collection to fail as one does that
// is not there.
func TestSessionHidesInErrors(t *testing.T) {
	db := memos(t)
	ada := session(t, db, own(), "ada")
	for _, text := range []string{`get %s`, `put %s {n: 1}`, `set %s {n: 1}`, `del %s`, `describe %s`, `explain get %s`} {
		_, hidden := ada.Query(context.Background(), fmt.Sprintf(text, "secret"))
		_, missing := ada.Query(context.Background(), fmt.Sprintf(text, "absent"))
		require.Equal(t, missing.Error(), strings.ReplaceAll(hidden.Error(), "secret", "absent"), text)
	}
}

// TestSessionWrites writes, each time in a fresh database. After a statement
// comes what everything then holds.
func TestSessionWrites(t *testing.T) {
	const rest = `[1 ada a 1] [2 bob b 2] [3 ada c 3]`
	for _, c := range []struct{ text, want, after string }{
		{`put memo {slug: "d", stars: 4}`, `{"affected":1}`, rest + ` [4 ada d 4]`},
		{`put memo {owner: "ada", slug: "d"}`, `{"affected":1}`, rest + ` [4 ada d <nil>]`},
		{`put memo {owner: "bob", slug: "d"}`, `denied`, rest},
		{`put memo {owner: null, slug: "d"}`, `denied`, rest},
		{`put memo [{slug: "d"}, {owner: "bob"}]`, `denied`, rest},
		{`put memo {id: 9}`, `denied`, rest},
		{`put memo {id: 1}`, `denied`, rest},
		{`put memo $1`, `{"affected":2}`, rest + ` [4 ada x <nil>] [5 ada y <nil>]`},
		{`put memo $2`, `denied`, rest},
		{`put memo {slug: "b"}`, `duplicate`, rest},
		{`put memo {slug: "b"} if absent`, `{"affected":0}`, rest},
		{`put memo {slug: "a", stars: 5} if absent else set {stars: stars + new.stars}`, `{"affected":1}`, `[1 ada a 6] [2 bob b 2] [3 ada c 3]`},
		{`put memo {slug: "b", stars: 5} if absent else set {stars: 0}`, `denied`, rest},
		{`put memo {slug: "b", stars: 5} if absent else set {stars: 1 / (stars - 2)}`, `denied`, rest},
		{`put memo {slug: "b", stars: 5} if absent else set {owner: "ada"}`, `denied`, rest},
		{`put memo {slug: "a"} if absent else set {owner: "bob"}`, `denied`, rest},
		{`set memo {stars: 0}`, `{"affected":2}`, `[1 ada a 0] [2 bob b 2] [3 ada c 0]`},
		{`set memo {stars: 0} where id = 2`, `{"affected":0}`, rest},
		{`set memo {stars: 1 / (stars - 2)}`, `{"affected":2}`, `[1 ada a -1] [2 bob b 2] [3 ada c 1]`},
		{`set memo {owner: "bob"} where id = 1`, `denied`, rest},
		{`set memo {slug: "b"} where id = 1`, `duplicate`, rest},
		{`set memo {stars: 9} where id < 3 returning id`, `[{"id":1}]`, `[1 ada a 9] [2 bob b 2] [3 ada c 3]`},
		{`set memo {stars: 9} require 3`, `unmet`, rest},
		{`del memo returning id, owner`, `[{"id":1,"owner":"ada"},{"id":3,"owner":"ada"}]`, `[2 bob b 2]`},
		{`del memo require 2`, `{"affected":2}`, `[2 bob b 2]`},
		{`del memo where id = 2`, `{"affected":0}`, rest},
	} {
		db := memos(t)
		ada := session(t, db, own(), "ada")
		mine := []map[string]any{{"slug": "x"}, {"slug": "y"}}
		theirs := []map[string]any{{"slug": "x"}, {"owner": "bob"}}
		require.Equal(t, c.want, told(t, ada, c.text, mine, theirs), c.text)
		res, err := db.Query(context.Background(), `get owner, slug, stars, id from memo`)
		require.NoError(t, err)
		var rows []string
		for row := range res.All() {
			var owner, slug, stars, id any
			require.NoError(t, row.Scan(&owner, &slug, &stars, &id))
			rows = append(rows, fmt.Sprint([]any{id, owner, slug, stars}))
		}
		require.Equal(t, c.after, strings.Join(rows, " "), c.text)
	}
}

// TestSessionDuplicate requires a clash with a hidden row to tell the field only.
func TestSessionDuplicate(t *testing.T) {
	db := memos(t)
	ada := session(t, db, own(), "ada")
	for _, text := range []string{`put memo {slug: "b"}`, `set memo {slug: "b"} where id = 1`, `put memo {slug: "a"} if absent else set {slug: "b"}`} {
		_, err := ada.Exec(context.Background(), text)
		require.EqualError(t, err, "duplicate: memo.slug: the value is taken", text)
	}
}

// TestSessionFields lets fields be changed by the rule that admits the row.
func TestSessionFields(t *testing.T) {
	access := fenec.Access{Collections: map[string]fenec.Grants{"memo": {
		Read: fenec.EveryRow, Insert: fenec.EveryRow, NamedID: true,
		Update: []fenec.Update{
			{Rows: "owner = $1"},
			{Rows: fenec.EveryRow, Fields: []string{"stars"}},
			{Rows: "stars >= 3", Fields: []string{"text", "j"}},
		},
	}}}
	for text, want := range map[string]string{
		`set memo {stars: 9}`:                                                              `{"affected":3}`,
		`set memo {text: "x"} where id = 2`:                                                `denied`,
		`set memo {text: "x"} where id = 1`:                                                `{"affected":1}`,
		`set memo {owner: "bob"} where id = 1`:                                             `denied`,
		`set memo {slug: "b", stars: 5} where id = 2`:                                      `{"affected":1}`,
		`set memo {j.a: 1} where id = 3`:                                                   `{"affected":1}`,
		`set memo {j.a: 1, stars: 4} where id = 3`:                                         `{"affected":1}`,
		`put memo {id: 2, owner: "bob", slug: "b", stars: 7}`:                              `{"affected":1}`,
		`put memo {id: 2, owner: "bob", slug: "b", text: "x"}`:                             `denied`,
		`put memo {id: 9, owner: "bob"}`:                                                   `{"affected":1}`,
		`put memo {slug: "b", owner: "x", stars: 5} if absent else set {stars: new.stars}`: `{"affected":1}`,
		`put memo {slug: "b", owner: "x"} if absent else set {text: "x"}`:                  `denied`,
		`del memo`: `denied`,
	} {
		ada := session(t, memos(t), access, "ada")
		require.Equal(t, want, told(t, ada, text), text)
	}
	ada := session(t, memos(t), access, "ada")
	_, err := ada.Exec(context.Background(), `set memo {text: "x"} where id = 2`)
	require.ErrorContains(t, err, `field "text" of collection "memo"`)
}

// TestSessionAppendOnly grants to read and to add, and nothing else.
func TestSessionAppendOnly(t *testing.T) {
	access := fenec.Access{Collections: map[string]fenec.Grants{
		"memo": {Read: fenec.EveryRow, Insert: fenec.EveryRow, NamedID: true},
	}}
	for text, want := range map[string]string{
		`put memo {owner: "x"}`:                                          `{"affected":1}`,
		`put memo {id: 9, owner: "x"}`:                                   `{"affected":1}`,
		`put memo {id: 1, owner: "x"}`:                                   `denied`,
		`put memo {id: 1, owner: "x"} if absent`:                         `{"affected":0}`,
		`put memo {slug: "a", owner: "x"} if absent else set {stars: 1}`: `denied`,
		`set memo {stars: 1}`:                                            `denied`,
		`del memo`:                                                       `denied`,
	} {
		require.Equal(t, want, told(t, session(t, memos(t), access), text), text)
	}
}

// TestSessionBlind inserts and sets without being able to read.
func TestSessionBlind(t *testing.T) {
	blind := session(t, memos(t), fenec.Access{Collections: map[string]fenec.Grants{
		"memo": {Insert: fenec.EveryRow, Update: []fenec.Update{{Rows: "stars < 3"}}, Delete: fenec.EveryRow},
	}})
	for _, c := range []struct{ text, want string }{
		{`get memo`, `denied`},
		{`get memo count`, `denied`},
		{`describe memo`, `not found`},
		{`set memo {stars: 1}`, `denied`},
		{`del memo`, `denied`},
		{`put memo {owner: "x"}`, `{"affected":1}`},
		{`put memo {owner: "x", slug: "a"} if absent else set {stars: 2}`, `{"affected":1}`},
		{`put memo {owner: "x", slug: "c"} if absent else set {stars: 2}`, `denied`},
		{`put memo {owner: "x", slug: "a"} if absent else set {stars: 3}`, `denied`},
	} {
		require.Equal(t, c.want, told(t, blind, c.text), c.text)
	}
	require.Empty(t, blind.Collections())
}

// TestSessionReturning shows written rows only if they may still be read.
func TestSessionReturning(t *testing.T) {
	db := memos(t)
	s := session(t, db, fenec.Access{Collections: map[string]fenec.Grants{
		"memo": {Read: "stars < 3", Update: []fenec.Update{{Rows: fenec.EveryRow}}},
	}})
	require.Equal(t, `[{"id":1,"stars":2}]`, told(t, s, `set memo {stars: stars + 1} returning id, stars`))
	require.Equal(t, `[{"stars":2},{"stars":3},{"stars":3}]`, told(t, db, `get stars from memo`))
}

// TestSessionBatch judges every statement of a batch before the first is run.
func TestSessionBatch(t *testing.T) {
	ctx := context.Background()
	db := memos(t)
	ada := session(t, db, own(), "ada")
	results, err := ada.Batch(ctx, []fenec.Statement{{Text: `put memo {slug: "n"}`}, {Text: `get memo count`}})
	require.NoError(t, err)
	require.Equal(t, 1, results[0].Affected())
	require.True(t, results[1].Next())
	var n int
	require.NoError(t, results[1].Scan(&n))
	require.Equal(t, 3, n)
	var be *fenec.BatchError
	_, err = ada.Batch(ctx, []fenec.Statement{{Text: `put memo {slug: "o"}`}, {Text: `drop collection memo`}})
	require.ErrorAs(t, err, &be)
	require.Equal(t, 1, be.At)
	require.ErrorIs(t, err, fenec.ErrDenied)
	_, err = ada.Batch(ctx, []fenec.Statement{{Text: `put memo {slug: "o"}`}, {Text: `put memo {owner: "bob"}`}})
	require.ErrorIs(t, err, fenec.ErrDenied)
	require.Equal(t, `[{"count":4}]`, told(t, db, `get memo count`))
}

// TestSessionReadOnly refuses every write.
func TestSessionReadOnly(t *testing.T) {
	all := fenec.Grants{Read: fenec.EveryRow, Insert: fenec.EveryRow, Delete: fenec.EveryRow, Update: []fenec.Update{{Rows: fenec.EveryRow}}}
	s := session(t, memos(t), fenec.Access{Others: all, ReadOnly: true, Schema: true})
	for _, text := range []string{`put memo {owner: "x"}`, `set memo {stars: 1}`, `del memo`, `create collection c (a int)`, `compact`} {
		require.Equal(t, `read only`, told(t, s, text), text)
	}
	require.Equal(t, `[{"count":3}]`, told(t, s, `get memo count`))
	require.Equal(t, []string{"memo", "reply", "secret"}, s.Collections())
	schema := session(t, memos(t), fenec.Access{Others: all, Schema: true})
	require.Contains(t, told(t, schema, `create collection c (a int)`), `message`)
	require.Equal(t, `{"affected":1}`, told(t, schema, `put c {a: 1}`))
}

// TestSessionSchema changes collections with a grant only, and is not told what
// rows hold.
func TestSessionSchema(t *testing.T) {
	db := memos(t)
	s := session(t, db, fenec.Access{Schema: true, Collections: map[string]fenec.Grants{"memo": {Read: "owner = $1"}}}, "ada")
	for _, text := range []string{`drop collection secret`, `alter collection secret add m int`, `alter collection secret rename n to m`,
		`create index on secret (n) @hash`, `create index on secret (nope) @hash`, `create index if not exists on secret (n) @unique`, `compact secret`} {
		require.Equal(t, `not found`, told(t, s, text), text)
	}
	require.Contains(t, told(t, s, `drop collection if exists secret`), `there is no collection secret`)
	_, err := s.Exec(context.Background(), `create index on memo (j) @unique`)
	require.NoError(t, err)
	_, err = s.Exec(context.Background(), `alter collection memo drop j`)
	require.NoError(t, err)
	_, err = s.Exec(context.Background(), `alter collection memo add same int`)
	require.NoError(t, err)
	_, err = db.Exec(context.Background(), `set memo {same: 7} where owner = "bob" or id = 1`)
	require.NoError(t, err)
	_, err = s.Exec(context.Background(), `create index on memo (same) @unique`)
	require.ErrorIs(t, err, fenec.ErrDuplicate)
	require.Equal(t, `duplicate: memo.same: documents share a value`, err.Error())
}

// TestSessionElseSetUnread writes over a row that may not be read, and is not told
// what it holds.
func TestSessionElseSetUnread(t *testing.T) {
	s := session(t, memos(t), fenec.Access{Others: fenec.Grants{Insert: fenec.EveryRow, Update: []fenec.Update{{Rows: fenec.EveryRow}}}})
	for _, set := range []string{`stars: stars + 9223372036854775807`, `text: slug`, `stars: case when owner = "ada" then 1 / 0 else 1 end`, `stars: id`} {
		require.Equal(t, `denied`, told(t, s, `put memo {owner: "x", slug: "a"} if absent else set {`+set+`}`), set)
	}
	require.Equal(t, `{"affected":1}`, told(t, s, `put memo {owner: "x", slug: "a", stars: 7} if absent else set {stars: new.stars, j.k: 1}`))
}

// TestSessionNestedLookup meets the children of a guarded lookup in one order,
// however many of them are hidden.
func TestSessionNestedLookup(t *testing.T) {
	for _, hidden := range []int{0, 300} {
		db := memos(t)
		for _, text := range []string{`create collection c (p int @hash, owner text)`, `create collection g (c int @hash, n int, t text)`,
			`put c [{p: 2, owner: "ada"}, {p: 1, owner: "ada"}]`, `put g [{c: 1, n: 0}, {c: 2, n: 1, t: "x"}]`} {
			_, err := db.Exec(context.Background(), text)
			require.NoError(t, err)
		}
		for range hidden {
			_, err := db.Exec(context.Background(), `put c {p: 1, owner: "bob"}`)
			require.NoError(t, err)
		}
		s := session(t, db, fenec.Access{Collections: map[string]fenec.Grants{
			"memo": {Read: fenec.EveryRow}, "g": {Read: fenec.EveryRow}, "c": {Read: "owner = $1"},
		}}, "ada")
		text := `get memo where id < 3 lookup c on p lookup g on c required where case when n = 0 then 1 / n else timestamp(t) end = 1`
		require.Equal(t, `type error`, told(t, s, text), hidden)
	}
}

// TestSessionExpired shows expired rows to those who may see them only.
func TestSessionExpired(t *testing.T) {
	db := memos(t)
	for _, text := range []string{`create collection ses (owner text, seen timestamp @ttl(1h))`,
		`put ses [{owner: "ada", seen: now()}, {owner: "ada", seen: 0}, {owner: "bob", seen: 0}]`} {
		_, err := db.Exec(context.Background(), text)
		require.NoError(t, err)
	}
	grants := fenec.Grants{Read: fenec.EveryRow, Delete: fenec.EveryRow}
	s := session(t, db, fenec.Access{Others: grants}, "ada")
	require.Equal(t, `[{"id":1}]`, told(t, s, `get id from ses`))
	require.Equal(t, `denied`, told(t, s, `get id from ses where expired()`))
	require.Equal(t, `denied`, told(t, s, `del ses where expired()`))
	require.Equal(t, `denied`, told(t, s, `get id from memo where id in (get id from ses where expired())`))
	grants.Expired = "owner = $1"
	s = session(t, db, fenec.Access{Others: grants}, "ada")
	require.Equal(t, `[{"id":2}]`, told(t, s, `get id from ses where expired()`))
	require.Equal(t, `{"affected":1}`, told(t, s, `del ses where expired()`))
}

// TestSessionCheck sees what is about to be written, with the session's values.
func TestSessionCheck(t *testing.T) {
	ctx := context.Background()
	db := memos(t)
	access := own()
	var seen []string
	access.Check = func(values []any, c *fenec.RowChange) error {
		changed, err := c.Changed()
		if err != nil {
			return err
		}
		seen = append(seen, fmt.Sprint(values[0], " ", c.Collection, " ", c.ID, " ", c.Before != nil, " ", c.After != nil, " ", changed))
		if c.After == nil {
			stars, err := c.Before.Int("stars")
			if err != nil {
				return err
			}
			if stars > 2 {
				return fenec.Denied("a memo with %d stars stays", stars)
			}
		}
		return nil
	}
	ada := session(t, db, access, "ada")
	_, err := ada.Exec(ctx, `put memo {slug: "d", stars: 1}`)
	require.NoError(t, err)
	_, err = ada.Exec(ctx, `set memo {stars: stars, text: "x"} where id = 1`)
	require.NoError(t, err)
	_, err = ada.Exec(ctx, `del memo where id in [1, 3]`)
	require.ErrorIs(t, err, fenec.ErrDenied)
	require.EqualError(t, err, "denied: a memo with 3 stars stays")
	_, err = db.Exec(ctx, `del memo where id = 3`)
	require.NoError(t, err, "others are not checked")
	require.Equal(t, []string{
		"ada memo 4 false true [owner slug stars]",
		"ada memo 1 true true [text]",
		"ada memo 1 true false [owner slug text stars]",
		"ada memo 3 true false [owner slug stars]",
	}, seen)
	require.Equal(t, `[{"id":1},{"id":2},{"id":4}]`, told(t, db, `get id from memo`))
}

// TestPolicy refuses conditions that are none.
func TestPolicy(t *testing.T) {
	for _, cond := range []fenec.Rows{"owner =", "a in (get id from memo)", "expired()", "not expired()", "a = 1; b = 2"} {
		for i, g := range []fenec.Grants{{Read: cond}, {Expired: cond}, {Insert: cond}, {Delete: cond}, {Update: []fenec.Update{{Rows: cond}}},
			{Insert: fenec.EveryRow, Fill: map[string]string{"a": string(cond)}}} {
			_, err := fenec.NewPolicy(fenec.Access{Others: g})
			require.ErrorIs(t, err, fenec.ErrQuery, "%s, grant %d", cond, i)
			_, err = fenec.NewPolicy(fenec.Access{Collections: map[string]fenec.Grants{"memo": g}})
			require.ErrorIs(t, err, fenec.ErrQuery)
			require.ErrorContains(t, err, `collection "memo"`)
		}
	}
	db := memos(t)
	p, err := fenec.NewPolicy(fenec.Access{Others: fenec.Grants{Read: "owner = $2 and stars < $1"}})
	require.NoError(t, err)
	_, err = db.Session(p, 1)
	require.ErrorIs(t, err, fenec.ErrQuery)
	_, err = db.Session(p, 1, make(chan int))
	require.ErrorIs(t, err, fenec.ErrType)
	for stars, want := range map[int]string{1: `[]`, 2: `[{"id":1}]`, 9: `[{"id":1},{"id":3}]`} {
		s, err := db.Session(p, stars, "ada")
		require.NoError(t, err)
		require.Equal(t, want, told(t, s, `get id from memo`), "the same text in another session")
	}
	list := session(t, db, fenec.Access{Others: fenec.Grants{Read: "$1 has owner"}}, []string{"bob", "eve"})
	require.Equal(t, `[{"id":2}]`, told(t, list, `get id from memo`))
	zero := session(t, db, fenec.Access{})
	for _, text := range []string{`get memo`, `put memo {owner: "x"}`, `set memo {stars: 1}`, `del memo`} {
		require.Equal(t, `not found`, told(t, zero, text))
	}
	bad := session(t, db, fenec.Access{Others: fenec.Grants{Read: "nope = 1"}})
	require.Equal(t, `not found`, told(t, bad, `get memo`), "a condition that cannot be met hides everything")
	slow := session(t, db, fenec.Access{Others: fenec.Grants{Read: fenec.EveryRow, Insert: fenec.EveryRow, Fill: map[string]string{"nope": "1"}}})
	require.Equal(t, `not found`, told(t, slow, `put memo {owner: "x"}`))
}

// TestSessionStatementsAreShared compiles a text once for all sessions of a
// policy, and once more for another policy.
func TestSessionStatementsAreShared(t *testing.T) {
	db := memos(t)
	p, err := fenec.NewPolicy(own())
	require.NoError(t, err)
	for range 2 {
		for _, who := range []string{"ada", "bob", "eve"} {
			s, err := db.Session(p, who)
			require.NoError(t, err)
			want := map[string]string{"ada": `[{"id":1},{"id":3}]`, "bob": `[{"id":2}]`, "eve": `[]`}[who]
			require.Equal(t, want, told(t, s, `get id from memo`))
		}
	}
	require.Equal(t, 1, db.PolicyStatements())
	require.Equal(t, `[{"id":1},{"id":3}]`, told(t, session(t, db, own(), "ada"), `get id from memo`))
	require.Equal(t, 2, db.PolicyStatements())
	require.Equal(t, `[{"id":1},{"id":2},{"id":3}]`, told(t, db, `get id from memo`))
	require.True(t, slices.IsSorted(db.Collections()))
}
