package client_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/client"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// withFeed serves a database on a file that keeps a feed.
func withFeed(t *testing.T) (*served, *client.DB) {
	t.Helper()
	fdb, err := fenec.Open(filepath.Join(t.TempDir(), "db.fenec"), fenec.Options{Sync: fenec.SyncAlways, FeedBytes: 1 << 20})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fdb.Close()) })
	s := newServer(t, fdb, serve.Options{})
	return s, s.open(client.Options{NoKeys: true})
}

// spellFeed spells what a Feed has returned.
func spellFeed(list []fenec.FeedChange, next uint64, err error) (out []string) {
	for i := range list {
		body, err := list[i].AppendJSON(nil)
		out = append(out, fmt.Sprint(string(body), err))
	}
	return append(out, fmt.Sprint(next, err))
}

// The feed of a server is that of its database.
func TestFeed(t *testing.T) {
	s, db := withFeed(t)
	exec(t, db, createNotes)
	for _, n := range twoNotes() {
		exec(t, db, `put notes $1`, n)
	}
	exec(t, db, `alter collection notes add more text`)
	exec(t, db, `set notes {more: "x", text: null} where id = 1`)
	exec(t, db, `del notes where id = 2`)
	exec(t, db, `drop collection notes`)
	for since := range db.Seq() + 1 {
		for _, most := range []int{0, 1, 2, 1000} {
			want, wantNext, err := s.db.Feed(t.Context(), since, most)
			require.NoError(t, err)
			if most == 0 {
				wantNext = since // where the server would say that something follows
			}
			got, gotNext, err := db.Feed(t.Context(), since, most)
			require.NoError(t, err)
			require.Equal(t, spellFeed(want, wantNext, nil), spellFeed(got, gotNext, nil))
			for i := range got {
				require.Equal(t, want[i].Change, got[i].Change)
			}
			changes, next, err := db.Changes(t.Context(), since, most)
			require.NoError(t, err)
			require.Equal(t, gotNext, next)
			require.Len(t, changes, len(got))
		}
	}
	list, _, err := db.Feed(t.Context(), 1, 1)
	require.NoError(t, err)
	doc := list[0].Doc
	at, err := doc.Time("at")
	require.NoError(t, err)
	require.Equal(t, noon, at)
	var times []time.Time
	require.NoError(t, doc.Scan("times", &times))
	require.Equal(t, []time.Time{noon}, times)
	var raw []byte
	require.NoError(t, doc.Scan("raw", &raw))
	require.Equal(t, []byte{0, 1, 255}, raw)
	require.Equal(t, int64(1), first(doc.Int("id")))
	_, err = doc.Get("nope")
	require.ErrorIs(t, err, fenec.ErrNotFound)

	_, _, err = db.Feed(t.Context(), 99, 1)
	var cursor *fenec.CursorError
	require.ErrorAs(t, err, &cursor)
	require.Equal(t, fenec.CursorError{Since: 99, Last: s.db.Seq()}, *cursor)
	require.ErrorIs(t, err, fenec.ErrHistoryGone)
}

func TestFeedThatIsGone(t *testing.T) {
	s, db := withFeed(t)
	s.tampered(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.WriteHeader(http.StatusGone)
		_, _ = w.Write([]byte(`{"error":"gone","since":40}`))
	})
	_, _, err := db.Changes(t.Context(), 3, 1)
	var cursor *fenec.CursorError
	require.ErrorAs(t, err, &cursor)
	require.Equal(t, fenec.CursorError{Since: 3, First: 40}, *cursor)
	require.ErrorIs(t, err, fenec.ErrHistoryGone)
}

func TestNoFeed(t *testing.T) {
	db := inMemory(t, serve.Options{}).open(client.Options{})
	_, _, err := db.Feed(t.Context(), 0, 1)
	require.ErrorIs(t, err, fenec.ErrNoFeed)
	require.ErrorIs(t, db.WaitFeed(t.Context(), 0), fenec.ErrNoFeed)
	require.ErrorIs(t, db.MoveConsumer(t.Context(), "c", 0), fenec.ErrNoFeed)
}

func TestWaitFeed(t *testing.T) {
	_, db := withFeed(t)
	require.NoError(t, waitFor(t, func(ctx context.Context) error { return db.WaitFeed(ctx, 0) }, func() {
		exec(t, db, `create collection c (n int)`)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, db.WaitFeed(ctx, 1), context.Canceled)
}

// waitFor runs wait, and do beside it.
func waitFor(t *testing.T, wait func(context.Context) error, do func()) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	done := make(chan error)
	go func() { done <- wait(ctx) }()
	do()
	return <-done
}

func TestConsumers(t *testing.T) {
	_, db := withFeed(t)
	exec(t, db, `create collection c (n int)`)
	list, err := db.Consumers(t.Context())
	require.NoError(t, err)
	require.Empty(t, list)
	_, _, err = db.Consume(t.Context(), "a/b c", 1)
	require.ErrorIs(t, err, fenec.ErrNotFound)

	require.NoError(t, db.MoveConsumer(t.Context(), "late", fenec.NoCursor))
	require.NoError(t, db.MoveConsumer(t.Context(), "early", 0))
	var changes []fenec.FeedChange
	var next uint64
	require.NoError(t, waitFor(t, func(ctx context.Context) (err error) {
		changes, next, err = db.Consume(ctx, "late", 10)
		return err
	}, func() { exec(t, db, `put c {n: 7}`) }))
	require.Len(t, changes, 1)
	require.Equal(t, int64(7), first(changes[0].Doc.Int("n")))
	again, _, err := db.Consume(t.Context(), "late", 10)
	require.NoError(t, err)
	require.Equal(t, changes[0].Change, again[0].Change)
	require.NoError(t, db.MoveConsumer(t.Context(), "late", next))

	changes, _, err = db.Consume(t.Context(), "early", 0)
	require.NoError(t, err)
	require.Len(t, changes, 1)
	require.Equal(t, fenec.ChangeCreate, changes[0].Op)
	list, err = db.Consumers(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"early", "late"}, []string{list[0].Name, list[1].Name})
	require.Equal(t, next, list[1].Since)
	require.Greater(t, list[0].Behind, list[1].Behind)

	var cursor *fenec.CursorError
	require.ErrorAs(t, db.MoveConsumer(t.Context(), "late", 9999), &cursor)
	require.Equal(t, uint64(9999), cursor.Since)
	for range 2 {
		require.NoError(t, db.ForgetConsumer(t.Context(), "early"))
	}
	list, err = db.Consumers(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
}

func TestFeedsThatAreNone(t *testing.T) {
	s := inMemory(t, serve.Options{})
	db := s.open(client.Options{})
	for _, body := range []string{`x`, `{"seq":-1}`, `{"at":"x"}`, `{"op":"x"}`, `{"collection":1}`, `{"doc":1}`, `{"doc":{}}`, `{"collection":"c","doc":{"id":"x"}}`, `{"collection":"c","doc":{"a":x}}`} {
		s.tampered(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Fenec-Next", "1")
			_, _ = w.Write([]byte(body))
		})
		_, _, err := db.Feed(t.Context(), 0, 1)
		require.ErrorContains(t, err, "not understood", body)
		_, err = db.Consumers(t.Context())
		require.Error(t, err)
	}
	s.tampered(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {})
	_, _, err := db.Feed(t.Context(), 0, 1)
	require.ErrorContains(t, err, "not understood")
}
