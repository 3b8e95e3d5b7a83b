package fenec_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// limited is a database whose blocks are noted, and refused by refuse.
type limited struct {
	*fenec.DB
	path   string
	blocks []fenec.Block
	refuse func(fenec.Block) error // or nil
}

// limitFixture is three documents of equal length, and one of the server's own.
var limitFixture = []string{
	"create collection c (n int, s text @hash)",
	"create collection _own (s text)",
	`put c [{n: 1, s: "one"}, {n: 2, s: "two"}, {n: 3, s: "six"}]`,
	`put _own {s: "hidden"}`,
}

func openLimited(t *testing.T) *limited {
	t.Helper()
	l := &limited{path: filepath.Join(t.TempDir(), "db")}
	var err error
	l.DB, err = fenec.Open(l.path, fenec.Options{
		Sync: fenec.SyncOff, NoCheckpoint: true, FrontBytes: 1 << 30, // nothing takes the log away
	})
	require.NoError(t, err)
	runAll(t, l.DB, limitFixture...)
	l.SetLimit(func(b fenec.Block) error {
		l.blocks = append(l.blocks, b)
		if l.refuse != nil {
			return l.refuse(b)
		}
		return nil
	})
	return l
}

// close closes the database, which leaves its log, and returns how long that
// is: no space is allocated ahead in a log that was closed.
func (l *limited) close(t *testing.T) int64 {
	t.Helper()
	require.NoError(t, l.Close())
	require.NoError(t, fenec.Check(l.path))
	info, err := os.Stat(l.path + "-log")
	require.NoError(t, err)
	return info.Size()
}

func (l *limited) run(t *testing.T, statements []string) error {
	t.Helper()
	if len(statements) == 1 {
		_, err := l.Query(t.Context(), statements[0])
		return err
	}
	var list []fenec.Statement
	for _, text := range statements {
		list = append(list, fenec.Statement{Text: text})
	}
	_, err := l.Batch(t.Context(), list)
	return err
}

func stats(t *testing.T, db *fenec.DB) fenec.Stats {
	t.Helper()
	st, err := db.Stats()
	require.NoError(t, err)
	return st
}

// rows counts the documents that are not the server's own.
func rows(st fenec.Stats) (n int64) {
	for _, c := range st.Collections {
		if !strings.HasPrefix(c.Name, "_") {
			n += c.Rows
		}
	}
	return n
}

// limitCases are blocks, and what a limit is told of them.
var limitCases = []struct {
	name       string
	statements []string
	written    int
	rows       int
	shrinks    bool
	sign       int // of LiveBytes
}{
	{"put", []string{`put c {n: 4}`}, 1, 1, false, 1},
	{"put several", []string{`put c {n: 4} {n: 5, s: "x"} {}`}, 3, 3, false, 1},
	{"overwrite by a longer one", []string{`put c {id: 1, n: 1, s: "one and more"}`}, 1, 0, false, 1},
	{"overwrite by a shorter one", []string{`put c {id: 1, n: 1}`}, 1, 0, true, -1},
	{"overwrite by an equal one", []string{`put c {id: 1, n: 9, s: "eno"}`}, 1, 0, true, 0},
	{"set longer", []string{`set c {s: s + "!"}`}, 3, 0, false, 1},
	{"set shorter", []string{`set c {s: null} where n < 3`}, 2, 0, true, -1},
	{"set equal", []string{`set c {n: n}`}, 3, 0, true, 0},
	{"del", []string{`del c where n > 1`}, 2, -2, true, -1},
	{"create", []string{`create collection d (a int)`}, 0, 0, false, 0},
	{"drop", []string{`drop collection c`}, 0, -3, true, -1},
	{"longer and shorter", []string{`set c {s: "much longer"} where n = 1`, `del c where n > 1`}, 3, -2, false, -1},
	{"a document moves", []string{`del c where id = 1`, `put c {id: 9, n: 1, s: "one"}`}, 2, 0, false, 0},
	{"mixed", []string{
		`create collection d (a int)`, `put d {a: 1} {a: 2}`, `get d count`, `del d where a = 1`, `set c {n: 100000}`, `put _own {}`,
	}, 6, 1, false, 1},
	{"only what is dropped again", []string{`create collection d (a int)`, `put d {a: 1}`, `drop collection d`}, 1, 0, false, 0},
	{"the server's own", []string{`put _own {s: "more"} {s: "and more"}`}, 0, 0, false, 1},
	{"less of the server's own", []string{`del _own`}, 0, 0, true, -1},
	{"none of the server's own", []string{`drop collection _own`}, 0, 0, true, -1},
}

func TestLimitIsToldExactly(t *testing.T) {
	empty := openLimited(t).close(t)
	for _, tc := range limitCases {
		t.Run(tc.name, func(t *testing.T) {
			l := openLimited(t)
			before := stats(t, l.DB)
			require.NoError(t, l.run(t, tc.statements))
			after := stats(t, l.DB)
			require.Len(t, l.blocks, 1)
			b := l.blocks[0]
			require.Equal(t, tc.written, b.Written)
			require.Equal(t, tc.rows, b.Rows)
			require.Equal(t, tc.shrinks, b.Shrinks)
			require.Equal(t, tc.sign, sign(b.LiveBytes), b.LiveBytes)
			require.Equal(t, rows(after)-rows(before), int64(b.Rows))
			require.Equal(t, after.LiveBytes-before.LiveBytes, b.LiveBytes)
			require.Zero(t, b.Part)
			require.Equal(t, l.close(t)-empty, b.RecordBytes)
		})
	}
}

