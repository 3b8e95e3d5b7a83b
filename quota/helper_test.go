package quota_test

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
)

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// openDB opens a database in a file with a collection.
func openDB(t testing.TB, opts fenec.Options) *fenec.DB {
	t.Helper()
	opts.Sync = fenec.SyncOff
	db, err := fenec.Open(filepath.Join(t.TempDir(), "acme.fenec"), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	exec(t, db, "create collection c (s text)")
	return db
}

func exec(t testing.TB, db *fenec.DB, text string, args ...any) {
	t.Helper()
	_, err := db.Exec(t.Context(), text, args...)
	require.NoError(t, err, text)
}

// run runs a statement as who serves a tenant does and returns the refusal, or nil.
func run(t testing.TB, db *fenec.DB, q *quota.Quota, text string, args ...any) *quota.Refusal {
	t.Helper()
	err := q.MayWrite()
	if err == nil {
		_, err = db.Exec(t.Context(), text, args...)
	}
	return refusal(t, err)
}

// refusal returns err as one; nil if there is none.
func refusal(t testing.TB, err error) *quota.Refusal {
	t.Helper()
	if err == nil {
		return nil
	}
	var r *quota.Refusal
	require.True(t, errors.As(err, &r), "%v", err)
	require.Equal(t, r.Ceiling(), errors.Is(err, fenec.ErrOverLimit))
	return r
}

func stats(t testing.TB, db *fenec.DB) fenec.Stats {
	t.Helper()
	st, err := db.Stats()
	require.NoError(t, err)
	return st
}

func rows(st fenec.Stats, name string) int64 {
	for _, c := range st.Collections {
		if c.Name == name {
			return c.Rows
		}
	}
	return 0
}

var rowsRefused = &quota.Refusal{Key: quota.KeyRows, Limit: 3}
