package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

func TestOpenWhatIsNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	_, err := store.Open(path, store.Options{MustExist: true})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoFileExists(t, path)
	_, err = store.Open(filepath.Join(path, "no", "such", "directory"), store.Options{})
	require.Error(t, err)
	_, err = store.Open(path, store.Options{FrontBytes: -1})
	require.ErrorContains(t, err, "negative")
	require.NoFileExists(t, path)
}

func TestOneOpenerAtATime(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{})
	_, err := store.Open(d.path, d.options(store.Options{}))
	require.ErrorIs(t, err, base.ErrInUse)
	write(t, s, counted(1, 10)...)
	_, err = store.Open(d.path, d.options(store.Options{}))
	require.ErrorIs(t, err, base.ErrInUse)
	require.ErrorContains(t, err, fmt.Sprintf("process %d", os.Getpid()), "the log says who it is")
	require.ErrorIs(t, checkCounted(d.path, d.options(store.Options{})), base.ErrInUse)
	require.ErrorIs(t, store.Remove(d.path), base.ErrInUse)
	require.Equal(t, 1, count(t, s))
}

// Of those that open a new file at once one succeeds, and loses nothing to the
// others.
func TestOpeningIsARace(t *testing.T) {
	for range 10 {
		path := filepath.Join(t.TempDir(), "db")
		errs := make(chan error, 6)
		won := make(chan *store.Store, cap(errs))
		var wg sync.WaitGroup
		for range cap(errs) {
			wg.Go(func() {
				s, err := store.Open(path, store.Options{Replay: replayOnce, NoCheckpoint: true})
				if err == nil {
					won <- s
					_, err = tryWrite(s, counted(1, 10)...)
				}
				if !errors.Is(err, base.ErrInUse) {
					errs <- err
				}
			})
		}
		wg.Wait()
		require.Len(t, won, 1)
		require.NoError(t, <-errs)
		require.Empty(t, errs)
		require.FileExists(t, store.LogPath(path))
		require.NoError(t, (<-won).Close())
		require.NoError(t, checkCounted(path, store.Options{}))
		s := open(t, path, store.Options{})
		require.Equal(t, 1, count(t, s))
		require.NoError(t, s.Close())
	}
}

// A log that lies beside a base of another origin is set aside, unread.
func TestForeignLog(t *testing.T) {
	for _, name := range []string{"log", "old log"} {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			s := d.open(t, store.Options{NoCheckpoint: true})
			for i := 1; i < 4; i++ {
				write(t, s, counted(i, 10)...)
			}
			require.NoError(t, s.Close())
			foreign := d.log(t, store.LogPath(d.path))

			d = newDisk(t)
			s = d.open(t, store.Options{})
			write(t, s, op{1, countedKey(1), []byte("mine")})
			require.NoError(t, s.Close())
			path := map[string]string{"log": store.LogPath(d.path), "old log": store.OldLogPath(d.path)}[name]
			d.mem.WriteFile(path, foreign)

			s = d.open(t, store.Options{})
			require.Equal(t, "mine", string(get(t, s, 1, countedKey(1))))
			require.Nil(t, get(t, s, 1, countedKey(2)))
			require.Nil(t, d.log(t, path))
			require.Equal(t, foreign, d.log(t, path+".foreign"), "somebody may want it")
			write(t, s, op{1, "k", []byte("v")})
			require.NoError(t, s.Close())
		})
	}
}

// A base that was deleted takes its log along; a new one begins afresh.
func TestLogWithoutItsBase(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{NoCheckpoint: true})
	write(t, s, counted(1, 10)...)
	require.NoError(t, s.Close())
	require.NoError(t, os.Remove(d.path))
	_, err := store.Open(d.path, d.options(store.Options{MustExist: true}))
	require.ErrorIs(t, err, fs.ErrNotExist)

	s = d.open(t, store.Options{})
	require.Zero(t, count(t, s))
	write(t, s, counted(1, 10)...)
	require.NoError(t, s.Close())
	require.Equal(t, 1, count(t, d.open(t, store.Options{})))
}

