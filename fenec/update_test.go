package fenec_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

var errChanged = errors.New("changed my mind")

func TestUpdate(t *testing.T) {
	db := file(t, fenec.Options{}, "create collection c (n int)")
	ctx := t.Context()
	before := db.Seq()
	seq, err := db.Update(ctx, func(tx *fenec.Tx) error {
		require.Equal(t, before, tx.Seq())
		n, err := tx.Exec(ctx, "put c $1", []any{map[string]any{"n": 0}, map[string]any{"n": 1}})
		require.NoError(t, err)
		require.Equal(t, 2, n)
		res, err := tx.Query(ctx, "get c count where n >= $1", 0)
		require.NoError(t, err)
		got, err := res.AppendJSON(nil)
		require.NoError(t, err)
		require.JSONEq(t, `[{"count":2}]`, string(got), "it sees what it wrote")
		require.Equal(t, before+2, res.Seq())
		require.JSONEq(t, `[{"count":0}]`, body(t, db, "get c count"), "nobody else does")
		_, err = tx.Query(ctx, "create collection d (c int @hash)")
		require.NoError(t, err)
		res, err = tx.Query(ctx, "put d {c: 7}")
		require.NoError(t, err)
		require.Equal(t, before+4, res.Seq())
		require.Equal(t, before+4, tx.Seq())
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, before+4, seq)
	require.Equal(t, seq, db.Seq())
	require.JSONEq(t, `[{"count":2}]`, body(t, db, "get c count"))
	require.JSONEq(t, `[{"id":1,"c":7}]`, body(t, db, "get d"))

	seq, err = db.Update(ctx, func(tx *fenec.Tx) error {
		_, err := tx.Query(ctx, "get c")
		return err
	})
	require.NoError(t, err)
	require.Equal(t, before+4, seq, "a block that writes nothing takes no number")
}

// An update that fails leaves no trace.
func TestUpdateUndone(t *testing.T) {
	db := file(t, fenec.Options{}, "create collection c (n int @unique)", "put c {n: 1}")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	put := func(tx *fenec.Tx) {
		_, err := tx.Exec(t.Context(), "put c {n: 2}")
		require.NoError(t, err)
	}
	for name, x := range map[string]struct {
		fn   func(tx *fenec.Tx) error
		want error
	}{
		"its own error": {func(tx *fenec.Tx) error { put(tx); return errChanged }, errChanged},
		"a statement that fails halfway": {func(tx *fenec.Tx) error {
			put(tx)
			_, err := tx.Exec(ctx, "put c [{n: 3}, {n: 1}]")
			return err
		}, fenec.ErrDuplicate},
		"a failure that is passed over": {func(tx *fenec.Tx) error {
			put(tx)
			_, first := tx.Exec(ctx, "put c [{n: 3}, {n: 1}]")
			_, then := tx.Query(ctx, "get c")
			require.Equal(t, first, then)
			return nil
		}, fenec.ErrDuplicate},
		"words":       {func(tx *fenec.Tx) error { put(tx); _, err := tx.Query(ctx, "gte c"); return err }, fenec.ErrQuery},
		"an argument": {func(tx *fenec.Tx) error { put(tx); _, err := tx.Query(ctx, "get c", t); return err }, fenec.ErrType},
		"a compact":   {func(tx *fenec.Tx) error { put(tx); _, err := tx.Query(ctx, "compact"); return err }, fenec.ErrQuery},
		"a schema change": {func(tx *fenec.Tx) error {
			put(tx)
			_, err := tx.Query(ctx, "alter collection c add m int")
			require.NoError(t, err)
			_, err = tx.Query(ctx, "create collection d (n int)")
			require.NoError(t, err)
			_, err = tx.Query(ctx, "create collection c (n int)")
			return err
		}, fenec.ErrExists},
		"a context that has ended at last": {func(tx *fenec.Tx) error { put(tx); cancel(); return nil }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel = context.WithCancel(t.Context())
			before := db.Seq()
			_, err := db.Update(ctx, x.fn)
			require.ErrorIs(t, err, x.want)
			require.Equal(t, before, db.Seq())
			require.JSONEq(t, `[{"id":1,"n":1}]`, body(t, db, "get c"))
			require.Equal(t, []string{"c"}, db.Collections())
		})
	}
	require.PanicsWithValue(t, "oh", func() {
		_, _ = db.Update(t.Context(), func(tx *fenec.Tx) error { put(tx); panic("oh") })
	})
	require.JSONEq(t, `[{"id":1,"n":1}]`, body(t, db, "get c"))
	query(t, db, "put c {n: 2}") // the lock is free, and so are the id and the value
	require.JSONEq(t, `[{"id":1,"n":1},{"id":2,"n":2}]`, body(t, db, "get c"))
}

