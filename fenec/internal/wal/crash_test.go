package wal_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

// model is what a log promises, beside the log.
type model struct {
	t    *testing.T
	rng  *rand.Rand
	mem  *waltest.Mem
	fs   *waltest.Faults
	opts wal.Options
	log  *wal.Log

	blocks  []block // every block appended, in order
	written *block  // and one that is being appended
	safe    int     // of which so many were said to be on disk
	granted uint64  // reservation that was granted
	clean   bool    // closed cleanly, and nothing after that
	closing bool    // being closed cleanly
	next    uint64  // sequence of the next block
	opened  int     // how often a log was read back
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{t: t, rng: rand.New(rand.NewPCG(seed, 1)), next: 1}
	m.opts.Lazy = seed%4 == 0
	m.use(waltest.NewMem())
	m.create()
	return m
}

func (m *model) use(mem *waltest.Mem) {
	m.mem = mem
	m.fs = waltest.Inject(mem, m.hook)
	m.opts.FS = m.fs
}

// hook now and then looks at what a crash right before an operation leaves.
func (m *model) hook(op waltest.Op) *waltest.Fault {
	if m.log == nil || op.Kind == waltest.Read || m.rng.IntN(10) > 0 {
		return nil
	}
	var got []block
	rec, err := wal.Read(path, base, wal.Options{FS: m.mem.Crash(m.rng)}, collect(&got))
	require.NoError(m.t, err, "crash before %+v", op)
	all := m.blocks
	if m.written != nil {
		all = append(slices.Clone(all), *m.written)
	}
	m.compare(got, all)
	m.opened++
	if rec.Empty {
		require.True(m.t, m.opts.Lazy && m.granted == 0)
		return nil
	}
	require.GreaterOrEqual(m.t, rec.Reserved, m.granted)
	if rec.Clean {
		require.True(m.t, m.clean || m.closing)
		require.Len(m.t, got, len(m.blocks))
	}
	return nil
}

// compare requires that blocks read back are a beginning of all there were and
// hold those that were said to be on disk.
func (m *model) compare(got, all []block) {
	require.GreaterOrEqual(m.t, len(got), m.safe)
	require.LessOrEqual(m.t, len(got), len(all))
	if len(got) > 0 {
		require.Equal(m.t, all[:len(got)], got)
	}
}

func (m *model) create() {
	m.log = nil // nothing is promised until there is one
	var err error
	m.log, err = wal.Create(path, wal.Header{Base: base, Reserved: m.granted}, m.opts)
	require.NoError(m.t, err)
}

// step does one random thing.
func (m *model) step() {
	switch n := m.rng.IntN(100); {
	case n < 40:
		m.append()
	case n < 50:
		m.appendParts()
	case n < 55:
		m.giveUpParts()
	case n < 75:
		m.sync()
	case n < 80:
		m.reserve()
	case n < 84:
		m.failWrite()
	case n < 86:
		m.failSync()
	case n < 89:
		m.closeClean()
	case n < 92:
		require.NoError(m.t, m.log.Close())
		m.reopen(m.mem)
	case n < 94:
		m.reopen(m.mem.Crash(nil))
	default:
		m.reopen(m.mem.Crash(m.rng))
	}
}

func (m *model) block() block {
	size := m.rng.IntN(100)
	switch m.rng.IntN(12) {
	case 0:
		size = m.rng.IntN(20_000)
	case 1:
		size = 0
	}
	b := numbered(int(m.next), size)
	b.from += uint64(m.rng.IntN(3))
	b.to = b.from - 1 + uint64(m.rng.IntN(3))
	b.millis = m.rng.Int64() - m.rng.Int64()
	return b
}

// writing has write append b.
func (m *model) writing(b block, write func()) {
	m.written = &b
	write()
	m.written = nil
	m.blocks = append(m.blocks, b)
	m.next = max(m.next, b.to+1)
	m.clean = false
}

