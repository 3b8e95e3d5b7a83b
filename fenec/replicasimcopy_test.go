package fenec_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
	"github.com/fenec-go/fenecdb/replication"
)

// simDisk is where a copy lies: its logs in memory, so that it is known what a crash
// leaves of them, its base in a file.
type simDisk struct {
	mem    *waltest.Mem
	faults *waltest.Faults
	path   string
}

func newSimDisk(dir string) *simDisk {
	mem := waltest.NewMem()
	return &simDisk{mem: mem, faults: waltest.Inject(mem, nil), path: filepath.Join(dir, "db.fenec")}
}

// heal lets all operations succeed from now on.
func (d *simDisk) heal() { d.faults.SetHook(nil) }

// fail lets the nth flush from now on fail.
func (d *simDisk) fail(nth int) {
	d.faults.SetHook(waltest.Fail(waltest.Sync, d.faults.Count(waltest.Sync)+nth, errors.New("the disk fails")))
}

// after returns what the end of the process leaves, or, with r, that of the machine's
// power.
func (d *simDisk) after(dir string, r *rand.Rand) (*simDisk, error) {
	mem := d.mem.Clone()
	if r != nil {
		mem = d.mem.Crash(r)
	}
	left := newSimDisk(dir)
	base, err := os.ReadFile(d.path)
	if err == nil {
		err = os.WriteFile(left.path, base, 0o600)
	}
	for _, name := range mem.Names() {
		b, rerr := mem.ReadFile(name)
		err = errors.Join(err, rerr)
		left.mem.WriteFile(left.path+strings.TrimPrefix(name, d.path), b)
	}
	return left, err
}

// simCopy is one copy, and the process that has it open.
type simCopy struct {
	s        *simulation
	name     string
	disk     *simDisk
	db       *fenec.DB // nil while the process is down
	follower replication.Follower
	stream   *simStream // from the primary, or nil

	audience  *replication.Audience // of its streams, as a primary
	out       []*simStream
	answering *simWrite // that is being answered
}

// simStream is a stream to a copy, with the messages on their way.
type simStream struct {
	id        uint64
	from, to  *simCopy
	sent      uint64 // the last write on its way
	way       []simMessage
	delivered uint64
	cut       bool   // what was on its way is lost
	least     uint64 // the primary's last write when it began
	seq       uint64 // and what its sequence was
}

type simMessage struct {
	records []byte
	times   []int64
	last    uint64
}

// broken reports whether the write was lost on its way.
func (x *simStream) broken(seq uint64) bool { return x.cut && x.delivered < seq }

func newSimCopy(s *simulation, name string) *simCopy {
	return &simCopy{s: s, name: name, disk: newSimDisk(s.t.TempDir())}
}

// start opens the file, in the role that it has, or follows if another is the primary.
func (c *simCopy) start() {
	if c.db != nil {
		return
	}
	opts := fenec.Options{
		Sync: fenec.SyncAlways, FeedBytes: 4 << 10, IdleCheckpoint: time.Hour, SweepInterval: -1, CompactRatio: -1, NoCheckpoint: true,
	}
	if c.s.r.IntN(3) == 0 {
		opts.FeedBytes = 1 << 20
	}
	var err error
	c.db, err = fenec.Open(c.disk.path, opts.WithFiles(c.disk.faults))
	require.NoError(c.s.t, err)
	c.s.t.Cleanup(func() {
		if c.db != nil {
			_ = c.db.Close()
		}
	})
	c.s.t.Logf("%s begins, at %d of %d, %v", c.name, c.db.LastWrite(), c.db.Seq(), c.db.History())
	if c.s.primary == nil {
		return
	}
	if c != c.s.primary {
		c.follow()
		return
	}
	// It was promoted, or never told otherwise; but a promotion that the directory knows
	// of was on disk before.
	require.False(c.s.t, c.db.History().Following)
	c.serve()
}

// follow makes the copy follow the primary.
func (c *simCopy) follow() {
	c.audience, c.out = nil, nil
	c.follower = replication.Follower{}
	if h := c.db.History(); h.Following && c.s.follows[c] == c.s.primary {
		c.serve()
		return
	}
	c.s.follows[c] = c.s.primary
	c.s.t.Logf("%s follows %s", c.name, c.s.primary.name)
	if err := c.db.Follow(c.s.t.Context()); err != nil {
		require.ErrorIs(c.s.t, err, fenec.ErrFailed)
		c.stop(false)
		return
	}
	c.serve()
}

