package mirror

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

func TestReplicaFollows(t *testing.T) {
	primary, replica := newPrimary(t), newReplica(t)
	primary.write(10)
	r := replica.follow(primary)
	replica.caughtUp(primary)
	primary.exec(`put notes [{title: 'a'}, {title: 'b'}]`)
	replica.caughtUp(primary)
	requireSame(t, primary, replica)
	require.Zero(t, r.Status().Images)
	replica.use(func(db *fenec.DB) {
		_, err := db.Exec(context.Background(), `put notes {title: 'own'}`)
		require.ErrorIs(t, err, fenec.ErrReplica)
	})
}

// A block of ten writes arrives whole.
func TestBlocksArriveWhole(t *testing.T) {
	primary, replica := newPrimary(t), newReplica(t)
	replica.follow(primary)
	replica.caughtUp(primary)
	before := replica.last()
	var seen []uint64
	replica.use(func(db *fenec.DB) {
		primary.exec(`put notes [{n:1},{n:2},{n:3},{n:4},{n:5},{n:6},{n:7},{n:8},{n:9},{n:10}]`)
		require.NoError(t, db.WaitSeq(context.Background(), before+1))
		seen = append(seen, db.Seq())
	})
	require.Equal(t, []uint64{before + 10}, seen)
}

// What goes on without an image: the images that each case takes.
func TestWhoNeedsAnImage(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(primary, replica *place)
		images  uint64
	}{
		"the primary is killed":  {func(primary, _ *place) { primary.kill() }, 0},
		"it is killed and wrote": {func(primary, _ *place) { primary.kill(); primary.write(3) }, 0},
		"it is killed twice": {func(primary, _ *place) {
			primary.kill()
			primary.write(1)
			primary.kill()
		}, 0},
		"the primary is restarted": {func(primary, _ *place) { primary.restart() }, 0},
		"the replica is restarted": {func(_, replica *place) { replica.restart() }, 0},
		"the replica is killed":    {func(_, replica *place) { replica.kill() }, 0},
		"both are killed":          {func(primary, replica *place) { primary.kill(); replica.kill() }, 0},
		"the replica made writes of its own": {func(_, replica *place) {
			replica.promote()
			replica.write(1)
		}, 1},
		"the replica was promoted and wrote nothing": {func(_, replica *place) { replica.promote() }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			primary, replica := newPrimary(t), newReplica(t)
			primary.write(5)
			replica.follow(primary)
			replica.caughtUp(primary)
			replica.unfollow()
			c.happens(primary, replica)
			primary.write(5)
			r := replica.follow(primary)
			replica.caughtUp(primary)
			primary.write(5)
			replica.caughtUp(primary)
			requireSame(t, primary, replica)
			require.Equal(t, c.images, r.Status().Images, "%s", replica.log)
		})
	}
}

// Promoted at some write, and others join: the old primary with writes past it, a
// sibling that is behind.
func TestJoiningAPromoted(t *testing.T) {
	old, promoted, sibling := newPrimary(t), newReplica(t), newReplica(t)
	old.write(17)
	sibling.follow(old)
	sibling.caughtUp(old)
	sibling.unfollow()
	old.write(2)
	promoted.follow(old)
	promoted.caughtUp(old)
	h := promoted.promote()
	old.write(5)
	promoted.write(3)

	require.Zero(t, followed(t, sibling, promoted).Images)
	require.EqualValues(t, 1, followed(t, old, promoted).Images)
	for _, p := range []*place{old, sibling} {
		require.Equal(t, h.Lineage, p.history().Lineage)
		requireSame(t, promoted, p)
	}
	require.Contains(t, promoted.log.String(), "is sent an image")
	require.Contains(t, old.log.String(), "KEPT", "though the numbers of the promoted are past all it had")
	require.NotContains(t, sibling.log.String(), "KEPT")
}

// followed makes a place follow another until it is caught up.
func followed(t *testing.T, p, primary *place) ReplicaStatus {
	t.Helper()
	r := p.follow(primary)
	p.caughtUp(primary)
	eventually(t, func() bool { return r.Status().Behind == 0 }, "%v", func() []any { return []any{r.Status()} })
	return r.Status()
}

// A promotion of the primary itself reaches a replica that is attached, with the lineage.
func TestPromotionReachesReplicasOfReplicas(t *testing.T) {
	first, second, third := newPrimary(t), newReplica(t), newReplica(t)
	first.write(5)
	second.follow(first)
	r := third.follow(second)
	third.caughtUp(first)
	requireSame(t, first, third)
	require.Equal(t, first.history().Lineage, third.history().Lineage)

	h := second.promote()
	second.source.Load().Restart("promoted")
	second.write(2)
	third.caughtUp(second)
	requireSame(t, second, third)
	require.Equal(t, h.Lineage, third.history().Lineage)
	require.Zero(t, r.Status().Images)
}

// A lineage is on the replica's disk before any write that belongs to it.
func TestHistoryComesBeforeWrites(t *testing.T) {
	first, second, third := newPrimary(t), newReplica(t), newReplica(t)
	first.write(5)
	second.follow(first)
	third.follow(second)
	third.caughtUp(first)
	h := second.promote()
	second.write(1) // the stream notices by itself that the history has changed
	third.caughtUp(second)
	third.kill()
	require.Equal(t, h.Lineage, third.history().Lineage)
}

func TestTwoReplicasOfOne(t *testing.T) {
	primary, a, b := newPrimary(t), newReplica(t), newReplica(t)
	a.follow(primary)
	primary.write(10)
	b.follow(primary)
	primary.write(10)
	a.caughtUp(primary)
	b.caughtUp(primary)
	requireSame(t, primary, a)
	requireSame(t, primary, b)
	require.Len(t, primary.source.Load().Peers(), 2)
}

