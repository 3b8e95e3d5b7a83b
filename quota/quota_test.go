package quota_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
)

func TestNoQuotaAllowsEverything(t *testing.T) {
	var q *quota.Quota
	require.NoError(t, q.Enter())
	require.NoError(t, q.OpenStream())
	require.NoError(t, q.MayWrite())
	q.Leave()
	q.CloseStream()
	q.Recount()
	q.Remove()
	require.Empty(t, q.Warning())
	require.Equal(t, quota.Limits{}, q.Limits())
	requests, streams := q.Open()
	require.Zero(t, requests+streams)
}

func TestRequestsInFlight(t *testing.T) {
	db := openDB(t, fenec.Options{})
	q := quota.New(db, quota.Limits{Requests: 2}, nil)
	require.NoError(t, q.Enter())
	require.NoError(t, q.Enter())
	require.Equal(t, &quota.Refusal{Key: "requests", Limit: 2, Wait: 1}, refusal(t, q.Enter()))
	q.Leave()
	require.NoError(t, q.Enter())

	// What is open stays counted when the limits change.
	q.Set(quota.Limits{Requests: 3})
	require.NoError(t, q.Enter())
	require.NotNil(t, refusal(t, q.Enter()))
	q.Set(quota.Limits{Requests: 1})
	q.Leave()
	q.Leave()
	require.NotNil(t, refusal(t, q.Enter()))
	q.Remove()
	require.NoError(t, q.Enter())
	requests, _ := q.Open()
	require.EqualValues(t, 2, requests)
}

func TestStreams(t *testing.T) {
	db := openDB(t, fenec.Options{})
	q := quota.New(db, quota.Limits{Streams: 2}, nil)
	require.NoError(t, q.OpenStream())
	require.NoError(t, q.OpenStream())
	require.Equal(t, &quota.Refusal{Key: "streams", Limit: 2, Wait: 1}, refusal(t, q.OpenStream()))
	_, streams := q.Open()
	require.EqualValues(t, 2, streams)
	q.CloseStream()
	require.NoError(t, q.OpenStream())
}

func TestRequestsPerSecond(t *testing.T) {
	clk := newClock()
	q := quota.New(openDB(t, fenec.Options{}), quota.Limits{Requests: 100, RequestsPerSecond: 5}, clk.now)
	for range 5 {
		require.NoError(t, q.Enter())
		q.Leave()
	}
	refused := &quota.Refusal{Key: "requests_per_second", Limit: 5, Wait: 1}
	require.Equal(t, refused, refusal(t, q.Enter()))
	requests, _ := q.Open()
	require.Zero(t, requests, "a request that is refused is not in flight")
	clk.pass(199 * time.Millisecond)
	require.Equal(t, refused, refusal(t, q.Enter()))
	clk.pass(time.Millisecond)
	require.NoError(t, q.Enter())
	require.Equal(t, refused, refusal(t, q.Enter()))
	q.Set(q.Limits())
	require.NoError(t, q.Enter(), "setting limits fills the buckets")
}

func TestRowsPerSecond(t *testing.T) {
	clk := newClock()
	db := openDB(t, fenec.Options{})
	exec(t, db, "create collection _keys (k text)")
	q := quota.New(db, quota.Limits{RowsPerSecond: 10}, clk.now)
	list := make([]map[string]any, 25)
	require.Nil(t, run(t, db, q, "put c $1", list))
	refused := &quota.Refusal{Key: "rows_per_second", Limit: 10, Wait: 2}
	require.Equal(t, refused, run(t, db, q, "put c {}"))
	clk.pass(1599 * time.Millisecond)
	require.NotNil(t, run(t, db, q, "put c {}"))
	clk.pass(time.Millisecond)
	require.Nil(t, run(t, db, q, "put c {}"))
	require.NotNil(t, run(t, db, q, "put c {}"))

	clk.pass(time.Second)
	require.Nil(t, run(t, db, q, "put _keys $1", list), "the server's own rows are not counted")
	for range 9 {
		require.Nil(t, run(t, db, q, "put c {}"))
	}
	_, err := db.Exec(t.Context(), "put c {nothing: 1}")
	require.Error(t, err)
	require.Nil(t, run(t, db, q, "del c where id <= 5"), "a write that fails is not charged")
	require.Equal(t, &quota.Refusal{Key: "rows_per_second", Limit: 10, Wait: 1}, run(t, db, q, "put c {}"), "a delete is")
}

