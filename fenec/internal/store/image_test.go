package store_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// image returns an image of s, and the sequence it holds.
func image(t testing.TB, s *store.Store) ([]byte, uint64) {
	t.Helper()
	m, err := s.OpenImage(ctx)
	require.NoError(t, err)
	defer m.Close()
	b, err := io.ReadAll(m)
	require.NoError(t, err)
	require.EqualValues(t, len(b), m.Size())
	return b, m.Seq()
}

// someImage returns an image of a store with n counted blocks.
func someImage(t testing.TB, n int) []byte {
	t.Helper()
	s := open(t, filepath.Join(t.TempDir(), "db"), store.Options{})
	for i := 1; i <= n; i++ {
		write(t, s, counted(i, 200)...)
	}
	b, seq := image(t, s)
	require.Equal(t, s.Seq(), seq)
	require.NoError(t, s.Close())
	return b
}

// requireNothing checks that nothing has come to be at path or beside it.
func requireNothing(t testing.TB, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, entries)
}

// A store that is not written to after its image comes back at the image's sequence,
// and one that is loses nothing.
func TestKilledAfterItsImage(t *testing.T) {
	d := newDisk(t)
	opts := store.Options{Replay: replay}
	s := d.open(t, opts)
	for i := 1; i <= 5; i++ {
		write(t, s, counted(i, 100)...)
	}
	_, seq := image(t, s)
	require.Equal(t, s.Seq(), seq)
	d = d.kill(t)
	s = d.open(t, opts)
	require.Equal(t, seq, s.Seq())
	_, again := image(t, s)
	require.Equal(t, seq, again)
	write(t, s, counted(6, 100)...)
	d = d.kill(t)
	d.requireWhole(t, opts, 6, 6)
}

func TestImage(t *testing.T) {
	for name, from := range map[string]string{"memory": "", "file": filepath.Join(t.TempDir(), "db")} {
		t.Run(name, func(t *testing.T) {
			s := open(t, from, store.Options{})
			for i := 1; i <= 20; i++ {
				write(t, s, counted(i, 100)...)
			}
			if name == "file" {
				require.NoError(t, s.Compact(ctx))
			}
			write(t, s, counted(21, 100)...)
			b, seq := image(t, s)
			require.Equal(t, s.Seq(), seq)
			write(t, s, counted(22, 100)...)
			require.Equal(t, 22, count(t, s), "the store goes on")

			path := filepath.Join(t.TempDir(), "copy")
			var r io.Reader = iotest.HalfReader(bytes.NewReader(b))
			require.NoError(t, store.Install(path, r, nil))
			require.NoError(t, checkCounted(path, store.Options{}))
			copied := open(t, path, store.Options{})
			require.Equal(t, 21, count(t, copied))
			require.Equal(t, seq, copied.Seq())
			write(t, copied, counted(22, 50)...)
			require.NoError(t, copied.Close())
			require.NoError(t, checkCounted(path, store.Options{}))
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Less(t, info.Size(), int64(512<<10), "a small copy is small")
		})
	}
}

// Taking an image leaves nothing beside the store.
func TestImageLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s := open(t, path, store.Options{})
	write(t, s, counted(1, 10)...)
	m, err := s.OpenImage(ctx)
	require.NoError(t, err)
	_, err = io.CopyN(io.Discard, m, 100)
	require.NoError(t, err)
	require.NoError(t, m.Close())
	require.NoError(t, s.Close())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// A copy is another file: the log of the one is never replayed into the other.
func TestImageIsAnotherFile(t *testing.T) {
	from := filepath.Join(t.TempDir(), "db")
	s := open(t, from, store.Options{NoCheckpoint: true})
	write(t, s, counted(1, 10)...)
	b, _ := image(t, s)
	write(t, s, counted(2, 10)...)
	require.NoError(t, s.Close())
	path := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, store.Install(path, bytes.NewReader(b), nil))
	log, err := os.ReadFile(store.LogPath(from))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(store.LogPath(path), log, 0o600))
	require.Equal(t, 1, count(t, open(t, path, store.Options{})))
}

func TestImageWhileWritersRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s := open(t, path, store.Options{Sync: store.SyncOff, FrontBytes: 256 << 10})
	done := make(chan struct{})
	errs := make(chan error, 1)
	written := make(chan struct{}, 1)
	go func() {
		for i := 1; ; i++ {
			if _, err := tryWrite(s, counted(i, 300)...); err != nil {
				errs <- err
				return
			}
			select {
			case written <- struct{}{}:
			case <-done:
				errs <- nil
				return
			default:
			}
		}
	}()
	last := 0
	for i := range 8 {
		<-written
		seq := s.Seq()
		b, at := image(t, s)
		require.GreaterOrEqual(t, at, seq, "all that was written before")
		to := filepath.Join(t.TempDir(), fmt.Sprint(i))
		require.NoError(t, store.Install(to, bytes.NewReader(b), nil))
		require.NoError(t, checkCounted(to, store.Options{}))
		copied := open(t, to, store.Options{})
		n := count(t, copied)
		require.GreaterOrEqual(t, n, last)
		require.Equal(t, at, copied.Seq())
		require.Equal(t, uint64(4*n-1), at, "as of one sequence")
		require.NoError(t, copied.Close())
		last = n
	}
	close(done)
	require.NoError(t, <-errs)
}

