package store_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

// disk is where a store lies that is to be lost: its logs in memory, so that it
// is known what a crash leaves of them, its base in a file.
type disk struct {
	mem    *waltest.Mem
	faults *waltest.Faults
	path   string
}

func newDisk(t testing.TB) *disk {
	t.Helper()
	mem := waltest.NewMem()
	return &disk{mem: mem, faults: waltest.Inject(mem, nil), path: filepath.Join(t.TempDir(), "db")}
}

// options returns opts for the store on d.
func (d *disk) options(opts store.Options) store.Options {
	opts.FS = d.faults
	if opts.Replay == nil {
		opts.Replay = replayOnce
	}
	return opts
}

func (d *disk) open(t testing.TB, opts store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(d.path, d.options(opts))
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// kill returns what the end of the process at this moment leaves.
func (d *disk) kill(t testing.TB) *disk { return d.leave(t, d.mem.Clone()) }

// crash returns what a loss of power at this moment may leave: without r only
// what was flushed. No fold may be writing.
func (d *disk) crash(t testing.TB, r *rand.Rand) *disk { return d.leave(t, d.mem.Crash(r)) }

// leave copies the base and mem to another disk.
func (d *disk) leave(t testing.TB, mem *waltest.Mem) *disk {
	t.Helper()
	left := newDisk(t)
	base, err := os.ReadFile(d.path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(left.path, base, 0o600))
	for _, name := range mem.Names() {
		b, err := mem.ReadFile(name)
		require.NoError(t, err)
		left.mem.WriteFile(left.path+strings.TrimPrefix(name, d.path), b)
	}
	return left
}

// log returns the bytes of a log, nil if there is none.
func (d *disk) log(t testing.TB, path string) []byte {
	t.Helper()
	b, err := d.mem.ReadFile(path)
	if err != nil {
		require.ErrorIs(t, err, fs.ErrNotExist)
		return nil
	}
	return b
}

// requireWhole opens what was left and checks that it holds between least and
// most counted blocks, each once and whole, and goes on from there.
func (d *disk) requireWhole(t testing.TB, opts store.Options, least, most int) {
	t.Helper()
	require.NoError(t, checkCounted(d.path, d.options(opts)))
	s := d.open(t, opts)
	n := count(t, s)
	require.GreaterOrEqual(t, n, least, "a block that was acknowledged is lost")
	require.LessOrEqual(t, n, most, "a block that was never written")
	write(t, s, counted(n+1, 10)...)
	require.Equal(t, n+1, count(t, s))
	require.NoError(t, s.Close())
	require.NoError(t, checkCounted(d.path, d.options(opts)))
	s = d.open(t, opts)
	require.Equal(t, n+1, count(t, s))
	require.NoError(t, s.Close())
}
