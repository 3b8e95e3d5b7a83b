package fenec_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
)

// pair is a primary and a database that follows it, by hand.
type pair struct {
	t                *testing.T
	primary, replica *fenec.DB
	paths            [2]string
}

var fed = fenec.Options{FeedBytes: 1 << 20, SweepInterval: -1}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{t: t}
	for i, db := range []**fenec.DB{&p.primary, &p.replica} {
		p.paths[i] = filepath.Join(t.TempDir(), "db.fenec")
		var err error
		*db, err = fenec.Open(p.paths[i], fed)
		require.NoError(t, err)
		t.Cleanup(func() { _ = (*db).Close() })
	}
	_, err := p.primary.BeginHistory(t.Context())
	require.NoError(t, err)
	require.NoError(t, p.replica.Follow(t.Context()))
	return p
}

func (p *pair) exec(text string, args ...any) {
	p.t.Helper()
	_, err := p.primary.Exec(p.t.Context(), text, args...)
	require.NoError(p.t, err)
}

// catchUp applies what the replica lacks, and returns the blocks that were sent.
func (p *pair) catchUp() (sent []fenec.FeedBlock) {
	p.t.Helper()
	ctx := p.t.Context()
	require.NoError(p.t, p.primary.Sync(ctx))
	require.NoError(p.t, p.replica.TakeOver(ctx, p.primary.History().Lineage))
	for {
		blocks, err := p.primary.FeedBlocks(ctx, p.replica.LastWrite(), 1000)
		require.NoError(p.t, err)
		if len(blocks) == 0 {
			require.NoError(p.t, p.replica.CaughtUp(ctx, p.primary.Seq()))
			return sent
		}
		var records []byte
		var times []int64
		for _, b := range blocks {
			records, times = append(records, b.Record...), append(times, b.At)
		}
		last, err := p.replica.Apply(ctx, records, times)
		require.NoError(p.t, err)
		require.Equal(p.t, blocks[len(blocks)-1].Last, last)
		require.Equal(p.t, last, p.replica.LastWrite())
		sent = append(sent, blocks...)
	}
}

// same compares the two copies, row by row and index by index.
func (p *pair) same() {
	p.t.Helper()
	require.Equal(p.t, p.primary.LastWrite(), p.replica.LastWrite())
	require.Equal(p.t, dump(p.t, p.primary), dump(p.t, p.replica))
	a, err := p.primary.Digest(p.t.Context())
	require.NoError(p.t, err)
	b, err := p.replica.Digest(p.t.Context())
	require.NoError(p.t, err)
	require.Equal(p.t, a.Root(), b.Root())
	require.Equal(p.t, p.primary.Collections(), p.replica.Collections())
}

func dump(t *testing.T, db *fenec.DB) (out []string) {
	t.Helper()
	for _, name := range db.Collections() {
		res, err := db.Query(t.Context(), "get "+name)
		require.NoError(t, err)
		b, err := res.AppendJSON(nil)
		require.NoError(t, err)
		out = append(out, name+" "+string(b))
	}
	return out
}

func TestReplicaHasEveryWrite(t *testing.T) {
	p := newPair(t)
	p.exec("create collection notes (who text @hash, n int @sorted, body text @text)")
	p.exec("put notes {who: 'a', n: 1, body: 'one fish'}")
	_, err := p.primary.Batch(t.Context(), []fenec.Statement{
		{Text: "put notes {who: 'b', n: 2, body: 'two fish'}"}, {Text: "put notes {who: 'c', n: 3, body: 'red fish'}"}, {Text: "del notes where id = 1"},
	})
	require.NoError(t, err)
	p.exec("alter collection notes add at timestamp")
	p.exec("set notes {who: 'bb'} where n = 2")
	p.exec("create collection gone (x int)")
	p.exec("drop collection gone")
	sent := p.catchUp()
	require.Len(t, sent, 7, "a block each")
	require.Equal(t, sent[1].Last+1, sent[2].First)
	require.Equal(t, sent[2].First+2, sent[2].Last, "of three writes")
	p.same()
	require.Equal(t, p.primary.Seq(), p.replica.Seq())
	res, err := p.replica.Query(t.Context(), "get notes match body 'two' select who")
	require.NoError(t, err)
	require.Equal(t, 1, res.Len())
	changes, _, err := p.replica.Changes(t.Context(), 0, 100)
	require.NoError(t, err)
	same, _, err := p.primary.Changes(t.Context(), 0, 100)
	require.NoError(t, err)
	require.Equal(t, same, changes, "numbers and times too")
	require.NoError(t, p.replica.Close())
	require.NoError(t, fenec.Check(p.paths[1]))
}

