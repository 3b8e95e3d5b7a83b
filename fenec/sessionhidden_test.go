package fenec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// hiddenShapes are statements about a collection, %s. Each is wrong about the
// collection hid, which withHidden makes, or else would do or tell something.
var hiddenShapes = strings.Split(strings.TrimSpace(`
get %s
get %s count
get %s select zz
get %s select x, t order zz
get %s where zz = 1
get %s where x = "a"
get %s where contains(t, 1)
get %s where expired()
get %s near x [1]
get %s near v [1]
get %s near v [1, 2, 3]
get %s near zz [1]
get %s near x [1] exact
get %s match x "a"
get %s match t "a"
get %s match zz "a"
get %s match t "a" near v [1, 2, 3] fuse
get %s match t "a" near zz [1] fuse
get %s match t "a" near x [1] fuse
get %s match t "a" rerank x [1]
get sum(t) from %s
get sum(zz) from %s
get zz, count(*) from %s group zz
get max(v) from %s group x
get %s facet zz
get %s facet v
get %s order v limit 1
get %s require 7
get %s lookup memo on owner
get memo lookup %s on t
get memo lookup %s on x
get memo lookup %s on zz
get memo lookup %s on x = stars select zz
get memo lookup reply on memo lookup %s on t
get memo where text in (get %s select zz)
get memo where text in (get %s near zz [1] select u)
get memo where text in (get %s select x) and zz = 1
get reply where memo in (get id from memo where text in (get %s select zz))
put %s {x: 1}
put %s {zz: 1}
put %s {x: "a"}
put %s {v: [1]}
put %s [{x: 1}, {zz: 1}]
put %s $1
insert %s {zz: 1}
insert %s {id: 1}
put %s {u: "a"} if absent
put %s {u: "a"} if absent else set {zz: 1}
put %s {u: "a"} if absent else set {x: new.zz}
set %s {x: 1} returning zz
set %s {x: zz} where id = 1
set %s {zz: 1}
set %s {x: "a"} where zz = 1
set %s {x: 1} require 7
del %s where zz = 1
del %s returning zz
del %s order v
del memo where text in (get %s select zz)
set memo {text: "a"} where text in (get %s select zz)
describe %s
compact %s
drop collection %s
alter collection %s add x int
alter collection %s drop zz
alter collection %s rename zz to x
create index on %s (zz) @hash
create index on %s (x) @text
create index if not exists on %s (x) @hash
`), "\n")

// withHidden returns memos with a collection hid, beside those of which own
// grants something.
func withHidden(t testing.TB) *fenec.DB {
	db := memos(t)
	for _, text := range []string{
		`create collection hid (x int @hash, v vector<3>, t text @text, u text @unique)`,
		`put hid {x: 1, v: [1, 2, 3], t: "a", u: "a"}`,
	} {
		_, err := db.Exec(context.Background(), text)
		require.NoError(t, err, text)
	}
	return db
}

