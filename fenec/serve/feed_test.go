package serve_test

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/exchange"
)

func openFeed(t *testing.T, bytes int64) *fenec.DB {
	t.Helper()
	sync, err := fenec.ParseSync("always")
	require.NoError(t, err)
	db, err := fenec.Open(filepath.Join(t.TempDir(), "a.fenec"), fenec.Options{Sync: sync, FeedBytes: bytes})
	require.NoError(t, err)
	return db
}

func TestFeed(t *testing.T) {
	exchange.Run(t, exchange.Script(t, "O"), func(t *testing.T, fixture string) string {
		if fixture == "feed" {
			return startOn(t, serve.Options{}, openFeed(t, 1<<20)).url
		}
		return start(t, serve.Options{}, exchange.Fixtures[fixture]...).url
	})
}

func TestFeedWaits(t *testing.T) {
	c := startOn(t, serve.Options{}, openFeed(t, 1<<20), tasks...)
	r := c.do("GET", "/_changes?since=3&wait=40", "")
	require.Equal(t, 200, r.status)
	require.Empty(t, r.body)
	require.Equal(t, "3", r.header.Get("Fenec-Next"))

	later := make(chan reply)
	go func() { later <- c.do("GET", "/_changes?since=3&wait=20000", "") }()
	c.ok("POST", "/tasks", `{"key":"k3"}`)
	r = <-later
	require.Contains(t, r.body, `"seq":4`)

	// What only the server wrote is passed over, and waited past.
	go func() { later <- c.do("GET", "/_changes?since=4&wait=20000", "") }()
	c.ok("POST", "/_changes/consumers/c", "")
	c.ok("POST", "/tasks", `{"key":"k4"}`)
	r = <-later
	require.Contains(t, r.body, `"key":"k4"`)
	require.NotContains(t, r.body, "_consumers")
}

func TestFeedIsAnsweredByClose(t *testing.T) {
	w := closedWhileWaiting(t, fenec.Options{FeedBytes: 1 << 20}, httptest.NewRequest("GET", "/_changes?since=3&wait=20000", nil))
	require.Equal(t, 200, w.Code)
	require.Empty(t, w.Body.String())
}

func TestFeedForgetsTheOldest(t *testing.T) {
	db := openFeed(t, 64<<10)
	c := startOn(t, serve.Options{}, db, tasks...)
	for i := range 300 {
		_, err := db.Query(t.Context(), `put tasks {key: $1}`, fmt.Sprint("a long key, so that it takes some room: ", i, string(make([]byte, 500))))
		require.NoError(t, err)
	}
	require.NoError(t, db.Checkpoint(t.Context()))
	r := c.do("GET", "/_changes?since=0", "")
	require.Equal(t, 410, r.status, r.body)
	var first uint64
	_, err := fmt.Sscanf(r.body[len(r.body)-len(`"since":000}`)+1:], `since":%d}`, &first)
	if err != nil {
		first = db.FeedHorizon()
	}
	require.Equal(t, db.FeedHorizon(), first)
	r = c.do("GET", fmt.Sprintf("/_changes?since=%d&limit=1", first), "")
	require.Equal(t, 200, r.status)
	require.Contains(t, r.body, fmt.Sprintf(`{"seq":%d,`, first+1))
}
