package base_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// reopen returns a file with the given contents that has not been written since
// it was opened.
func reopen(t *testing.T, changes ...base.Change) (*base.File, string) {
	t.Helper()
	f, path := create(t)
	fold(t, f, 1, changes...)
	require.NoError(t, f.Close())
	return open(t, path), path
}

// hold acquires a transaction and returns what releases it, which a test that
// fails has done too.
func hold(t *testing.T, f *base.File) (tx *base.Tx, release func()) {
	t.Helper()
	tx = acquire(t, f)
	release = sync.OnceFunc(tx.Release)
	t.Cleanup(release)
	return tx, release
}

// marked returns puts that set keys 1 to n to a value that begins with seq.
func marked(seq uint64, n int) []base.Change {
	changes := numbered(1, 1, n, 100)
	for i := range changes {
		changes[i].Value = append(fmt.Appendf(nil, "%08d", seq), changes[i].Value...)
	}
	return changes
}

// requireMarked checks that tx sees the values of one fold.
func requireMarked(t require.TestingT, tx *base.Tx, n int) {
	c, err := tx.Cursor(1)
	require.NoError(t, err)
	found := 0
	for err = c.SeekGE(nil); c.Key != nil; err = c.Next() {
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%08d", tx.Folded()), string(c.Value[:8]))
		found++
	}
	require.NoError(t, err)
	require.Equal(t, n, found)
}

// Who reads when the first fold begins reads on what was there, though further
// folds would have a use for the pages.
func TestFirstFoldsUnderAReader(t *testing.T) {
	const n = 2000
	f, path := reopen(t, marked(1, n)...)
	tx, release := hold(t, f)
	for seq := uint64(2); seq < 20; seq++ {
		fold(t, f, seq, marked(seq, n)...)
		requireMarked(t, tx, n)
		now, done := hold(t, f)
		require.Equal(t, seq, now.Folded())
		requireMarked(t, now, n)
		done()
	}
	require.EqualValues(t, 1, tx.Folded())
	release()
	verify(t, f)
	require.NoError(t, f.Close())
	f = open(t, path)
	require.EqualValues(t, 19, f.Folded())
	verify(t, f)
}

// Once the readers of before are gone their pages are used again.
func TestFirstFoldsKeepNoPages(t *testing.T) {
	const n = 2000
	f, _ := reopen(t, marked(1, n)...)
	_, release := hold(t, f)
	fold(t, f, 2, marked(2, n)...)
	release()
	f.AwaitReaders()
	size := f.Size()
	for seq := uint64(3); seq < 30; seq++ {
		fold(t, f, seq, marked(seq, n)...)
	}
	require.LessOrEqual(t, f.Size(), 3*size)
}

func TestFirstFoldBesideReaders(t *testing.T) {
	const n = 300
	f, path := reopen(t, marked(1, n)...)
	for range 10 {
		var over atomic.Bool
		var wg sync.WaitGroup
		errs := make(chan error, 4)
		for range cap(errs) {
			wg.Go(func() {
				for !over.Load() {
					tx, err := f.Acquire()
					if err != nil {
						errs <- err
						return
					}
					err = sameMark(tx)
					tx.Release()
					if err != nil {
						errs <- err
						return
					}
				}
			})
		}
		for range 5 {
			seq := f.Folded() + 1
			fold(t, f, seq, marked(seq, n)...)
		}
		over.Store(true)
		wg.Wait()
		close(errs)
		for err := range errs {
			require.NoError(t, err)
		}
		require.NoError(t, f.Close())
		f = open(t, path)
	}
}

// sameMark is requireMarked for other goroutines than the test's.
func sameMark(tx *base.Tx) error {
	c, err := tx.Cursor(1)
	if err != nil {
		return err
	}
	want := fmt.Sprintf("%08d", tx.Folded())
	for err = c.SeekGE(nil); err == nil && c.Key != nil; err = c.Next() {
		if got := string(c.Value[:8]); got != want {
			return fmt.Errorf("key %s: %s as of %s", c.Key, got, want)
		}
	}
	return err
}

// A process that ends in its first fold leaves what was there before.
func TestKilledInTheFirstFold(t *testing.T) {
	f, path := reopen(t, marked(1, 500)...)
	require.NoError(t, f.Close())
	for range 3 {
		cmd := child(t, "stall", path)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		defer in.Close()
		require.NoError(t, cmd.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "folding\n", line)
		_, err = base.Open(path)
		require.ErrorIs(t, err, base.ErrInUse)
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())

		f := open(t, path)
		require.EqualValues(t, 1, f.Folded())
		tx, release := hold(t, f)
		requireMarked(t, tx, 500)
		release()
		verify(t, f)
		require.NoError(t, f.Close())
	}
}

// stallAsChild stays in the middle of a fold until it is killed.
func stallAsChild(path string) int {
	f, err := base.Open(path)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	changes := yield(marked(2, 500)...)
	left := 300
	err = f.Fold(2, func() (base.Change, bool) {
		if left--; left == 0 {
			fmt.Println("folding")
			_, _ = io.Copy(io.Discard, os.Stdin)
		}
		return changes()
	})
	fmt.Println("folded", err)
	return 1
}