// Snapshots that are held do not keep an image from being made.
func TestImageBesideHeldSnapshots(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"), store.Options{})
	write(t, s, counted(1, 10)...)
	sn, err := s.Snapshot()
	require.NoError(t, err)
	defer sn.Close()
	write(t, s, counted(2, 10)...)
	b, _ := image(t, s)
	v := sn.View()
	_, err = v.Get(1, []byte("none"))
	require.ErrorIs(t, err, store.ErrSnapshotTooOld)
	path := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, store.Install(path, bytes.NewReader(b), nil))
	require.Equal(t, 2, count(t, open(t, path, store.Options{})))
}

// What is not one whole image is refused, and leaves nothing behind.
func TestDamagedImage(t *testing.T) {
	b := someImage(t, 10)
	path := filepath.Join(t.TempDir(), "copy")
	refuse := func(b []byte, what string) {
		t.Helper()
		err := store.Install(path, bytes.NewReader(b), nil)
		require.ErrorIs(t, err, store.ErrImage, what)
		requireNothing(t, path)
	}
	for _, n := range []int{0, 1, 7, 8, 11, 12, 16, 24, 31, 32, 33, 4096, len(b) / 2, len(b) - 33, len(b) - 32, len(b) - 31, len(b) - 1} {
		refuse(b[:n], fmt.Sprint("cut to ", n))
	}
	refuse(append(bytes.Clone(b), 0), "a byte more")
	refuse(append(bytes.Clone(b), b...), "twice")
	step := len(b)/150 + 1
	for i := 0; i < len(b); i += step {
		changed := bytes.Clone(b)
		changed[i] ^= 0x10
		refuse(changed, fmt.Sprint("byte ", i))
	}
	for i := range 32 {
		changed := bytes.Clone(b)
		changed[i] ^= 0x80
		refuse(changed, fmt.Sprint("byte ", i))
	}
	require.NoError(t, store.Install(path, bytes.NewReader(b), nil))
}

// A source that fails is not a damaged image: trying again may help.
func TestImageSourceFails(t *testing.T) {
	b := someImage(t, 3)
	for _, n := range []int{0, 10, 32, 5000, len(b) - 10, len(b)} {
		path := filepath.Join(t.TempDir(), "copy")
		broken := errors.New("the connection broke")
		err := store.Install(path, io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(broken)), nil)
		require.ErrorIs(t, err, broken)
		require.NotErrorIs(t, err, store.ErrImage)
		requireNothing(t, path)
	}
	path := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, store.Install(path, iotest.DataErrReader(bytes.NewReader(b)), nil))
}

// sealedImage makes an image with a right checksum around any bytes.
func sealedImage(content []byte) []byte {
	b := append([]byte("FENECIMG"), 0, 0, 0, 1, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(len(content)))
	b = binary.BigEndian.AppendUint64(b, 0)
	b = append(b, content...)
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// An image may be whole and hold no base.
func TestImageOfSomethingElse(t *testing.T) {
	other := filepath.Join(t.TempDir(), "bolt")
	db, err := bolt.Open(other, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	bolted, err := os.ReadFile(other)
	require.NoError(t, err)
	whole := someImage(t, 3)
	inside := whole[32 : len(whole)-32]
	for name, content := range map[string][]byte{
		"nothing":       {},
		"text":          bytes.Repeat([]byte("no database "), 1000),
		"zeros":         make([]byte, 40_000),
		"another bbolt": bolted,
		"half a base":   inside[:len(inside)/2],
		"no metas":      append(make([]byte, 8192), inside[8192:]...),
		"damaged pages": append(bytes.Clone(inside[:8192]), bytes.Repeat([]byte{0xff}, len(inside)-8192)...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "copy")
			require.ErrorIs(t, store.Install(path, bytes.NewReader(sealedImage(content)), nil), store.ErrImage)
			requireNothing(t, path)
		})
	}
}

func TestInstallTakesNoName(t *testing.T) {
	b := someImage(t, 3)
	path := filepath.Join(t.TempDir(), "db")
	s := open(t, path, store.Options{NoCheckpoint: true})
	write(t, s, counted(1, 10)...)
	require.ErrorIs(t, store.Install(path, bytes.NewReader(b), nil), fs.ErrExist)
	require.NoError(t, s.Close())
	require.ErrorIs(t, store.Install(path, bytes.NewReader(b), nil), fs.ErrExist)
	require.FileExists(t, store.LogPath(path))
	require.NoFileExists(t, path+".importing")
	require.Equal(t, 1, count(t, open(t, path, store.Options{})))
}