func TestReplicaRefusesWritesOfItsOwn(t *testing.T) {
	p := newPair(t)
	p.exec("create collection notes (n int, at timestamp @ttl(1h))")
	p.exec("put notes {n: 1, at: 1}")
	p.catchUp()
	ctx := t.Context()
	for _, text := range []string{"put notes {n: 2}", "del notes where id = 1", "create collection more (x int)", "drop collection notes",
		"alter collection notes add x int", "create index on notes (n) @sorted", "compact"} {
		_, err := p.replica.Exec(ctx, text)
		require.ErrorIs(t, err, fenec.ErrReplica, text)
	}
	_, err := p.replica.Sweep(ctx)
	require.ErrorIs(t, err, fenec.ErrReplica)
	_, err = p.replica.Update(ctx, func(tx *fenec.Tx) error { _, err := tx.Exec(ctx, "put notes {n: 2}"); return err })
	require.ErrorIs(t, err, fenec.ErrReplica)
	_, err = p.primary.Sweep(ctx)
	require.NoError(t, err)
	p.catchUp()
	p.same()
	require.ErrorIs(t, p.primary.TakeOver(ctx, nil), fenec.ErrNotReplica)
	_, err = p.primary.Promote(ctx, false)
	require.ErrorIs(t, err, fenec.ErrNotReplica)
	require.ErrorIs(t, p.primary.CaughtUp(ctx, 1), fenec.ErrNotReplica)
	_, err = p.primary.Apply(ctx, []byte{3, 1, 1, 1}, []int64{1})
	require.ErrorIs(t, err, fenec.ErrNotReplica)
}

// The role is the file's, however it was closed.
func TestRoleOfTheFile(t *testing.T) {
	for name, end := range map[string]func(*fenec.DB) error{"folded": (*fenec.DB).Close, "in the log": (*fenec.DB).CloseUnfolded} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			p.exec("create collection notes (n int)")
			p.catchUp()
			l := p.primary.History().Lineage
			require.Len(t, l, 1)
			require.NoError(t, p.replica.TakeOver(t.Context(), l))
			reopen := func() {
				t.Helper()
				require.NoError(t, end(p.replica))
				require.NoError(t, fenec.Check(p.paths[1]))
				var err error
				p.replica, err = fenec.Open(p.paths[1], fed)
				require.NoError(t, err)
			}
			reopen()
			require.Equal(t, replication.History{Following: true, Lineage: l}, p.replica.History())
			p.exec("put notes {n: 1}")
			p.catchUp()
			p.same()
			last := p.replica.LastWrite()
			h, err := p.replica.Promote(t.Context(), false)
			require.NoError(t, err)
			require.False(t, h.Following)
			require.Len(t, h.Lineage, 2)
			require.Equal(t, last, h.Lineage[1].From)
			seq := p.replica.Seq()
			require.Greater(t, seq, last)
			reopen()
			require.Equal(t, h, p.replica.History())
			require.GreaterOrEqual(t, p.replica.Seq(), seq)
			require.Equal(t, last, p.replica.LastWrite())
			_, err = p.replica.Exec(t.Context(), "put notes {n: 2}")
			require.NoError(t, err)
			require.Greater(t, p.replica.LastWrite(), seq)
		})
	}
}

