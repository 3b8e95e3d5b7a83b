package mirror

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
)

// timed returns how long a write takes.
func (p *place) timed() time.Duration {
	began := time.Now()
	p.write(1)
	return time.Since(began)
}

// A write is answered when it is in the sockets of those who keep up: one that is stuck
// costs a second once.
func TestStuckSocketCostsASecondOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrimary(t)
		s, _ := p.stream("")
		s.writes()
		synctest.Wait() // it has been sent all there is

		require.GreaterOrEqual(t, p.timed(), sentWait)
		require.True(t, p.source.Load().Peers()[0].Lags)
		for range 5 {
			require.Less(t, p.timed(), sentWait/2)
		}

		for range 6 { // it catches up, and is waited for again
			s.writes()
			synctest.Wait()
			if !p.source.Load().Peers()[0].Lags {
				break
			}
		}
		require.False(t, p.source.Load().Peers()[0].Lags)
		require.GreaterOrEqual(t, p.timed(), sentWait)
	})
}

// A replica that is being sent an image keeps nobody waiting.
func TestNobodyWaitsForAnImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrimary(t)
		_, _ = p.stream("image=1")
		synctest.Wait()
		require.True(t, p.source.Load().Peers()[0].Image)
		require.Less(t, p.timed(), sentWait/2)
	})
}

// What may be answered before it is on disk is not sent, and so waits for nobody.
func TestLoosePolicyWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrimary(t, with(func(o *fenec.Options) { o.Sync = fenec.Sync(time.Hour) }))
		p.use(func(db *fenec.DB) { require.NoError(t, db.Sync(context.Background())) })
		s, _ := p.stream("")
		s.writes()
		synctest.Wait()
		require.False(t, p.source.Load().Peers()[0].Lags)
		require.Zero(t, p.timed().Truncate(time.Millisecond))
	})
}

// A write whose context ends while it waits stands.
func TestWaitingWriteEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrimary(t)
		s, _ := p.stream("")
		s.writes()
		synctest.Wait()
		ctx, stop := context.WithTimeout(context.Background(), sentWait/2)
		defer stop()
		p.use(func(db *fenec.DB) {
			_, err := db.Exec(ctx, `put notes {n: 1}`)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			var unconfirmed *fenec.UnconfirmedError
			require.ErrorAs(t, err, &unconfirmed)
			require.EqualValues(t, 2, db.LastWrite())
		})
	})
}

// The primary is killed right after it has answered: no answered write is missing.
func TestNoAnsweredWriteIsMissing(t *testing.T) {
	primary, replica := newPrimary(t), newReplica(t)
	for range 10 {
		replica.follow(primary)
		replica.keepsUp(primary)
		primary.write(3)
		primary.dial.part(true)
		replica.caughtUp(primary)
		replica.unfollow()
		primary.kill()
		primary.dial.part(false)
	}
}

// keepsUp waits until the primary's writes wait for p.
func (p *place) keepsUp(primary *place) {
	p.t.Helper()
	eventually(p.t, func() bool {
		for _, peer := range primary.source.Load().Peers() {
			if !peer.Lags {
				return true
			}
		}
		return false
	}, "nobody keeps up; the replica's log:\n%s", func() []any { return []any{p.log} })
}

func reporting(o *SourceOptions) { o.Reports = true }

func TestHeldByReplicas(t *testing.T) {
	primary := newPlace(t, sending(func(o *SourceOptions) { o.Held = 2 }))
	late := with(func(o *fenec.Options) { o.Sync = fenec.Sync(time.Hour) }) // a report needs no policy
	a, b := newReplica(t, late), newReplica(t)
	a.follow(primary)
	b.follow(primary)
	primary.exec(`create collection notes (title text, n int)`)
	primary.write(3)
	for _, p := range []*place{a, b} {
		p.use(func(db *fenec.DB) { require.EqualValues(t, primary.last(), min(db.SyncedSeq(), db.LastWrite())) })
	}
	for _, peer := range primary.source.Load().Peers() {
		require.EqualValues(t, primary.last(), peer.Held)
	}
}