// A store that appears while an image is being received keeps its name, and
// its log.
func TestInstallLosesARace(t *testing.T) {
	b := someImage(t, 3)
	for _, step := range []string{"install: receive", "install: adopt", "install: publish"} {
		path := filepath.Join(t.TempDir(), "db")
		var s *store.Store
		err := store.Install(path, bytes.NewReader(b), func(name string) {
			if name == step {
				s = open(t, path, store.Options{NoCheckpoint: true})
				write(t, s, counted(1, 10)...)
			}
		})
		require.ErrorIs(t, err, fs.ErrExist)
		require.FileExists(t, store.LogPath(path))
		write(t, s, counted(2, 10)...)
		require.NoError(t, s.Close())
		require.Equal(t, 2, count(t, open(t, path, store.Options{})))
	}
}

// Logs that lie beside the name are of another store.
func TestInstallRemovesStaleLogs(t *testing.T) {
	b := someImage(t, 3)
	path := filepath.Join(t.TempDir(), "db")
	for _, log := range []string{store.LogPath(path), store.OldLogPath(path)} {
		require.NoError(t, os.WriteFile(log, []byte("stale"), 0o600))
	}
	require.NoError(t, store.Install(path, bytes.NewReader(b), nil))
	require.NoFileExists(t, store.LogPath(path))
	require.NoFileExists(t, store.OldLogPath(path))
	require.Equal(t, 3, count(t, open(t, path, store.Options{})))
}

// What an interrupted Install left may be the very file that has its name, or
// had it: it is not to be written over.
func TestInstallAfterAnInterruptedOne(t *testing.T) {
	b := someImage(t, 3)
	dir := t.TempDir()
	path, moved := filepath.Join(dir, "db"), filepath.Join(dir, "moved")
	require.NoError(t, store.Install(moved, bytes.NewReader(b), nil))
	require.NoError(t, os.Link(moved, path+".importing"))
	require.NoError(t, store.Install(path, bytes.NewReader(someImage(t, 5)), nil))
	require.Equal(t, 3, count(t, open(t, moved, store.Options{})))
	require.Equal(t, 5, count(t, open(t, path, store.Options{})))
}

// However far an Install came, what is left is nothing or all.
func TestEveryStepOfInstall(t *testing.T) {
	b := someImage(t, 3)
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	stale := []byte("stale")
	require.NoError(t, os.WriteFile(store.LogPath(path), stale, 0o600))
	moments := map[string]string{}
	require.NoError(t, store.Install(path, bytes.NewReader(b), func(name string) {
		moments[name] = t.TempDir()
		require.NoError(t, os.CopyFS(moments[name], os.DirFS(dir)))
	}))
	require.Len(t, moments, 5)
	for name, dir := range moments {
		path := filepath.Join(dir, "db")
		_, err := os.Stat(path)
		if published := name == "installed" || name == "install: remove logs"; published {
			require.NoError(t, err, name)
			if name == "install: remove logs" { // of which none can be taken for this store's
				requireStaleLogRefused(t, path)
				continue
			}
		} else {
			require.ErrorIs(t, err, fs.ErrNotExist, name)
			require.NoError(t, store.Install(path, bytes.NewReader(b), nil), name)
		}
		require.NoError(t, checkCounted(path, store.Options{}), name)
		require.Equal(t, 3, count(t, open(t, path, store.Options{})), name)
		require.NoFileExists(t, path+".importing")
	}
}

// requireStaleLogRefused replaces the stale log by a real one of another store,
// and checks that it is set aside.
func requireStaleLogRefused(t *testing.T, path string) {
	t.Helper()
	other := filepath.Join(t.TempDir(), "db")
	s := open(t, other, store.Options{NoCheckpoint: true})
	write(t, s, counted(1, 10)...)
	require.NoError(t, s.Close())
	log, err := os.ReadFile(store.LogPath(other))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(store.LogPath(path), log, 0o600))
	require.Equal(t, 3, count(t, open(t, path, store.Options{})))
	require.FileExists(t, store.LogPath(path)+".foreign")
}

func TestImagesAtOnce(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"), store.Options{})
	write(t, s, counted(1, 10)...)
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	for range cap(errs) {
		wg.Go(func() {
			m, err := s.OpenImage(ctx)
			if err == nil {
				_, err = io.Copy(io.Discard, m)
				err = errors.Join(err, m.Close())
			}
			errs <- err
		})
	}
	wg.Wait()
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
}

// No bytes make Install do anything but install a base or refuse.
func FuzzInstall(f *testing.F) {
	whole := someImage(f, 2)
	f.Add(whole[:100], false)
	f.Add(whole[32:len(whole)-32], true)
	f.Add([]byte{}, true)
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal {
			b = sealedImage(b)
		}
		path := filepath.Join(t.TempDir(), "db")
		err := store.Install(path, bytes.NewReader(b), nil)
		if err != nil {
			require.ErrorIs(t, err, store.ErrImage)
			requireNothing(t, path)
			return
		}
		base, err := base.Open(path)
		require.NoError(t, err)
		require.NoError(t, base.Close())
	})
}