// serve begins to serve streams.
func (c *simCopy) serve() {
	for _, x := range c.out {
		x.to.stream = nil
	}
	c.audience, c.out = new(replication.Audience), nil
	c.db.SetConfirm(func(_ context.Context, seq uint64) error {
		c.send()
		if !c.audience.Reached(seq) {
			c.audience.Missed(seq)
		}
		if w := c.answering; w != nil {
			w.seq = seq
			for _, x := range c.out {
				if !x.cut && x.sent >= seq {
					w.reached = append(w.reached, x)
				}
			}
		}
		return nil
	})
}

// send puts what is on disk on its way to those who keep up with their streams.
func (c *simCopy) send() {
	for _, x := range c.out {
		if len(x.way) > 40 || x.cut {
			continue // its socket is full, or gone
		}
		blocks, err := c.db.FeedBlocks(c.s.t.Context(), x.sent, 1<<10)
		for err == nil && len(blocks) > 0 {
			m := simMessage{last: blocks[len(blocks)-1].Last}
			for _, b := range blocks {
				m.records, m.times = append(m.records, b.Record...), append(m.times, b.At)
			}
			x.way, x.sent = append(x.way, m), m.last
			blocks, err = c.db.FeedBlocks(c.s.t.Context(), x.sent, 1<<10)
		}
		if errors.Is(err, fenec.ErrHistoryGone) { // it fell behind the feed
			x.to.cut()
			continue
		}
		require.NoError(c.s.t, err)
		c.audience.Sent(x.id, x.sent, x.sent == c.db.LastWrite())
	}
}

// cut ends the stream to c with all that is on its way.
func (c *simCopy) cut() {
	if c.stream == nil {
		return
	}
	c.stream.cut = true
	c.stream.from.lose(c.stream)
	c.stream, c.follower.Backoff = nil, replication.Backoff{}
}

func (c *simCopy) lose(x *simStream) {
	if c.audience != nil {
		c.audience.Leave(x.id)
	}
	c.out = slices.DeleteFunc(c.out, func(y *simStream) bool { return x == y })
}

// stop ends the process, or, without process, the machine: what it has sent arrives only
// of the former.
func (c *simCopy) stop(process bool) {
	if c.db == nil {
		return
	}
	var r *rand.Rand
	if !process {
		r = c.s.r
	}
	c.s.t.Logf("%s ends, process %v, at %d of %d", c.name, process, c.db.LastWrite(), c.db.Seq())
	left, err := c.disk.after(c.s.t.TempDir(), r)
	require.NoError(c.s.t, err)
	_ = c.db.CloseUnfolded()
	c.db, c.disk = nil, left
	if c.s.r.IntN(4) == 0 {
		c.disk.fail(3 + c.s.r.IntN(20))
	}
	if c.stream != nil {
		c.cut()
	}
	for _, x := range slices.Clone(c.out) {
		if !process {
			x.to.cut()
		}
	}
	c.out, c.audience = nil, nil
}

// fold folds what has been written, or not.
func (c *simCopy) fold() {
	if c.db != nil {
		if err := c.db.Checkpoint(c.s.t.Context()); err != nil {
			c.stop(false)
		}
	}
}

// connect asks the primary for a stream.
func (c *simCopy) connect() {
	p := c.s.primary
	if c.stream != nil || c == p || c.db == nil || p.db == nil {
		return
	}
	if c.s.follows[c] != p {
		if c.follow(); c.db == nil {
			return
		}
	}
	ctx := c.s.t.Context()
	at := func() replication.Position {
		return replication.Position{Last: c.db.LastWrite(), Lineage: c.db.History().Lineage}
	}
	asked := c.follower.Ask(at())
	hello := replication.Hello{Seq: p.db.LastWrite(), History: p.db.History()}
	_, err := p.db.FeedBlocks(ctx, asked.Since, 1)
	hello.Image = asked.Image || err != nil || !hello.History.Lineage.Continued(asked.History, asked.Since, hello.Seq)
	greeting, err := c.follower.Greet(at(), hello)
	require.NoError(c.s.t, err)
	if greeting.Image && !c.takeImage(hello.History.Lineage) {
		return
	}
	if greeting.Lineage != nil {
		if err := c.db.TakeOver(ctx, greeting.Lineage); err != nil {
			c.stop(false)
			return
		}
	}
	c.s.streams++
	c.stream = &simStream{id: c.s.streams, from: p, to: c, sent: c.db.LastWrite(), delivered: c.db.LastWrite(), least: hello.Seq, seq: p.db.Seq()}
	c.caughtUp()
	c.s.t.Logf("%s is sent from %d, image %v", c.name, asked.Since, greeting.Image)
	p.audience.Join(c.stream.id, c.name)
	p.out = append(p.out, c.stream)
	p.send()
}