func sign(n int64) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func TestLimitIsNotAskedAboutNothing(t *testing.T) {
	empty := openLimited(t).close(t)
	l := openLimited(t)
	for _, st := range []string{
		"get c", "get c count", "collections", "set c {n: 0} where n = 77", "set c {n: 0} where id in [1] and n = 9", "del c limit 0",
		"create collection if not exists c (a int)", "drop collection if exists d", "put c $1",
	} {
		_, err := l.Query(t.Context(), st, []any{})
		require.NoError(t, err, st)
	}
	require.NoError(t, l.run(t, []string{"get c", "set c {n: 0} where n = 77", "get c count"}))
	require.Error(t, l.run(t, []string{"put c {n: 1}", "put c {n: 1 / 0}"}))
	require.Empty(t, l.blocks)
	require.EqualValues(t, 6, l.Seq())
	require.NoError(t, l.run(t, []string{"put c {n: 4}"}))
	require.Len(t, l.blocks, 1)
	require.Equal(t, l.close(t)-empty, l.blocks[0].RecordBytes)
}

func TestLimitRefuses(t *testing.T) {
	for _, tc := range limitCases {
		t.Run(tc.name, func(t *testing.T) {
			l := openLimited(t)
			l.refuse = func(fenec.Block) error { return fenec.Over("tenant %q has enough", "acme") }
			before, schema, docs := stats(t, l.DB), body(t, l.DB, "collections"), body(t, l.DB, "get c")
			err := l.run(t, tc.statements)
			require.ErrorIs(t, err, fenec.ErrOverLimit)
			require.EqualError(t, err, `over limit: tenant "acme" has enough`)
			require.Equal(t, before, stats(t, l.DB))
			require.Equal(t, schema, body(t, l.DB, "collections"))
			require.Equal(t, docs, body(t, l.DB, "get c"))
			require.Equal(t, `[{"id":1}]`, body(t, l.DB, `get c select id where s = "one"`))

			// What comes next is as if the block had never been.
			l.refuse = nil
			require.NoError(t, l.run(t, []string{`put c {n: 4}`}))
			require.Equal(t, `[{"id":4}]`, body(t, l.DB, "get c select id where n = 4"))
			require.EqualValues(t, before.Seq+1, l.Seq())
			size := l.close(t)
			clean := openLimited(t)
			require.NoError(t, clean.run(t, []string{`put c {n: 4}`}))
			require.Equal(t, clean.close(t), size)
		})
	}
}

// A record that is too long for one piece is asked about part by part.
func TestLimitOfLongBlocks(t *testing.T) {
	sequential(t)
	empty := openLimited(t).close(t)
	l := openLimited(t)
	var docs []any
	for i := range 18 {
		docs = append(docs, map[string]any{"n": i, "s": strings.Repeat("x", 1<<20)})
	}
	before := stats(t, l.DB)
	put := func() error {
		l.blocks = nil
		_, err := l.Query(t.Context(), "put c $1", docs)
		return err
	}
	sum := func() (b fenec.Block) {
		for i, part := range l.blocks {
			require.Equal(t, i, part.Part)
			require.False(t, part.Shrinks)
			b.RecordBytes += part.RecordBytes
			b.LiveBytes += part.LiveBytes
			b.Written += part.Written
			b.Rows += part.Rows
		}
		return b
	}
	for refused := range 2 {
		l.refuse = func(b fenec.Block) error {
			if b.Part == refused {
				return fenec.Over("part %d", b.Part)
			}
			return nil
		}
		err := put()
		require.ErrorIs(t, err, fenec.ErrOverLimit)
		require.Len(t, l.blocks, refused+1)
		after := stats(t, l.DB)
		require.Equal(t, before.Collections, after.Collections)
		require.Equal(t, before.Seq, after.Seq)
	}
	l.refuse = nil
	require.NoError(t, put())
	require.Len(t, l.blocks, 2)
	all := sum()
	after := stats(t, l.DB)
	require.Equal(t, len(docs), all.Written)
	require.Equal(t, len(docs), all.Rows)
	require.Equal(t, after.LiveBytes-before.LiveBytes, all.LiveBytes)
	require.Equal(t, before.Seq+uint64(len(docs)), after.Seq)
	require.Equal(t, l.close(t)-empty, all.RecordBytes)
}

func TestLimitErrors(t *testing.T) {
	l := openLimited(t)
	own := errors.New("the caller's own")
	l.refuse = func(fenec.Block) error { return own }
	require.Equal(t, own, l.run(t, []string{"put c {n: 4}"}))
	require.Equal(t, own, l.run(t, []string{"put c {n: 4}", "del c"}))

	// A panic of the limit leaves the database as it was, and usable.
	l.refuse = func(fenec.Block) error { panic(own) }
	require.PanicsWithValue(t, own, func() { _ = l.run(t, []string{"put c {n: 4}"}) })
	l.refuse = nil
	require.Equal(t, `[{"count":3}]`, body(t, l.DB, "get c count"))
	require.NoError(t, l.run(t, []string{"put c {n: 4}"}))

	l.SetLimit(nil)
	l.blocks = nil
	require.NoError(t, l.run(t, []string{"del c"}))
	require.Empty(t, l.blocks)
	l.close(t)
}

// In memory there is no log; the rest is as in a file.
func TestLimitInMemory(t *testing.T) {
	db := memory(t, limitFixture...)
	var blocks []fenec.Block
	db.SetLimit(func(b fenec.Block) error {
		blocks = append(blocks, b)
		return nil
	})
	before := stats(t, db)
	runAll(t, db, "put c {n: 4}")
	require.Len(t, blocks, 1)
	require.Zero(t, blocks[0].RecordBytes)
	require.Equal(t, 1, blocks[0].Written)
	require.Equal(t, stats(t, db).LiveBytes-before.LiveBytes, blocks[0].LiveBytes)
}