// unfolded returns a disk on which a checkpoint has turned the log and not
// folded all of it: blocks 1 to 4 are in the old log, of which the base holds 1
// and 2, and 5 and 6 in the one after.
func unfolded(t *testing.T) *disk {
	t.Helper()
	d := newDisk(t)
	s := d.open(t, store.Options{Sync: store.SyncAlways})
	for i := 1; i <= 6; i++ {
		write(t, s, counted(i, 10)...)
		switch i {
		case 2:
			hold(t, s, 2)
		case 4:
			require.NoError(t, s.Checkpoint(ctx))
		}
	}
	left := d.kill(t)
	require.NotNil(t, left.log(t, store.OldLogPath(left.path)))
	return left
}

// Blocks that are in neither base nor log leave a gap that nothing may be
// replayed over.
func TestMissingOldLog(t *testing.T) {
	for _, frontBytes := range []int64{0, 1} {
		d := unfolded(t)
		require.NoError(t, d.mem.Remove(store.OldLogPath(d.path)))
		log := d.log(t, store.LogPath(d.path))
		before, err := os.ReadFile(d.path)
		require.NoError(t, err)
		for range 2 {
			_, err = store.Open(d.path, d.options(store.Options{FrontBytes: frontBytes}))
			require.ErrorIs(t, err, wal.ErrCorrupt)
			require.ErrorContains(t, err, "goes on after")
		}
		require.Equal(t, log, d.log(t, store.LogPath(d.path)), "a failed open changes nothing")
		after, err := os.ReadFile(d.path)
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
}

// With small fronts a replay folds as it goes, and each block is there once.
func TestReplayFoldsAsItGoes(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{NoCheckpoint: true})
	for i := 1; i <= 200; i++ {
		write(t, s, counted(i, 1000)...)
	}
	require.NoError(t, s.Close())
	s = d.open(t, store.Options{NoCheckpoint: true, FrontBytes: 16 << 10})
	require.Equal(t, 200, count(t, s))
	require.Less(t, s.Stats().FrontBytes, int64(64<<10))
	require.Positive(t, s.Stats().FoldedSeq)
	write(t, s, counted(201, 10)...)
	left := d.kill(t)
	require.NoError(t, s.Close())
	left.requireWhole(t, store.Options{FrontBytes: 16 << 10}, 201, 201)
}

var errReplay = errors.New("the record makes no sense")

// What the owner cannot replay, or load, is not opened, and nothing is changed.
func TestFailedReplay(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{})
	write(t, s, counted(1, 10)...)
	require.NoError(t, s.Close())
	s = d.open(t, store.Options{NoCheckpoint: true})
	for i := 2; i <= 4; i++ {
		write(t, s, counted(i, 10)...)
	}
	require.NoError(t, s.Close())
	log := d.log(t, store.LogPath(d.path))

	broken := store.Options{Replay: func(b *store.Block, rec []byte) error {
		if _, err := b.Get(1, []byte("a key of the base")); err != nil {
			return err
		}
		if err := replayOnce(b, rec); err != nil {
			return err
		}
		if val, _ := b.Get(1, []byte(countedKey(3))); val != nil {
			return errReplay
		}
		return nil
	}}
	_, err := store.Open(d.path, d.options(broken))
	require.ErrorIs(t, err, errReplay)
	require.ErrorIs(t, store.Check(d.path, d.options(broken), nil), errReplay)
	_, err = store.Open(d.path, d.options(store.Options{Load: func(v *store.View) error {
		if _, err := v.Get(1, []byte("a key of the base")); err != nil {
			return err
		}
		return errReplay
	}}))
	require.ErrorIs(t, err, errReplay)
	require.Equal(t, log, d.log(t, store.LogPath(d.path)))
	d.requireWhole(t, store.Options{}, 4, 4)
}

// Load sees the base alone, before any replay.
func TestLoad(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{})
	write(t, s, counted(1, 10)...)
	require.NoError(t, s.Close())
	s = d.open(t, store.Options{NoCheckpoint: true})
	write(t, s, counted(2, 10)...)
	require.NoError(t, s.Close())
	loaded := -1
	s = d.open(t, store.Options{Load: func(v *store.View) (err error) {
		loaded, err = countIn(v)
		return err
	}})
	require.Equal(t, 1, loaded)
	require.Equal(t, 2, count(t, s))
}