// takeImage replaces the copy by an image of the primary; a part of the times it does not
// come to that.
func (c *simCopy) takeImage(l replication.Lineage) bool {
	ctx := c.s.t.Context()
	var image bytes.Buffer
	if err := c.s.primary.db.Image(ctx, &image); err != nil {
		c.s.primary.stop(false)
		return false
	}
	if c.s.r.IntN(4) == 0 {
		image.Truncate(image.Len() / 2)
		_, err := fenec.ReceiveReplica(c.disk.path, &image, replication.History{Lineage: l})
		require.ErrorIs(c.s.t, err, fenec.ErrImage)
		return false
	}
	arrival, err := fenec.ReceiveReplica(c.disk.path, &image, replication.History{Lineage: l})
	require.NoError(c.s.t, err)
	_ = c.db.CloseUnfolded()
	require.NoError(c.s.t, arrival.Replace())
	require.NoError(c.s.t, arrival.Close())
	c.db = nil
	c.start()
	c.follower.Stored()
	return c.db != nil
}

// deliver has the next message arrive.
func (c *simCopy) deliver() {
	x := c.stream
	if x == nil || c.db == nil {
		return
	}
	if len(x.way) == 0 {
		if x.from.db == nil || x.from.audience == nil || !slices.Contains(x.from.out, x) {
			c.stream = nil // it has ended
		}
		return
	}
	m := x.way[0]
	x.way = x.way[1:]
	last, err := c.db.Apply(c.s.t.Context(), m.records, m.times)
	if err != nil {
		require.ErrorIs(c.s.t, err, fenec.ErrFailed)
		c.stop(false)
		return
	}
	require.Equal(c.s.t, m.last, last)
	x.delivered = last
	c.s.t.Logf("%s has %d", c.name, last)
	c.caughtUp()
}

// caughtUp notes that the copy has what its primary had when the stream began.
func (c *simCopy) caughtUp() {
	if c.stream == nil || c.stream.delivered < c.stream.least {
		return
	}
	if err := c.db.CaughtUp(c.s.t.Context(), c.stream.seq); err != nil {
		require.ErrorIs(c.s.t, err, fenec.ErrFailed)
		c.stop(false)
	}
}

func (c *simCopy) deliverAll() {
	for c.db != nil && c.stream != nil && len(c.stream.way) > 0 {
		c.deliver()
	}
}

// has reports whether the copy has the row of w.
func (c *simCopy) has(w simWrite) bool {
	found, err := c.db.Query(c.s.t.Context(), "get log where n = $1", w.n)
	require.NoError(c.s.t, err)
	return found.Len() > 0
}

// rows returns the rows of log, by id.
func (c *simCopy) rows() map[uint64]int {
	found, err := c.db.Query(c.s.t.Context(), "get log")
	require.NoError(c.s.t, err)
	return logRows(c.s, found)
}

func logRows(s *simulation, found *fenec.Result) map[uint64]int {
	rows, err := fenec.Collect[struct {
		ID uint64
		N  int
	}](found)
	require.NoError(s.t, err)
	out := map[uint64]int{}
	for _, row := range rows {
		out[row.ID] = row.N
	}
	return out
}

// simReader is a subscriber that goes on from its cursor, wherever the primary is.
type simReader struct {
	s    *simulation
	at   uint64
	held map[uint64]int
}

func (r *simReader) rows() map[uint64]int { return r.held }

func (r *simReader) read() {
	db := r.s.primary.db
	if db == nil {
		return
	}
	if r.held == nil {
		r.at, r.held = fenec.NoCursor, map[uint64]int{}
	} else if changed, err := db.Changed(r.s.t.Context(), r.at, "log"); err == nil && !changed {
		return
	}
	sub, err := db.Subscribe(r.s.t.Context(), fenec.Shape{Collection: "log"}, r.at)
	require.NoError(r.s.t, err)
	defer sub.Close()
	ev, err := sub.Next(r.s.t.Context())
	require.NoError(r.s.t, err)
	told := logRows(r.s, ev.Rows)
	if ev.Kind == fenec.EventSeed {
		r.held = map[uint64]int{}
	}
	maps.Copy(r.held, told)
	for _, id := range ev.Dels {
		delete(r.held, id)
	}
	r.at = ev.Seq
}