func TestRecordsThatDoNotGoOn(t *testing.T) {
	p := newPair(t)
	p.exec("create collection notes (n int)")
	for n := range 5 {
		p.exec("put notes {n: $1}", n)
	}
	ctx := t.Context()
	require.NoError(t, p.primary.Sync(ctx))
	blocks, err := p.primary.FeedBlocks(ctx, 0, 1<<20)
	require.NoError(t, err)
	require.Len(t, blocks, 6)
	apply := func(list ...fenec.FeedBlock) error {
		var records []byte
		var times []int64
		for _, b := range list {
			records, times = append(records, b.Record...), append(times, b.At)
		}
		_, err := p.replica.Apply(ctx, records, times)
		return err
	}
	require.ErrorIs(t, apply(blocks[1]), fenec.ErrGap)
	require.ErrorIs(t, apply(blocks[0], blocks[2]), fenec.ErrGap)
	require.EqualValues(t, 1, p.replica.LastWrite(), "what came before it stands")
	require.ErrorIs(t, apply(blocks[0]), fenec.ErrGap, "again")
	require.NoError(t, apply(blocks[1:]...))
	p.same()

	_, err = p.primary.FeedBlocks(ctx, 7, 1)
	require.ErrorIs(t, err, fenec.ErrHistoryGone, "ahead")
	_, err = p.primary.Batch(ctx, []fenec.Statement{{Text: "put notes {n: 6}"}, {Text: "put notes {n: 7}"}})
	require.NoError(t, err)
	require.NoError(t, p.primary.Sync(ctx))
	_, err = p.primary.FeedBlocks(ctx, 7, 1)
	require.ErrorIs(t, err, fenec.ErrHistoryGone, "within a block")

	damaged := bytes.Clone(blocks[0].Record)
	for i := range damaged {
		for _, bit := range []byte{1, 0x80} {
			damaged[i] ^= bit
			_, err := p.replica.Apply(ctx, damaged, []int64{1})
			require.Error(t, err)
			damaged[i] ^= bit
		}
		_, err := p.replica.Apply(ctx, damaged[:i], []int64{1})
		require.True(t, i == 0 || err != nil)
	}
	p.catchUp()
	p.same()
}

// A cursor that no write has is none to go on from: the numbers may have been another
// database's, which had more of the same history.
func TestCursorsAmongLostNumbers(t *testing.T) {
	p := newPair(t)
	p.exec("create collection notes (n int)")
	p.catchUp()
	_, err := p.replica.Promote(t.Context(), false)
	require.NoError(t, err)
	_, err = p.replica.FeedBlocks(t.Context(), 2, 1)
	require.ErrorIs(t, err, fenec.ErrHistoryGone)
	_, err = p.replica.Exec(t.Context(), "put notes {n: 1}")
	require.NoError(t, err)
	require.NoError(t, p.replica.Sync(t.Context()))
	_, err = p.replica.FeedBlocks(t.Context(), 2, 1)
	require.ErrorIs(t, err, fenec.ErrHistoryGone)
	blocks, err := p.replica.FeedBlocks(t.Context(), 1, 1)
	require.NoError(t, err)
	require.Len(t, blocks, 1)
}

