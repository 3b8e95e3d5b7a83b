package base_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

func newPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "acme.fenec")
}

// create makes an empty base and opens it until the test ends.
func create(t testing.TB) (*base.File, string) {
	t.Helper()
	path := newPath(t)
	require.NoError(t, base.Create(path))
	return open(t, path), path
}

func open(t testing.TB, path string) *base.File {
	t.Helper()
	f, err := base.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// reopened opens the closed file at path for use alone.
func reopened(t testing.TB, path string, use func(*base.File)) {
	t.Helper()
	f, err := base.Open(path)
	require.NoError(t, err)
	use(f)
	require.NoError(t, f.Close())
}

func put(space uint32, key, value string) base.Change {
	return base.Change{Op: base.OpPut, Space: space, Key: []byte(key), Value: []byte(value)}
}

func del(space uint32, key string) base.Change {
	return base.Change{Op: base.OpDelete, Space: space, Key: []byte(key)}
}

func drop(space uint32) base.Change {
	return base.Change{Op: base.OpDropSpace, Space: space}
}

// yield returns what Fold takes its changes from.
func yield(changes ...base.Change) func() (base.Change, bool) {
	return func() (base.Change, bool) {
		if len(changes) == 0 {
			return base.Change{}, false
		}
		c := changes[0]
		changes = changes[1:]
		return c, true
	}
}

func fold(t testing.TB, f *base.File, seq uint64, changes ...base.Change) {
	t.Helper()
	require.NoError(t, f.Fold(seq, yield(changes...)))
}

// numbered returns puts of keys first to last, each with a value of n bytes.
func numbered(space uint32, first, last, n int) []base.Change {
	var changes []base.Change
	for i := first; i <= last; i++ {
		changes = append(changes, put(space, fmt.Sprintf("%08d", i), strings.Repeat(fmt.Sprint(i%10), n)))
	}
	return changes
}

func acquire(t testing.TB, f *base.File) *base.Tx {
	t.Helper()
	tx, err := f.Acquire()
	require.NoError(t, err)
	return tx
}

// contents returns what a space holds, as "key=value", read forwards, and
// checks that reading it backwards and key by key gives the same.
func contents(t testing.TB, f *base.File, space uint32) []string {
	t.Helper()
	tx := acquire(t, f)
	defer tx.Release()
	c, err := tx.Cursor(space)
	require.NoError(t, err)
	var got, back []string
	for err = c.SeekGE(nil); c.Key != nil; err = c.Next() {
		require.NoError(t, err)
		got = append(got, string(c.Key)+"="+string(c.Value))
		value, err := tx.Get(space, bytes.Clone(c.Key))
		require.NoError(t, err)
		require.Equal(t, c.Value, value)
	}
	require.NoError(t, err)
	for err = c.SeekLT(nil); c.Key != nil; err = c.Prev() {
		require.NoError(t, err)
		back = append(back, string(c.Key)+"="+string(c.Value))
	}
	require.NoError(t, err)
	slices.Reverse(back)
	require.Equal(t, got, back)
	return got
}

func verify(t testing.TB, f *base.File) {
	t.Helper()
	tx := acquire(t, f)
	defer tx.Release()
	require.NoError(t, tx.Verify())
}

// adopt gives the closed file at path another id.
func adopt(t testing.TB, path string) {
	t.Helper()
	f, err := base.Adopt(path)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}
