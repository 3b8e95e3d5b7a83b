package fenec_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

var errUnwanted = errors.New("unwanted")

// TestHook sees every kind of write, before it happens.
func TestHook(t *testing.T) {
	ctx := context.Background()
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	db, err := fenec.OpenMemory(fenec.Options{SweepInterval: -1, Clock: func() time.Time { return now }})
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(ctx, `create collection c (k text @unique, n int, seen timestamp @ttl(1m))`)
	require.NoError(t, err)
	var seen []string
	db.SetHook(func(c *fenec.RowChange) error {
		image := func(d *fenec.Doc) any {
			if d == nil {
				return "none"
			}
			n, err := d.Get("n")
			require.NoError(t, err)
			return n
		}
		seen = append(seen, fmt.Sprint(c.Collection, " ", c.ID, " ", image(c.Before), " to ", image(c.After)))
		if c.After != nil {
			if n, err := c.After.Int("n"); err != nil || n > 100 {
				return errUnwanted
			}
		}
		return nil
	})
	for _, c := range []struct {
		text string
		want []string
	}{
		{`put c [{k: "a", n: 1}, {k: "b", n: 2}]`, []string{`c 1 none to 1`, `c 2 none to 2`}},
		{`set c {n: n + 1}`, []string{`c 1 1 to 2`, `c 2 2 to 3`}},
		{`put c {id: 1, k: "a", n: 5}`, []string{`c 1 2 to 5`}},
		{`put c {k: "a", n: 5} if absent else set {n: 6}`, []string{`c 1 5 to 6`}},
		{`put c {k: "a", n: 5} if absent`, nil},
		{`del c where k = "b"`, []string{`c 2 3 to none`}},
		{`put c {k: "old", n: 7, seen: 0}`, []string{`c 3 none to 7`}},
		{`put c {k: "old", n: 8}`, []string{`c 3 7 to none`, `c 4 none to 8`}},
		{`put c {k: "older", n: 9, seen: 0}`, []string{`c 5 none to 9`}},
		{`get c`, nil},
	} {
		seen = nil
		_, err := db.Query(ctx, c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, seen, c.text)
	}
	seen = nil
	n, err := db.Sweep(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, []string{`c 5 9 to none`}, seen)

	_, err = db.Exec(ctx, `put c [{k: "x", n: 1}, {k: "y", n: 101}]`)
	require.ErrorIs(t, err, errUnwanted)
	_, err = db.Exec(ctx, `set c {n: 1000}`)
	require.ErrorIs(t, err, errUnwanted)
	require.Equal(t, `[{"n":6},{"n":8}]`, told(t, db, `get n from c`))
	db.SetHook(nil)
	_, err = db.Exec(ctx, `put c {k: "y", n: 101}`)
	require.NoError(t, err)
}

// TestHookErrors gives what a function returns a kind.
func TestHookErrors(t *testing.T) {
	ctx := context.Background()
	for name, tc := range map[string]struct {
		err    error
		denied bool
		text   string
	}{
		"plain":    {errUnwanted, true, "denied: unwanted"},
		"wrapped":  {fmt.Errorf("row 1: %w", errUnwanted), true, "denied: row 1: unwanted"},
		"denied":   {fenec.Denied("not now"), true, "denied: not now"},
		"a kind":   {fenec.Over("full"), false, "over limit: full"},
		"damage":   {fmt.Errorf("%w: page 7", fenec.ErrCorrupt), false, "corrupt: page 7"},
		"its time": {context.DeadlineExceeded, false, "context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			db := memory(t, `create collection c (n int)`)
			all := fenec.Grants{Read: fenec.EveryRow, Insert: fenec.EveryRow}
			checked := session(t, db, fenec.Access{Others: all, Check: func([]any, *fenec.RowChange) error { return tc.err }})
			_, err := checked.Exec(ctx, `put c {n: 1}`)
			require.EqualError(t, err, tc.text)
			require.ErrorIs(t, err, tc.err)
			db.SetHook(func(*fenec.RowChange) error { return tc.err })
			_, err = db.Exec(ctx, `put c {n: 1}`)
			require.EqualError(t, err, tc.text)
			require.ErrorIs(t, err, tc.err)
			require.Equal(t, tc.denied, errors.Is(err, fenec.ErrDenied))
		})
	}
}

// TestDoc reads fields of every kind.
func TestDoc(t *testing.T) {
	ctx := context.Background()
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(ctx, `create collection c (i int, f float, s text, b bool, at timestamp, v vector<2>, j json, l [int])`)
	require.NoError(t, err)
	called := false
	db.SetHook(func(c *fenec.RowChange) error {
		called = true
		d := c.After
		i, err := d.Int("i")
		require.NoError(t, err)
		require.EqualValues(t, 7, i)
		id, err := d.Int("id")
		require.NoError(t, err)
		require.Equal(t, c.ID, id)
		f, err := d.Float("f")
		require.NoError(t, err)
		require.Equal(t, 1.5, f)
		s, err := d.Text("s")
		require.NoError(t, err)
		require.Equal(t, "x", s)
		b, err := d.Bool("b")
		require.NoError(t, err)
		require.True(t, b)
		at, err := d.Time("at")
		require.NoError(t, err)
		require.Equal(t, time.Unix(0, 0).UTC(), at)
		var v []float32
		require.NoError(t, d.Scan("v", &v))
		require.Equal(t, []float32{1, 2}, v)
		j, err := d.Get("j")
		require.NoError(t, err)
		require.Equal(t, map[string]any{"k": int64(1)}, j)
		l, err := d.Get("l")
		require.NoError(t, err)
		require.Nil(t, l)
		_, err = d.Get("nope")
		require.ErrorIs(t, err, fenec.ErrNotFound)
		_, err = d.Int("s")
		require.ErrorIs(t, err, fenec.ErrType)
		_, err = d.Int("l")
		require.ErrorIs(t, err, fenec.ErrType)
		require.Error(t, d.Scan("s", s))
		changed, err := c.Changed()
		require.NoError(t, err)
		require.Equal(t, []string{"i", "f", "s", "b", "at", "v", "j"}, changed)
		return nil
	})
	_, err = db.Exec(ctx, `put c {i: 7, f: 1.5, s: "x", b: true, at: 0, v: [1, 2], j: {k: 1}}`)
	require.NoError(t, err)
	require.True(t, called)
}