// An index that was built beside other work is built by the replica as it comes to the
// block that installs it.
func TestReplicaBuildsIndexes(t *testing.T) {
	p := newPair(t)
	p.exec("create collection notes (who text, n int, body text, v vector<2>)")
	_, err := p.primary.Load(t.Context(), "put notes {who: $1, n: $2, body: $3, v: $4}", func(yield func([]any, error) bool) {
		for n := range 6000 {
			if !yield([]any{fmt.Sprint("who ", n%50), n, fmt.Sprint("fish number ", n%100), []float32{float32(n), 1}}, nil) {
				return
			}
		}
	})
	require.NoError(t, err)
	p.catchUp()
	for _, text := range []string{"create index on notes (who) @hash", "create index on notes (n) @unique", "create index on notes (body) @text", "create index on notes (v) @hnsw(l2)"} {
		p.exec(text)
	}
	p.exec("put notes {who: 'who 1', n: 9999, body: 'fish number 1', v: [1, 1]}")
	p.catchUp()
	p.same()
	for _, text := range []string{"get notes where who = 'who 1' select n order n", "get notes where n = 17", "get notes match body 'number 7' limit 20", "get notes near v [17, 1] limit 3 select n"} {
		a, err := p.primary.Query(t.Context(), text)
		require.NoError(t, err)
		b, err := p.replica.Query(t.Context(), text)
		require.NoError(t, err)
		want, err := a.AppendJSON(nil)
		require.NoError(t, err)
		got, err := b.AppendJSON(nil)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), text)
	}
	require.NoError(t, p.replica.Close())
	require.NoError(t, fenec.Check(p.paths[1]))
}

// A copy that comes as an image follows, takes the name of the one it replaces, and goes
// on from there.
func TestReplicaOfAnImage(t *testing.T) {
	p := newPair(t)
	p.exec("create collection notes (n int)")
	p.exec("put notes {n: 1}")
	ctx := t.Context()
	image, err := p.primary.OpenImage(ctx)
	require.NoError(t, err)
	l := p.primary.History().Lineage
	arrival, err := fenec.ReceiveReplica(p.paths[1], image, replication.History{Lineage: l})
	require.NoError(t, err)
	require.NoError(t, image.Close())
	require.Empty(t, dump(t, p.replica), "the old copy answers")
	require.NoError(t, p.replica.CloseUnfolded())
	require.NoError(t, arrival.Replace())
	require.NoError(t, arrival.Close())
	require.NoError(t, fenec.Check(p.paths[1]))
	p.replica, err = fenec.Open(p.paths[1], fed)
	require.NoError(t, err)
	require.Equal(t, replication.History{Following: true, Lineage: l}, p.replica.History())
	p.same()
	p.exec("put notes {n: 2}")
	p.catchUp()
	p.same()
	leftovers, err := filepath.Glob(p.paths[1] + "?*")
	require.NoError(t, err)
	require.Equal(t, []string{p.paths[1] + "-log"}, leftovers)
}

// A copy that has not caught up since it began to follow is not promoted unawares.
func TestPromoteIncomplete(t *testing.T) {
	p := newPair(t)
	p.exec("create collection notes (n int)")
	refused := func() {
		t.Helper()
		require.True(t, p.replica.History().Incomplete)
		_, err := p.replica.Promote(t.Context(), false)
		require.ErrorIs(t, err, fenec.ErrIncomplete)
	}
	refused()
	p.restart(1, true)
	refused()
	p.catchUp()
	require.False(t, p.replica.History().Incomplete)
	require.NoError(t, p.replica.Follow(t.Context())) // another one
	refused()
	p.restart(1, false)
	refused()
	h, err := p.replica.Promote(t.Context(), true)
	require.NoError(t, err)
	require.False(t, h.Following || h.Incomplete)
}

// A primary can begin a new history, as one that was promoted in its place and is lost.
func TestFork(t *testing.T) {
	p := newPair(t)
	p.exec("create collection notes (n int)")
	p.catchUp()
	seq := p.primary.Seq()
	h, err := p.primary.Fork(t.Context())
	require.NoError(t, err)
	require.Len(t, h.Lineage, 2)
	require.EqualValues(t, 1, h.Lineage[1].From)
	require.Greater(t, p.primary.Seq(), seq)
	p.exec("put notes {n: 1}")
	p.catchUp()
	p.same()
	_, err = p.replica.Fork(t.Context())
	require.ErrorIs(t, err, fenec.ErrReplica)
	require.ErrorIs(t, p.replica.CaughtUp(t.Context(), 1<<63), fenec.ErrCorrupt)
}