// Fewer copies than were asked for: the error says how many there are, and the write
// stands.
func TestTooFewHoldIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		primary := newPrimary(t, sending(reporting))
		replica := newReplica(t)
		replica.follow(primary)
		replica.caughtUp(primary)
		primary.use(func(db *fenec.DB) {
			_, err := db.Exec(WithHeld(context.Background(), 1), `put notes {n: 1}`)
			require.NoError(t, err)

			began := time.Now()
			_, err = db.Exec(WithHeld(context.Background(), 2), `put notes {n: 1}`)
			var held *HeldError
			require.ErrorAs(t, err, &held)
			require.Equal(t, HeldError{Seq: 3, Want: 2, Have: 1}, *held)
			require.ErrorContains(t, err, "the write stands here, but 1 of 2")
			require.GreaterOrEqual(t, time.Since(began), 5*time.Second)
			require.EqualValues(t, 3, db.LastWrite())

			_, err = db.Exec(WithHeld(context.Background(), 0), `put notes {n: 1}`)
			require.NoError(t, err)
		})
	})
}

// Where nobody is asked to report, nobody is waited for.
func TestHeldWithoutReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrimary(t)
		p.use(func(db *fenec.DB) {
			began := time.Now()
			_, err := db.Exec(WithHeld(context.Background(), 1), `put notes {n: 1}`)
			var held *HeldError
			require.ErrorAs(t, err, &held)
			require.Zero(t, held.Have)
			require.Less(t, time.Since(began), time.Second)
		})
	})
}

// One replica is one copy, however often it connects; one without a name is none.
func TestCopiesAreCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPrimary(t, sending(reporting))
		for range 2 {
			s, _ := p.stream("", headerReplica, "n2/acme")
			s.writes()
			p.ask("POST", "/held?seq=1&stream="+s.res.Header.Get(headerHeld))
		}
		nameless, _ := p.stream("")
		require.Empty(t, nameless.res.Header.Get(headerHeld))
		nameless.writes()
		p.ask("POST", "/held?seq=1&stream=3")
		require.ErrorAs(t, p.source.Load().confirmHeld(context.Background(), 1, 2), new(*HeldError))
		require.NoError(t, p.source.Load().confirmHeld(context.Background(), 1, 1))
	})
}

// Writers beside each other and replicas that come and go.
func TestConfirmBesideCuts(t *testing.T) {
	primary, replica := newPrimary(t, sending(reporting)), newReplica(t)
	replica.follow(primary)
	var writers sync.WaitGroup
	errs := make(chan error, 100)
	for range 4 {
		writers.Go(func() {
			db, release, err := primary.single.Use(context.Background())
			if err != nil {
				errs <- err
				return
			}
			defer release()
			for range 25 {
				if _, err := db.Exec(context.Background(), `put notes {n: 1}`); err != nil {
					errs <- err
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for going := true; going; {
		select {
		case <-done:
			going = false
		case <-time.After(10 * time.Millisecond):
			primary.dial.cut()
		}
	}
	close(errs)
	require.NoError(t, errors.Join(<-errs))
	replica.caughtUp(primary)
	requireSame(t, primary, replica)
}

// A report of more than was sent is not believed.
func TestHeldIsNoMoreThanSent(t *testing.T) {
	var a replication.Audience
	a.Join(1, "n2")
	a.Sent(1, 5, true)
	a.Held(1, 100)
	require.Equal(t, 1, a.Copies(5))
	require.Zero(t, a.Copies(6))
}

func TestParseCopies(t *testing.T) {
	for _, tc := range []struct {
		text        string
		least, want int
	}{{"0", 0, 0}, {"2", 0, 2}, {"2", 3, 3}, {"64", 1, 64}} {
		got, err := ParseCopies(tc.text, tc.least)
		require.NoError(t, err)
		require.Equal(t, tc.want, got)
	}
	for _, text := range []string{"", "-1", "65", "two", "1.5"} {
		_, err := ParseCopies(text, 0)
		require.ErrorContains(t, err, "Fenec-Replicas", text)
	}
}
