package mirror

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
)

func TestRoutes(t *testing.T) {
	p := newPrimary(t)
	p.ask(http.MethodGet, "/nothing").refused(http.StatusNotFound, "nothing")
	p.ask(http.MethodGet, "/status/more").refused(http.StatusNotFound, "nothing")
	p.ask(http.MethodPost, "").refused(http.StatusMethodNotAllowed, "POST")
	p.ask(http.MethodPost, "/status").refused(http.StatusMethodNotAllowed, "POST")
	p.ask(http.MethodGet, "/promote").refused(http.StatusMethodNotAllowed, "GET")
	p.ask(http.MethodPost, "/promote").refused(http.StatusConflict, "not a replica")
	p.ask(http.MethodPost, "/held?stream=1&seq=x").refused(http.StatusBadRequest, "seq")
	p.ask(http.MethodPost, "/held?stream=1&seq=2").refused(http.StatusNotFound, "stream")
	p.ask(http.MethodGet, "?since=-1").refused(http.StatusBadRequest, "since")
	p.ask(http.MethodGet, "?history=12").refused(http.StatusBadRequest, "history")
	p.ask(http.MethodGet, "?image=2").refused(http.StatusBadRequest, "image")
	p.ask(http.MethodGet, "", "Fenec-Replica", p.source.Load().opts.Instance).refused(http.StatusConflict, "itself")
	p.ask(http.MethodGet, "", "Authorization", "Bearer wrong").refused(http.StatusUnauthorized, "token")
}

func TestNoFeed(t *testing.T) {
	p := newPrimary(t, with(func(o *fenec.Options) { o.FeedBytes = 0 }))
	p.ask(http.MethodGet, "").refused(http.StatusConflict, "no feed")
	status := p.ask(http.MethodGet, "/status").body(http.StatusOK)
	require.Equal(t, map[string]any{"role": "primary", "seq": 1.0, "history": p.history().Lineage.Current().String()}, status)
}

func TestStreamHead(t *testing.T) {
	p := newPrimary(t)
	s, hello := p.stream("since=0")
	require.False(t, hello.Image)
	require.Equal(t, p.history(), hello.History)
	require.EqualValues(t, 1, hello.Seq)
	require.EqualValues(t, 1, hello.Durable)
	require.Equal(t, "no-cache, no-transform", s.res.Header.Get("Cache-Control"))
	require.Equal(t, "no", s.res.Header.Get("X-Accel-Buffering"))
	require.True(t, s.res.Close)
	require.EqualValues(t, -1, s.res.ContentLength)
	require.Empty(t, s.res.Header.Get("Fenec-Held"))
	require.EqualValues(t, 1, s.writes().First)
}

// Only what is on disk is sent, and what comes to the disk together in one message.
func TestOnlyWhatIsOnDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrimary(t, with(func(o *fenec.Options) { o.Sync = fenec.Sync(time.Hour) }))
		p.use(func(db *fenec.DB) { require.NoError(t, db.Sync(context.Background())) })
		s, hello := p.stream("since=0")
		require.EqualValues(t, 1, s.writes().First)
		p.write(2)
		m, ok := s.next().(replication.Alive)
		require.True(t, ok)
		require.EqualValues(t, 3, m.Seq)
		require.EqualValues(t, 1, m.Durable)
		require.Greater(t, m.Time, hello.Time)
		p.use(func(db *fenec.DB) { require.NoError(t, db.Sync(context.Background())) })
		w := s.writes()
		require.EqualValues(t, 2, w.First)
		require.Len(t, w.Times, 2)
		require.NotZero(t, w.Times[0])
	})
}

func TestAliveAndDigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrimary(t)
		s, _ := p.stream("since=0&digest=" + fenec.Version)
		s.writes()
		began := time.Now()
		require.Equal(t, replication.Alive{Seq: 1, Durable: 1, Time: began.Add(aliveAfter).UnixMilli()}, s.next())
		d, ok := s.next().(replication.Digest)
		require.True(t, ok)
		require.EqualValues(t, 1, d.Seq)
		require.Equal(t, []replication.CollectionDigest{{Name: "notes"}}, d.Collections)
		require.Equal(t, aliveAfter, time.Since(began))
		for range 2 { // it is sent once
			require.IsType(t, replication.Alive{}, s.next())
		}
		require.Equal(t, 3*aliveAfter, time.Since(began))
		p.write(1)
		s.writes()
		require.IsType(t, replication.Alive{}, s.next())
		require.EqualValues(t, 2, s.next().(replication.Digest).Seq)

		other, _ := p.stream("since=2&history=" + p.history().Lineage.Current().String() + "&digest=another")
		for range 3 {
			require.IsType(t, replication.Alive{}, other.next())
		}
	})
}

func TestWhereStreamsBegin(t *testing.T) {
	p := newPrimary(t)
	p.exec(`put notes [{n:1},{n:2},{n:3}]`) // changes 2 to 4
	p.write(1)
	own := p.history().Lineage.Current().String()
	for query, first := range map[string]uint64{ // 0 is an image
		"":                               1,
		"since=0&history=" + own:         1,
		"since=1&history=" + own:         2,
		"since=2&history=" + own:         0, // within a block
		"since=3&history=" + own:         0,
		"since=4&history=" + own:         5,
		"since=4":                        0, // of the root
		"since=4&history=" + id(0x123):   0,
		"since=6&history=" + own:         0, // ahead
		"since=4&image=1&history=" + own: 0,
		"image=1":                        0,
	} {
		s, hello := p.stream(query)
		require.Equal(t, first == 0, hello.Image, query)
		if first != 0 {
			require.EqualValues(t, first, s.writes().First, query)
			continue
		}
		require.EqualValues(t, 5, hello.Seq, query)
		require.Positive(t, s.image(), query)
	}
}