// Random writes, restarts of both and promotions leave equal copies.
func TestReplicaModel(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			p := newPair(t)
			p.exec("create collection notes (who text @hash, n int @sorted, body text @text)")
			for range 150 {
				switch k := r.IntN(20); {
				case k < 10:
					p.exec("put notes {id: $1, who: $2, n: $3, body: $4}", 1+r.IntN(30), fmt.Sprint(r.IntN(5)), r.IntN(9), fmt.Sprint("w", r.IntN(9)))
				case k < 13:
					p.exec("del notes where n = $1", r.IntN(9))
				case k < 15:
					p.exec("set notes {n: $2} where who = $1", fmt.Sprint(r.IntN(5)), r.IntN(9))
				case k < 17:
					p.catchUp()
				case k == 17:
					p.restart(0, r.IntN(2) == 0)
				case k == 18:
					p.restart(1, r.IntN(2) == 0)
				case r.IntN(3) == 0:
					p.catchUp()
					p.swap()
				}
			}
			p.catchUp()
			p.same()
			for i, db := range []*fenec.DB{p.primary, p.replica} {
				require.NoError(t, db.Close())
				require.NoError(t, fenec.Check(p.paths[i]))
			}
		})
	}
}

func (p *pair) restart(i int, folded bool) {
	p.t.Helper()
	db := []**fenec.DB{&p.primary, &p.replica}[i]
	end := (*db).CloseUnfolded
	if folded {
		end = (*db).Close
	}
	require.NoError(p.t, end())
	var err error
	*db, err = fenec.Open(p.paths[i], fed)
	require.NoError(p.t, err)
}

// swap promotes the replica, and has the primary follow it.
func (p *pair) swap() {
	p.t.Helper()
	ctx := context.Background()
	h, err := p.replica.Promote(ctx, false)
	require.NoError(p.t, err)
	require.NoError(p.t, p.primary.Follow(ctx))
	old := p.primary.History().Lineage
	require.True(p.t, h.Lineage.Continued(old.Current(), p.primary.LastWrite(), p.replica.Seq()))
	require.NoError(p.t, p.primary.TakeOver(ctx, h.Lineage))
	p.primary, p.replica = p.replica, p.primary
	p.paths[0], p.paths[1] = p.paths[1], p.paths[0]
}

// The fence is asked again as a block lands, and confirmation before it is answered.
func TestFenceAndConfirm(t *testing.T) {
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	ctx := t.Context()
	_, err = db.Exec(ctx, "create collection notes (n int)")
	require.NoError(t, err)
	lapsed := fmt.Errorf("lapsed")
	asked := 0
	require.NoError(t, db.SetFence(ctx, func() error {
		if asked++; asked == 2 {
			return lapsed
		}
		return nil
	}))
	_, err = db.Batch(ctx, []fenec.Statement{{Text: "put notes {n: 1}"}, {Text: "put notes {n: 2}"}})
	require.ErrorIs(t, err, lapsed)
	require.Equal(t, []string{"notes []"}, dump(t, db))
	var told uint64
	db.SetConfirm(func(_ context.Context, seq uint64) error { told = seq; return nil })
	_, err = db.Exec(ctx, "put notes {n: 1}")
	require.NoError(t, err)
	require.Equal(t, db.Seq(), told)
	db.SetConfirm(func(context.Context, uint64) error { return lapsed })
	_, err = db.Exec(ctx, "put notes {n: 2}")
	require.ErrorIs(t, err, lapsed)
	var stands *fenec.UnconfirmedError
	require.ErrorAs(t, err, &stands)
	require.Equal(t, db.Seq(), stands.Seq)
	require.ErrorContains(t, err, fmt.Sprintf("written as change %d", db.Seq()))
	require.Len(t, dump(t, db), 1)
}