// A primary that was put back to an older state lacks writes that its replica has: the
// replica takes its image, and both say so.
func TestRestoredPrimary(t *testing.T) {
	for _, wrote := range []int{0, 3} {
		t.Run(fmt.Sprintf("after %d writes", wrote), func(t *testing.T) {
			primary, replica := newPrimary(t), newReplica(t)
			primary.write(5)
			old := copied(t, primary)
			primary.write(5)
			replica.follow(primary)
			replica.caughtUp(primary)
			replica.unfollow()
			require.NoError(t, primary.single.Close())
			primary.dir = old
			primary.open()
			primary.write(wrote)

			r := replica.follow(primary)
			eventually(t, func() bool { return r.Status().Images == 1 }, "%s", func() []any { return []any{replica.log} })
			replica.caughtUp(primary)
			requireSame(t, primary, replica)
			require.Contains(t, primary.log.String(), "is sent an image")
			if wrote == 0 {
				require.Contains(t, primary.log.String(), "lacks writes that the replica has")
			}
			require.Contains(t, replica.log.String(), "given up")
			require.Contains(t, replica.log.String(), "is KEPT at "+replica.path()+Replaced)
			lost, err := fenec.Open(replica.path()+Replaced, fenec.Options{})
			require.NoError(t, err)
			defer lost.Close()
			require.EqualValues(t, 11, lost.LastWrite())
		})
	}
}

// A feed that begins at a database which was killed before goes on from its last write.
func TestFeedBegunAfterAnUncleanEnd(t *testing.T) {
	primary, replica := newPrimary(t, with(func(o *fenec.Options) { o.FeedBytes = 0 })), newReplica(t)
	primary.write(5)
	primary.opts.FeedBytes = 1 << 20
	primary.kill()
	replica.follow(primary)
	replica.caughtUp(primary)
	replica.unfollow()
	r := replica.follow(primary)
	replica.keepsUp(primary)
	primary.write(1)
	replica.caughtUp(primary)
	requireSame(t, primary, replica)
	require.Zero(t, r.Status().Images, "%s", replica.log)
}

// A replica is complete once it has caught up with a primary that is.
func TestReplicaBecomesComplete(t *testing.T) {
	first, second, third := newPrimary(t), newReplica(t), newReplica(t)
	first.write(5)
	require.True(t, second.history().Incomplete)
	second.ask("POST", "/promote").refused(409, "not caught up")
	third.follow(second)
	third.caughtUp(second)
	require.True(t, third.history().Incomplete, "as its primary is")

	second.follow(first)
	second.caughtUp(first)
	third.caughtUp(first)
	for _, p := range []*place{second, third} {
		eventually(t, func() bool { return !p.history().Incomplete }, "%s", func() []any { return []any{p.log} })
	}
}

// An image makes a replica as complete as what sent it.
func TestImageOfAnIncompleteReplica(t *testing.T) {
	first, second, third := newPrimary(t), newReplica(t), newPrimary(t)
	first.write(5)
	second.follow(first)
	second.caughtUp(first)
	second.unfollow()
	second.use(func(db *fenec.DB) { require.NoError(t, db.Follow(context.Background())) })
	r := third.follow(second)
	eventually(t, func() bool { return r.Status().Images == 1 && r.Status().Connected }, "", func() []any { return nil })
	third.caughtUp(second)
	eventually(t, func() bool { return third.history().Incomplete }, "", func() []any { return nil })
	second.follow(first)
	eventually(t, func() bool { return !third.history().Incomplete }, "%s", func() []any { return []any{third.log} })
}

// A primary whose file was put back by hand gives out numbers again. They are other writes.
func TestNumbersGivenOutAgain(t *testing.T) {
	primary, replica := newPrimary(t), newReplica(t)
	primary.write(5)
	primary.restart()
	require.NoError(t, primary.single.Close())
	old, err := os.ReadFile(primary.path())
	require.NoError(t, err)
	primary.open()
	primary.write(5)
	replica.follow(primary)
	replica.caughtUp(primary)
	replica.unfollow()
	require.NoError(t, primary.single.Close())
	require.NoError(t, os.WriteFile(primary.path(), old, 0o600))
	primary.open()
	for range 8 {
		primary.exec(`put notes {title: 'another'}`)
	}
	require.Less(t, replica.last(), primary.last())

	r := replica.follow(primary)
	replica.caughtUp(primary)
	requireSame(t, primary, replica)
	eventually(t, func() bool { return r.Status().Images == 1 }, "%s", func() []any { return []any{replica.log} })
	require.Contains(t, primary.log.String(), "put back to an older state")
}

// A replica knows which numbers its primary may have given out, though no write has them.
func TestReplicaKnowsTheNumbers(t *testing.T) {
	primary, replica := newPrimary(t), newReplica(t)
	primary.write(3)
	for range 3 {
		primary.kill()
		primary.write(1)
	}
	primary.kill()
	replica.follow(primary)
	replica.caughtUp(primary)
	var numbers uint64
	primary.use(func(db *fenec.DB) { numbers = db.Seq() })
	require.Greater(t, numbers, uint64(3<<20))
	replica.use(func(db *fenec.DB) {
		eventually(t, func() bool { return db.Seq() >= numbers }, "%d < %d", func() []any { return []any{db.Seq(), numbers} })
	})
	primary.write(1)
	replica.caughtUp(primary)
	requireSame(t, primary, replica)
	require.Zero(t, replica.replica.Load().Status().Images)
}
