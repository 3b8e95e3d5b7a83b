package feed_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/feed"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

var ctx = context.Background()

const muchBytes = 64 << 20

// definitions are those that collections go through: of each of four, four.
var definitions = func() (out [4][4]*catalog.Collection) {
	cat := new(catalog.Catalog)
	for c := range out {
		var next *catalog.Catalog
		for v := range out[c] {
			text := fmt.Sprintf("create collection c%d (v%d int, s text)", c, v)
			if c == 3 { // one with a wide definition
				text = strings.TrimSuffix(text, ")") + wide() + ")"
			}
			tree, err := ql.Parse(text)
			if err == nil {
				next, out[c][v], err = cat.Create(tree.(*ql.CreateCollection))
			}
			if err != nil {
				panic(err)
			}
		}
		cat = next
	}
	return out
}()

func wide() string {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, ", field%d text", i)
	}
	return b.String()
}

// entry is what is kept of an operation.
type entry struct {
	Seq, Block uint64
	At         int64
	Definition string // encoded
	Op         string
}

func entryOf(e feed.Entry) entry {
	return entry{e.Seq, e.Block, e.At, string(e.Collection.Append(nil)), string(e.Op)}
}

// An operation of these tests says in its first two bytes which collection it is
// of and how that is defined.
func definitionOf(op []byte) *catalog.Collection { return definitions[op[0]][op[1]] }

// world is a store with a feed, and the list of what should be in it.
type world struct {
	t       *testing.T
	r       *rand.Rand
	mem     *waltest.Mem // of the log, or nil for a file
	path    string
	limit   int64
	opts    store.Options
	s       *store.Store
	f       *feed.Feed
	now     int64
	version [4]int  // of the collections' definitions
	model   []entry // past horizon
	horizon uint64
	copies  int
}

func newWorld(t *testing.T, seed uint64, limit int64) *world {
	w := &world{
		t: t, r: rand.New(rand.NewPCG(seed, 8)), limit: limit, now: 1_700_000_000_000,
		mem: waltest.NewMem(), path: filepath.Join(t.TempDir(), "acme.fenec"),
	}
	w.open()
	t.Cleanup(func() { require.NoError(t, w.s.Close()) })
	return w
}

func (w *world) options() store.Options {
	o := w.opts
	o.Owners, o.Load, o.Replay, o.FS = []store.Owner{w.f}, w.f.Load, w.replay, w.mem
	o.CompactRatio, o.Clock = -1, func() time.Time { return time.UnixMilli(w.now) }
	return o
}

func (w *world) open() {
	w.t.Helper()
	w.f, w.s = feed.New(w.limit), nil
	var err error
	w.s, err = store.Open(w.path, w.options())
	require.NoError(w.t, err)
}

// reopen closes the store, which folds what it holds, and opens it again.
func (w *world) reopen() {
	w.t.Helper()
	require.NoError(w.t, w.s.Close())
	w.open()
}

// crash goes on with the files as the end of the process leaves them.
func (w *world) crash() {
	w.t.Helper()
	left := w.leave(w.mem.Clone())
	require.NoError(w.t, w.s.Close())
	w.mem, w.path = left.mem, left.path
	w.open()
}

// leave returns another world, which is not open, with a copy of the base and mem.
func (w *world) leave(mem *waltest.Mem) *world {
	w.t.Helper()
	w.copies++
	left := *w
	left.s, left.f, left.mem, left.opts = nil, nil, waltest.NewMem(), store.Options{}
	left.path = filepath.Join(w.t.TempDir(), fmt.Sprintf("copy%d.fenec", w.copies))
	left.model = slices.Clone(w.model)
	file, err := os.ReadFile(w.path)
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(left.path, file, 0o600))
	for _, name := range mem.Names() {
		b, err := mem.ReadFile(name)
		require.NoError(w.t, err)
		left.mem.WriteFile(left.path+strings.TrimPrefix(name, w.path), b)
	}
	return &left
}