// ways are all that a session runs a statement by.
var ways = map[string]func(s *fenec.Session, text string, args ...any) error{
	"query": func(s *fenec.Session, text string, args ...any) error {
		_, err := s.Query(context.Background(), text, args...)
		return err
	},
	"explain": func(s *fenec.Session, text string, args ...any) error {
		_, err := s.Query(context.Background(), "explain "+text, args...)
		return err
	},
	"batch": func(s *fenec.Session, text string, args ...any) error {
		_, err := s.Batch(context.Background(), []fenec.Statement{{Text: `get memo`}, {Text: text, Args: args}})
		return err
	},
	"batch of writes": func(s *fenec.Session, text string, args ...any) error {
		write := fenec.Statement{Text: `set memo {text: "b"}`}
		_, err := s.Batch(context.Background(), []fenec.Statement{write, {Text: text, Args: args}})
		return err
	},
	"update": func(s *fenec.Session, text string, args ...any) error {
		_, err := s.Update(context.Background(), func(tx *fenec.Tx) error {
			_, err := tx.Query(context.Background(), text, args...)
			return err
		})
		return err
	},
	"view": func(s *fenec.Session, text string, args ...any) error {
		return s.View(context.Background(), func(sn *fenec.Snapshot) error {
			_, err := sn.Query(context.Background(), text, args...)
			return err
		})
	},
	"rows": func(s *fenec.Session, text string, args ...any) error {
		for _, err := range s.Rows(context.Background(), text, args...) {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"load": func(s *fenec.Session, text string, args ...any) error {
		_, err := s.Load(context.Background(), text, func(yield func([]any, error) bool) { yield(args, nil) })
		return err
	},
}

// TestSessionHiddenCollection asks about a collection without a grant, and about
// one that is not there: there is no telling them apart.
func TestSessionHiddenCollection(t *testing.T) {
	db := withHidden(t)
	mine := own()
	mine.Schema = true
	s := session(t, db, mine, "ada")
	for _, shape := range hiddenShapes {
		for name, run := range ways {
			what := name + ": " + shape
			hidden := run(s, fmt.Sprintf(shape, "hid"), map[string]any{"zz": 1})
			missing := run(s, fmt.Sprintf(shape, "nix"), map[string]any{"zz": 1})
			require.Error(t, missing, what)
			require.Error(t, hidden, what)
			require.Equal(t, missing.Error(), strings.ReplaceAll(hidden.Error(), `"hid"`, `"nix"`), what)
			if name == "query" {
				require.ErrorIs(t, hidden, fenec.ErrNotFound, what)
				require.ErrorContains(t, hidden, `no collection "hid"`, what)
			}
		}
	}
	require.Equal(t, `[{"id":1,"x":1,"v":[1,2,3],"t":"a","u":"a"}]`, told(t, db, `get hid`))
}

func TestSessionHiddenShape(t *testing.T) {
	db := withHidden(t)
	s := session(t, db, own(), "ada")
	for _, shape := range []fenec.Shape{{}, {Where: "zz = 1"}, {Where: `x = "a"`}, {Select: []string{"zz"}}, {Where: "false"}} {
		shape.Collection = "hid"
		_, hidden := s.Subscribe(context.Background(), shape, fenec.NoCursor)
		shape.Collection = "nix"
		_, missing := s.Subscribe(context.Background(), shape, fenec.NoCursor)
		require.ErrorIs(t, hidden, fenec.ErrNotFound)
		require.EqualError(t, missing, strings.ReplaceAll(hidden.Error(), `"hid"`, `"nix"`))
	}
}

// TestSessionDeniedFirst asks what a collection holds for fields it does not have,
// which only who may do the rest of the statement is told.
func TestSessionDeniedFirst(t *testing.T) {
	db := withHidden(t)
	const every = fenec.EveryRow
	changes := []fenec.Update{{Rows: every}}
	read := []string{
		`get hid select zz`, `get hid where zz = 1`, `get hid near x [1]`, `get hid match x "a"`, `get sum(zz) from hid`,
		`get hid facet zz`, `get hid order zz`, `explain get hid select zz`,
		`get memo lookup hid on zz`, `get memo where text in (get hid select zz)`, `del memo where text in (get hid select zz)`,
	}
	change := []string{`set hid {x: zz}`, `set hid {x: 1} where zz = 1`, `set hid {x: 1} returning zz`}
	remove := []string{`del hid where zz = 1`, `del hid returning zz`}
	insert := []string{`put hid {zz: 1}`, `insert hid {x: "a"}`, `put hid {u: "b"} if absent else set {x: zz}`}
	for name, tc := range map[string]struct {
		grants fenec.Grants
		denied [][]string
	}{
		"insert": {fenec.Grants{Insert: every}, [][]string{read, change, remove}},
		"update": {fenec.Grants{Update: changes}, [][]string{read, change, remove, insert}},
		"delete": {fenec.Grants{Delete: every}, [][]string{read, change, remove, insert}},
		"read":   {fenec.Grants{Read: every}, [][]string{change, remove, insert}},
	} {
		all := fenec.Grants{Read: every, Delete: every}
		s := session(t, db, fenec.Access{Collections: map[string]fenec.Grants{"hid": tc.grants}, Others: all})
		for _, texts := range tc.denied {
			for _, text := range texts {
				_, err := s.Query(context.Background(), text)
				require.ErrorIs(t, err, fenec.ErrDenied, "%s: %s", name, text)
				require.False(t, strings.Contains(err.Error(), "zz") || errors.Is(err, fenec.ErrNotFound), "%s: %s", name, text)
			}
		}
	}
}