func TestUpdateOver(t *testing.T) {
	db := memory(t, "create collection c (n int)")
	var kept *fenec.Tx
	_, err := db.Update(t.Context(), func(tx *fenec.Tx) error { kept = tx; return nil })
	require.NoError(t, err)
	_, err = kept.Query(t.Context(), "get c")
	require.ErrorContains(t, err, "after its Update has ended")
	_, err = kept.As(new(fenec.Session)).Exec(t.Context(), "put c {n: 1}")
	require.ErrorContains(t, err, "after its Update has ended")
	require.Zero(t, kept.Seq())
}

// A session's statements and those of its server are one block, each with their
// own rights.
func TestUpdateAs(t *testing.T) {
	db := memory(t, "create collection notes (owner text, text text)", "create collection _log (what text)")
	checked := 0
	policy, err := fenec.NewPolicy(fenec.Access{
		Collections: map[string]fenec.Grants{"notes": {
			Read: "owner = $1", Insert: "owner = $1", Fill: map[string]string{"owner": "$1"},
		}},
		Check: func(values []any, c *fenec.RowChange) error {
			require.Equal(t, []any{"ada"}, values)
			require.Equal(t, "notes", c.Collection)
			checked++
			return nil
		},
	})
	require.NoError(t, err)
	ada, err := db.Session(policy, "ada")
	require.NoError(t, err)
	ctx := t.Context()
	note := func(tx *fenec.Tx) error {
		_, err := tx.Exec(ctx, "put notes {text: $1}", "mine")
		return err
	}
	_, err = db.Update(ctx, func(tx *fenec.Tx) error {
		if err := note(tx.As(ada)); err != nil {
			return err
		}
		if err := note(tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "put _log {what: $1}", "notes")
		return err
	})
	require.NoError(t, err)
	require.Equal(t, 1, checked)
	require.JSONEq(t, `[{"owner":"ada","text":"mine"},{"owner":null,"text":"mine"}]`, body(t, db, "get notes select owner, text"))
	require.JSONEq(t, `[{"what":"notes"}]`, body(t, db, "get _log select what"))

	_, err = ada.Update(ctx, func(tx *fenec.Tx) error {
		if err := note(tx); err != nil {
			return err
		}
		res, err := tx.Query(ctx, "get notes count")
		require.NoError(t, err)
		require.EqualValues(t, 2, firstInt(t, res))
		_, err = tx.Exec(ctx, "put _log {what: $1}", "notes")
		return err
	})
	require.ErrorIs(t, err, fenec.ErrNotFound)
	require.JSONEq(t, `[{"count":2}]`, body(t, db, "get notes count"))
}

// firstInt returns the first column of the first row.
func firstInt(t *testing.T, res *fenec.Result) (n int64) {
	require.True(t, res.Next())
	v, err := res.Row().Value(0)
	require.NoError(t, err)
	return v.(int64)
}

// A write waits for the lock no longer than its context.
func TestUpdateHoldsTheLock(t *testing.T) {
	db := memory(t, "create collection c (n int)")
	_, err := db.Update(t.Context(), func(tx *fenec.Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := db.Exec(ctx, "put c {n: 1}")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = tx.Exec(t.Context(), "put c {n: 2}")
		return err
	})
	require.NoError(t, err)
	require.JSONEq(t, `[{"id":1,"n":2}]`, body(t, db, "get c"))
}