func id(n uint64) string { return replication.ID(n).String() }

// A stream goes on behind its image.
func TestWritesFollowAnImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrimary(t)
		p.write(3)
		s, _ := p.stream("image=1")
		s.image()
		p.write(1)
		require.EqualValues(t, 5, s.writes().First)
	})
}

// After an unclean end the sequence is ahead of the last write; streams tell of writes.
func TestPositionsAreThoseOfWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrimary(t)
		p.write(3)
		p.kill()
		p.use(func(db *fenec.DB) { require.Greater(t, db.Seq(), uint64(4)) })
		s, hello := p.stream("since=4&history=" + p.history().Lineage.Current().String())
		require.False(t, hello.Image)
		require.EqualValues(t, 4, hello.Seq)
		require.EqualValues(t, 4, hello.Durable)
		p.write(1)
		require.Greater(t, s.writes().First, uint64(1000))
		require.EqualValues(t, 4.0, hello.Seq)
	})
}

func TestRestartAndClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrimary(t)
		s, _ := p.stream("")
		other, _ := p.stream("")
		p.source.Load().Restart("an image was adopted")
		require.Equal(t, "an image was adopted", s.end())
		require.Equal(t, "an image was adopted", other.end())
		again, _ := p.stream("")
		source := p.source.Load()
		source.Close("the tenant is being moved")
		source.Close("again")
		require.Equal(t, "the tenant is being moved", again.end())
		synctest.Wait()
		require.Empty(t, source.Peers())
		p.ask(http.MethodGet, "").refused(http.StatusServiceUnavailable, "closed")
	})
}

// A replica that connects again takes the place of its older stream.
func TestOneStreamAReplica(t *testing.T) {
	p := newPrimary(t)
	s, _ := p.stream("", headerReplica, "n2/acme")
	_, _ = p.stream("", headerReplica, "n2/acme")
	require.Contains(t, s.end(), "again")
	eventually(t, func() bool { return len(p.source.Load().Peers()) == 1 }, "", func() []any { return nil })
}

func TestPromoteRoute(t *testing.T) {
	primary, replica := newPrimary(t), newReplica(t)
	replica.follow(primary)
	replica.caughtUp(primary)
	replica.unfollow()
	downstream, _ := replica.stream("")
	got := replica.ask(http.MethodPost, "/promote").body(http.StatusOK)
	h := replica.history()
	require.False(t, h.Following)
	require.Equal(t, map[string]any{"promoted": true, "seq": 1.0, "history": h.Lineage.Current().String()}, got)
	require.Contains(t, downstream.end(), "promoted")
	replica.ask(http.MethodPost, "/promote").refused(http.StatusConflict, "not a replica")
}

func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		primary, replica := newPrimary(t), newReplica(t)
		primary.write(2)
		replica.follow(primary)
		replica.caughtUp(primary)
		synctest.Wait()
		own := primary.history().Lineage.Current().String()
		require.Equal(t, map[string]any{
			"role": "primary", "seq": 3.0, "history": own, "durable": 3.0,
			"replicas": []any{map[string]any{"peer": "pipe", "sent": 3.0, "image": false}},
		}, primary.ask(http.MethodGet, "/status").body(http.StatusOK))
		got := replica.ask(http.MethodGet, "/status").body(http.StatusOK)
		contact := got["last_contact_ms"]
		require.Less(t, contact, 1000.0)
		lag := got["lag_ms"]
		require.Less(t, lag, 1000.0)
		require.Equal(t, map[string]any{
			"role": "replica", "seq": 3.0, "history": own, "durable": 3.0, "replicas": []any{},
			"primary": "http://primary:1", "connected": true, "primary_durable": 3.0, "behind": 0.0,
			"last_contact_ms": contact, "lag_ms": lag, "images": 0.0, "reconnects": 0.0, "diverged": 0.0,
		}, got)
	})
}

// What the feed no longer has ends the stream of who is behind.
func TestFallingBehind(t *testing.T) {
	primary, replica := newPrimary(t, with(func(o *fenec.Options) { o.FeedBytes = 8000 })), newReplica(t)
	r := replica.follow(primary)
	replica.caughtUp(primary)
	primary.dial.part(true)
	for range 200 {
		primary.exec(`put notes {title: $1}`, fmt.Sprintf("%0100d", 7))
	}
	primary.use(func(db *fenec.DB) { require.NoError(t, db.Checkpoint(context.Background())) })
	primary.dial.part(false)
	replica.caughtUp(primary)
	requireSame(t, primary, replica)
	eventually(t, func() bool { return r.Status().Images == 1 }, "%s", func() []any { return []any{replica.log} })
}

// A stream that does not read for ten seconds is dropped.
func TestStuckReplicaIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrimary(t)
		_, _ = p.stream("")
		began := time.Now()
		eventually(t, func() bool { return len(p.source.Load().Peers()) == 0 }, "", func() []any { return nil })
		require.Equal(t, sendTimeout, time.Since(began).Truncate(time.Second))
	})
}