func TestBytesPerSecond(t *testing.T) {
	clk := newClock()
	db := openDB(t, fenec.Options{})
	q := quota.New(db, quota.Limits{BytesPerSecond: 1000, RowsPerSecond: 1000}, clk.now)
	for range 5 {
		require.Nil(t, run(t, db, q, "put c {s: $1}", strings.Repeat("x", 10)))
	}
	require.Nil(t, run(t, db, q, "put c {s: $1}", strings.Repeat("x", 5000)))
	r := run(t, db, q, "put c {}")
	require.Equal(t, "bytes_per_second", r.Key)
	require.InDelta(t, 6, r.Wait, 1)
	clk.pass(time.Duration(r.Wait-1) * time.Second)
	require.Equal(t, int64(1), run(t, db, q, "put c {}").Wait)
	clk.pass(time.Second)
	require.Nil(t, run(t, db, q, "put c {}"))
}

// Of two rates that are used up, the one counts that takes longer.
func TestTheLongerWaitIsTold(t *testing.T) {
	db := openDB(t, fenec.Options{})
	q := quota.New(db, quota.Limits{BytesPerSecond: 1, RowsPerSecond: 1}, newClock().now)
	require.Nil(t, run(t, db, q, "put c {}"))
	require.Equal(t, "bytes_per_second", run(t, db, q, "put c {}").Key)
	q.Set(quota.Limits{BytesPerSecond: 1 << 20, RowsPerSecond: 1})
	require.Nil(t, run(t, db, q, "put c $1", make([]map[string]any, 9)))
	require.Equal(t, &quota.Refusal{Key: "rows_per_second", Limit: 1, Wait: 9}, run(t, db, q, "put c {}"))
}

// A long block that fails after parts of it were asked about costs nothing.
func TestAFailedLongBlockIsNotCharged(t *testing.T) {
	clk := newClock()
	db := openDB(t, fenec.Options{})
	q := quota.New(db, quota.Limits{BytesPerSecond: 1 << 20, RowsPerSecond: 10, Bytes: 1 << 40}, clk.now)
	put := fenec.Statement{Text: "put c $1", Args: []any{longRows(20)}}
	_, err := db.Batch(t.Context(), []fenec.Statement{put, {Text: "put nowhere {}"}})
	require.ErrorIs(t, err, fenec.ErrNotFound)
	require.NoError(t, q.MayWrite())
	require.Nil(t, run(t, db, q, "put c {}"))
	require.NoError(t, q.MayWrite(), "it is not charged afterwards either")

	require.Nil(t, run(t, db, q, put.Text, put.Args...))
	r := refusal(t, q.MayWrite())
	require.Equal(t, "bytes_per_second", r.Key)
	require.InDelta(t, 20, r.Wait, 2)
}

// longRows are n rows of a MiB.
func longRows(n int) []map[string]any {
	list := make([]map[string]any, n)
	for i := range list {
		list[i] = map[string]any{"s": strings.Repeat("x", 1<<20)}
	}
	return list
}

func TestWarning(t *testing.T) {
	db := openDB(t, fenec.Options{})
	q := quota.New(db, quota.Limits{Rows: 5}, nil)
	for i := range 5 {
		require.Nil(t, run(t, db, q, "put c {}"))
		require.Equal(t, i == 4, q.Warning() == quota.KeyRows, "%d rows", i+1)
	}
	require.Nil(t, run(t, db, q, "del c where id = 1"))
	require.Empty(t, q.Warning(), "80 %% is not past 80 %%")

	live := stats(t, db).LiveBytes
	q.Set(quota.Limits{Rows: 5, Bytes: live})
	require.Equal(t, quota.KeyBytes, q.Warning(), "the fuller one")
	q.Set(quota.Limits{Bytes: live * 2})
	require.Empty(t, q.Warning())
	q.Remove()
	require.Empty(t, q.Warning())
}