// Without a list of free pages that makes sense nothing can be written, but what
// is there can be read.
func TestDamagedFreelist(t *testing.T) {
	if !base.Lazily {
		t.Skip("files are opened for writing at once")
	}
	f, path := reopen(t, marked(1, 500)...)
	at, err := f.FreelistPage()
	require.NoError(t, err)
	require.NoError(t, f.Close())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	whole[at+8] ^= 0xFF // its kind
	require.NoError(t, os.WriteFile(path, whole, 0o600))

	f = open(t, path)
	require.Zero(t, f.FreeBytes())
	tx, release := hold(t, f)
	for range 2 {
		err = f.Fold(2, yield(put(1, "k", "v")))
		require.ErrorIs(t, err, base.ErrCorrupt)
		require.ErrorContains(t, err, "open for writing")
		require.ErrorContains(t, err, path)
		requireMarked(t, tx, 500)
	}
	require.ErrorIs(t, tx.Verify(), base.ErrCorrupt)
	release()
	require.Len(t, contents(t, f, 1), 500)
	_, err = base.Open(path)
	require.ErrorIs(t, err, base.ErrInUse, "still locked")
	_, err = base.Adopt(path)
	require.ErrorIs(t, err, base.ErrInUse)
	require.NoError(t, f.Close())
	_, err = base.Adopt(path)
	require.ErrorIs(t, err, base.ErrCorrupt)
	left, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, string(whole) == string(left), "it stays as it is")

	// Compacting makes another list.
	f = open(t, path)
	require.NoError(t, f.Compact())
	fold(t, f, 2, put(2, "k", "v"))
	require.Len(t, contents(t, f, 1), 500)
	verify(t, f)
}

// Close waits for who reads what was there before the first fold.
func TestCloseAfterTheFirstFold(t *testing.T) {
	f, path := reopen(t, marked(1, 500)...)
	tx, release := hold(t, f)
	fold(t, f, 2, put(2, "k", "v"))
	var released atomic.Bool
	var err error
	var wg sync.WaitGroup
	wg.Go(func() {
		err = sameMark(tx)
		released.Store(true)
		release()
	})
	require.NoError(t, f.Close())
	require.True(t, released.Load())
	wg.Wait()
	require.NoError(t, err)
	require.Equal(t, []string{"k=v"}, contents(t, open(t, path), 2))
}

// A compaction may begin before the first fold, and end before or after it.
func TestCompactionAroundTheFirstFold(t *testing.T) {
	for name, folds := range map[string]struct{ during, after bool }{
		"no fold": {}, "during": {during: true}, "after": {after: true}, "during and after": {during: true, after: true},
	} {
		t.Run(name, func(t *testing.T) {
			f, path := reopen(t, marked(1, 500)...)
			c, err := f.BeginCompaction()
			require.NoError(t, err)
			if folds.during {
				fold(t, f, 2, marked(2, 500)...)
			}
			require.NoError(t, c.Copy(context.Background()))
			require.NoError(t, c.Install())
			if folds.after {
				fold(t, f, 3, marked(3, 500)...)
			}
			want := f.Folded()
			for range 2 {
				tx, release := hold(t, f)
				require.Equal(t, want, tx.Folded())
				requireMarked(t, tx, 500)
				release()
				verify(t, f)
				require.NoError(t, f.Close())
				requireAlone(t, path)
				f = open(t, path)
			}
		})
	}
}

// How much is free is known before the list of free pages is.
func TestFreeBytesAfterOpen(t *testing.T) {
	for name, kept := range map[string]int{"a short list": 1000, "a list over several pages": 1} {
		t.Run(name, func(t *testing.T) {
			f, path := create(t)
			fold(t, f, 1, numbered(1, 1, 50_000, 100)...)
			var gone []base.Change
			for i := kept; i <= 50_000; i++ {
				gone = append(gone, del(1, fmt.Sprintf("%08d", i)))
			}
			fold(t, f, 2, gone...)
			want := f.FreeBytes()
			require.Greater(t, want, int64(1<<20))
			require.NoError(t, f.Close())
			f = open(t, path)
			require.Equal(t, want, f.FreeBytes())
		})
	}
}

// An image is made of a file that has not been written, and the file goes on.
func TestReaderBeforeTheFirstFold(t *testing.T) {
	f, path := reopen(t, marked(1, 500)...)
	out, err := os.Create(path + "-copy")
	require.NoError(t, err)
	tx, release := hold(t, f)
	r, err := tx.Reader()
	require.NoError(t, err)
	_, err = io.Copy(out, r)
	require.NoError(t, err)
	release()
	require.NoError(t, out.Close())
	adopt(t, path+"-copy")
	fold(t, f, 2, put(1, "k", "v"))
	copied := open(t, path+"-copy")
	require.NotEqual(t, f.ID(), copied.ID())
	require.Len(t, contents(t, copied, 1), 500)
}