func TestCheckChangesNothing(t *testing.T) {
	d := unfolded(t)
	log, old := d.log(t, store.LogPath(d.path)), d.log(t, store.OldLogPath(d.path))
	base, err := os.ReadFile(d.path)
	require.NoError(t, err)
	seen := 0
	require.NoError(t, store.Check(d.path, d.options(store.Options{}), func(v *store.View) (err error) {
		seen, err = countIn(v)
		return err
	}))
	require.Equal(t, 6, seen, "base and logs merged")
	require.Equal(t, log, d.log(t, store.LogPath(d.path)))
	require.Equal(t, old, d.log(t, store.OldLogPath(d.path)))
	after, err := os.ReadFile(d.path)
	require.NoError(t, err)
	require.Equal(t, base, after)
	require.ErrorIs(t, store.Check(d.path, d.options(store.Options{}), func(*store.View) error { return errReplay }), errReplay)
	_, err = os.Stat(d.path + ".none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, store.Check(d.path+".none", store.Options{}, nil), fs.ErrNotExist)
}

// Check finds damage to pages, and to logs that are known to be on disk.
func TestCheckFindsDamage(t *testing.T) {
	d := unfolded(t)
	log := d.log(t, store.LogPath(d.path))
	log[8192+60] ^= 1
	d.mem.WriteFile(store.LogPath(d.path), log)
	require.ErrorIs(t, checkCounted(d.path, d.options(store.Options{})), wal.ErrCorrupt)

	d = unfolded(t)
	b, err := os.ReadFile(d.path)
	require.NoError(t, err)
	for off := 2 * 4096; off < len(b); off += 4096 {
		b[off+8] ^= 0x40 // the kind of every page
	}
	require.NoError(t, os.WriteFile(d.path, b, 0o600))
	require.ErrorIs(t, checkCounted(d.path, d.options(store.Options{})), base.ErrCorrupt)
}

func TestRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	require.ErrorIs(t, store.Remove(path), fs.ErrNotExist)
	s := open(t, path, store.Options{NoCheckpoint: true})
	write(t, s, counted(1, 10)...)
	require.ErrorIs(t, store.Remove(path), base.ErrInUse)
	require.NoError(t, s.Close())
	for _, side := range []string{".compacting", ".importing", "-log.old"} {
		require.NoError(t, os.WriteFile(path+side, []byte("x"), 0o600))
	}
	require.NoError(t, store.Remove(path))
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, left)

	require.NoError(t, os.WriteFile(path, []byte("a damaged base"), 0o600))
	require.NoError(t, store.Remove(path))
	require.NoFileExists(t, path)
}

func TestClosed(t *testing.T) {
	for name, d := range map[string]*disk{"memory": nil, "file": newDisk(t)} {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/keepLog=%v", name, keep), func(t *testing.T) {
				var s *store.Store
				if d == nil {
					s = open(t, "", store.Options{NoCheckpoint: keep})
				} else {
					s = d.open(t, store.Options{NoCheckpoint: keep, Replay: replay})
				}
				write(t, s, counted(1, 10)...)
				sn, err := s.Snapshot()
				require.NoError(t, err)
				v := sn.View()
				require.NoError(t, s.Close())
				require.NoError(t, s.Close())

				_, err = s.Begin(ctx, nil)
				require.ErrorIs(t, err, store.ErrClosed)
				_, err = s.Snapshot()
				require.ErrorIs(t, err, store.ErrClosed)
				_, err = s.Read()
				require.ErrorIs(t, err, store.ErrClosed)
				require.ErrorIs(t, s.Checkpoint(ctx), store.ErrClosed)
				require.ErrorIs(t, s.Compact(ctx), store.ErrClosed)
				require.ErrorIs(t, s.Sync(ctx), store.ErrClosed)
				_, err = s.OpenImage(ctx)
				require.ErrorIs(t, err, store.ErrClosed)
				_, err = v.Get(1, []byte("not in the front"))
				require.ErrorIs(t, err, store.ErrClosed)
				it := v.Iter(1, nil, nil)
				it.First()
				require.False(t, it.Valid())
				require.ErrorIs(t, it.Err(), store.ErrClosed)
				v.Release()
				sn.Close()
				s.Stats()
				s.Seq()
			})
		}
	}
}