func (m *model) append() {
	b := m.block()
	m.writing(b, func() { add(m.t, m.log, b) })
}

func (m *model) appendParts() {
	b := m.block()
	size := 1 + len(b.payload)/(1+m.rng.IntN(4))
	m.writing(b, func() { addParts(m.t, m.log, b, size) })
}

func (m *model) giveUpParts() {
	b := m.block().wal()
	for range 1 + m.rng.IntN(3) {
		require.NoError(m.t, m.log.AppendPart(b))
		m.clean = false
	}
	switch m.rng.IntN(3) {
	case 0:
		m.sync()
	case 1:
		m.reopen(m.mem.Crash(m.rng))
		return
	}
	require.NoError(m.t, m.log.Cutback())
}

func (m *model) sync() {
	sync(m.t, m.log)
	m.safe = len(m.blocks)
}

func (m *model) reserve() {
	upTo := m.next + uint64(m.rng.IntN(100))
	require.NoError(m.t, m.log.Reserve(upTo))
	if upTo > m.granted {
		m.granted = upTo
		m.clean = false
		m.safe = len(m.blocks) // it flushes
	}
}

// failWrite has a block refused half way.
func (m *model) failWrite() {
	if m.clean {
		m.append() // so that the write to fail is not that of the header
	}
	b := m.block()
	m.fs.SetHook(waltest.ShortWrite(1, m.rng.Int64N(100), errDisk))
	_, err := m.log.Append(b.wal())
	require.ErrorIs(m.t, err, errDisk)
	m.fs.SetHook(m.hook)
	if m.rng.IntN(2) == 0 {
		m.sync()
	}
	require.NoError(m.t, m.log.Close())
	if m.rng.IntN(2) == 0 {
		m.reopen(m.mem)
	} else {
		m.reopen(m.mem.Crash(m.rng))
	}
}

func (m *model) failSync() {
	m.append()
	m.fs.SetHook(waltest.Fail(waltest.Sync, 1, errDisk))
	require.ErrorIs(m.t, m.log.Sync(context.Background()), errDisk)
	m.fs.SetHook(m.hook)
	require.NoError(m.t, m.log.Close())
	m.reopen(m.mem.Crash(m.rng))
}

func (m *model) closeClean() {
	m.closing = true
	require.NoError(m.t, m.log.CloseClean())
	m.closing, m.clean = false, true
	m.safe = len(m.blocks)
	if m.rng.IntN(2) == 0 {
		m.reopen(m.mem.Crash(m.rng))
	} else {
		m.reopen(m.mem)
	}
}

// reopen opens the log as it is in mem and compares what it finds.
func (m *model) reopen(mem *waltest.Mem) {
	lossless := mem == m.mem
	m.use(mem)
	var got []block
	l, rec, err := wal.Open(path, base, m.opts, collect(&got))
	require.NoError(m.t, err)
	m.compare(got, m.blocks)
	if lossless {
		require.Len(m.t, got, len(m.blocks))
	}
	m.opened++
	m.blocks = m.blocks[:len(got)]
	if rec.Empty {
		require.True(m.t, m.opts.Lazy)
		require.Zero(m.t, m.granted)
		m.safe = 0
		m.create()
		return
	}
	require.Equal(m.t, m.clean, rec.Clean)
	require.GreaterOrEqual(m.t, rec.Reserved, m.granted)
	m.granted = max(m.granted, rec.Reserved)
	m.next = max(rec.Last+1, m.next)
	m.log = l
	if !m.opts.Lazy || rec.Cut > 0 {
		m.safe = len(got)
	}
}

func TestRandomCrashes(t *testing.T) {
	runs := uint64(200)
	if testing.Short() {
		runs = 30
	}
	opened := 0
	for seed := range runs {
		m := newModel(t, seed)
		for range 60 {
			m.step()
		}
		m.reopen(m.mem.Crash(m.rng))
		opened += m.opened
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	require.Greater(t, opened, int(runs)*10)
}