// randomOps are up to most operations of up to size bytes.
func (w *world) randomOps(most, size int) [][]byte {
	ops := make([][]byte, 1+w.r.IntN(most))
	c := w.r.IntN(4)
	for i := range ops {
		if w.r.IntN(10) == 0 {
			c = w.r.IntN(4)
		}
		if w.r.IntN(200) == 0 {
			w.version[c] = w.r.IntN(4)
		}
		op := make([]byte, 2+w.r.IntN(size))
		op[0], op[1] = byte(c), byte(w.version[c])
		for j := range op[2:] {
			op[2+j] = byte(w.r.Uint32())
		}
		ops[i] = op
	}
	return ops
}

// write commits one block.
func (w *world) write(ops [][]byte) {
	w.t.Helper()
	if w.r.IntN(3) == 0 {
		w.now += w.r.Int64N(5000) - 500
	}
	b, err := w.s.Begin(ctx, nil)
	require.NoError(w.t, err)
	first := b.Next()
	require.NoError(w.t, w.fill(b, ops))
	ticket, err := b.Commit(func(uint64) { w.f.Append(first, first, b.Time().UnixMilli()) })
	require.NoError(w.t, err)
	require.NoError(w.t, ticket.Wait(ctx))
	for i, op := range ops {
		w.model = append(w.model, entry{first + uint64(i), first, w.now, string(definitionOf(op).Append(nil)), string(op)})
	}
}

// fill makes the operations in b, logs them and adds them to the feed.
func (w *world) fill(b *store.Block, ops [][]byte) error {
	w.f.Begin()
	for _, op := range ops {
		sized := append(binary.AppendUvarint(nil, uint64(len(op))), op...)
		if err := b.Log(sized, 1); err != nil {
			return err
		}
		if err := b.Put(1, op[:1], op); err != nil {
			return err
		}
		w.f.Add(definitionOf(op), op)
	}
	return nil
}

func (w *world) replay(b *store.Block, record []byte) error {
	first := b.Next()
	var ops [][]byte
	for len(record) > 0 {
		n, used := binary.Uvarint(record)
		ops = append(ops, record[used:used+int(n)])
		record = record[used+int(n):]
	}
	if err := w.fill(b, ops); err != nil {
		return err
	}
	w.f.Append(b.Seq()+1, first, b.Time().UnixMilli())
	return nil
}

// read returns the entries in (after, upTo].
func (w *world) read(after, upTo uint64) (found []entry, horizon uint64, ok bool) {
	w.t.Helper()
	horizon, ok, err := w.f.Read(w.s.Base, after, upTo, func(e feed.Entry) bool {
		found = append(found, entryOf(e))
		return true
	})
	require.NoError(w.t, err)
	return found, horizon, ok
}

// check compares the feed with the model, all of it and a part.
func (w *world) check() {
	w.t.Helper()
	w.horizon = max(w.horizon, w.f.Horizon())
	require.Equal(w.t, w.horizon, w.f.Horizon(), "it goes back")
	for len(w.model) > 0 && w.model[0].Seq <= w.horizon {
		w.model = w.model[1:]
	}
	seq := w.s.Seq()
	w.compare(w.horizon, seq)
	if seq > w.horizon {
		from := w.horizon + w.r.Uint64N(seq-w.horizon)
		w.compare(from, from+w.r.Uint64N(seq-from+1))
	}
	require.NoError(w.t, w.verify())
	if w.horizon > 0 {
		found, horizon, ok := w.read(w.horizon-1, seq)
		require.False(w.t, ok)
		require.Empty(w.t, found)
		require.Equal(w.t, w.horizon, horizon)
	}
}

func (w *world) compare(after, upTo uint64) {
	w.t.Helper()
	var want []entry
	for _, e := range w.model {
		if e.Seq > after && e.Seq <= upTo {
			want = append(want, e)
		}
	}
	found, _, ok := w.read(after, upTo)
	require.True(w.t, ok)
	requireSame(w.t, want, found, fmt.Sprintf("from %d to %d, horizon %d", after, upTo, w.horizon))
}

func requireSame(t *testing.T, want, found []entry, what string) {
	t.Helper()
	if slices.Equal(want, found) {
		return
	}
	places := func(list []entry) (out []uint64) {
		for _, e := range list {
			out = append(out, e.Seq)
		}
		return out
	}
	require.Equal(t, places(want), places(found), what)
	require.Equal(t, want, found, what)
}

func (w *world) verify() error {
	r, err := w.s.Read()
	require.NoError(w.t, err)
	defer r.End()
	return feed.Verify(&r.View)
}
