package fenec_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

var errFrozen = errors.New("frozen")

func TestFenceRefusesEveryKindOfWrite(t *testing.T) {
	db, err := fenec.Open(filepath.Join(t.TempDir(), "a.fenec"), fenec.Options{SweepInterval: -1, Clock: func() time.Time { return time.UnixMilli(5000) }})
	require.NoError(t, err)
	defer db.Close()
	ctx := t.Context()
	for _, text := range []string{"create collection a (b int)", "create collection old (at timestamp @ttl(1s))", "put old {at: timestamp(1)}", "put a {b: 1}"} {
		_, err := db.Exec(ctx, text)
		require.NoError(t, err, text)
	}
	require.NoError(t, db.SetFence(ctx, func() error { return errFrozen }))
	seq := db.Seq()
	rows := func(yield func([]any, error) bool) { yield([]any{1}, nil) }
	writes := map[string]func() error{
		"put":    func() error { _, err := db.Exec(ctx, "put a {b: 2}"); return err },
		"del":    func() error { _, err := db.Exec(ctx, "del a"); return err },
		"create": func() error { _, err := db.Exec(ctx, "create collection z (b int)"); return err },
		"batch":  func() error { _, err := db.Batch(ctx, []fenec.Statement{{Text: "put a {b: 2}"}}); return err },
		"update": func() error { _, err := db.Update(ctx, func(*fenec.Tx) error { return nil }); return err },
		"load":   func() error { _, err := db.Load(ctx, "put a {b: $1}", rows); return err },
		"sweep":  func() error { _, err := db.Sweep(ctx); return err },
	}
	for name, write := range writes {
		require.ErrorIs(t, write(), errFrozen, name)
	}
	require.Equal(t, seq, db.Seq())
	require.NoError(t, db.Checkpoint(ctx), "folding goes on")
	res, err := db.Query(ctx, "get a")
	require.NoError(t, err)
	require.Equal(t, 1, res.Len())

	require.NoError(t, db.SetFence(ctx, nil))
	for name, write := range writes {
		require.NoError(t, write(), name)
	}
}

// TestFenceWaitsForTheBlockThatIsOpen sets a fence while a block is open: the
// block still ends, and SetFence returns no sooner.
func TestFenceWaitsForTheBlockThatIsOpen(t *testing.T) {
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(t.Context(), "create collection a (b int)")
	require.NoError(t, err)
	open, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		_, err := db.Update(context.Background(), func(tx *fenec.Tx) error {
			close(open)
			<-goOn
			_, err := tx.Exec(context.Background(), "put a {b: 1}")
			return err
		})
		ended <- err
	}()
	<-open
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	refuse := func() error { return errFrozen }
	require.ErrorIs(t, db.SetFence(ctx, refuse), context.Canceled)
	set := make(chan uint64)
	go func() {
		if db.SetFence(context.Background(), refuse) == nil {
			set <- db.Seq()
		}
		close(set)
	}()
	before := db.Seq()
	close(goOn)
	require.NoError(t, <-ended)
	require.Equal(t, before+1, <-set)
	_, err = db.Exec(t.Context(), "put a {b: 2}")
	require.ErrorIs(t, err, errFrozen)
}
