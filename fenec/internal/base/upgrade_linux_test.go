package base_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

func init() { tasks["cramp"] = crampAsChild }

// Where there is no room for a second map of the file, it cannot be written
// until there is.
func TestNoRoomForTheFirstFold(t *testing.T) {
	if !base.Lazily {
		t.Skip("there is no second map")
	}
	f, path := reopen(t, marked(1, 500)...)
	require.NoError(t, f.Close())
	out, err := child(t, "cramp", path).CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "done", string(out))
}

// crampAsChild folds with no address space for it, and with some.
func crampAsChild(path string) int {
	f, err := base.Open(path)
	if err == nil {
		err = errors.Join(foldCramped(f, path), f.Close())
	}
	if err != nil {
		fmt.Print(err)
		return 1
	}
	fmt.Print("done")
	return 0
}

func foldCramped(f *base.File, path string) error {
	tx, err := f.Acquire()
	if err != nil {
		return err
	}
	defer tx.Release()
	lift, err := limitAddresses(256 << 20)
	if err != nil {
		return err
	}
	failed := f.Fold(2, yield(put(1, "k", "v")))
	_, again := base.Open(path)
	if err := lift(); err != nil {
		return err
	}
	if !errors.Is(failed, unix.ENOMEM) || errors.Is(failed, base.ErrLockLost) {
		return fmt.Errorf("the fold: %w", failed)
	}
	if !errors.Is(again, base.ErrInUse) {
		return fmt.Errorf("not locked any more: %w", again)
	}
	return errors.Join(sameMark(tx), f.Fold(2, yield(put(2, "k", "v"))), sameMark(tx))
}

// limitAddresses leaves the process n bytes more than it has mapped, until lift
// is called.
func limitAddresses(n uint64) (lift func() error, err error) {
	status, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return nil, err
	}
	var pages uint64
	if _, err := fmt.Fscan(bytes.NewReader(status), &pages); err != nil {
		return nil, err
	}
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &was); err != nil {
		return nil, err
	}
	now := was
	now.Cur = pages*uint64(os.Getpagesize()) + n
	return func() error { return unix.Setrlimit(unix.RLIMIT_AS, &was) }, unix.Setrlimit(unix.RLIMIT_AS, &now)
}

// No descriptor is left of a file that is closed, written or not.
func TestCloseLeavesNoDescriptor(t *testing.T) {
	f, path := reopen(t, marked(1, 500)...)
	require.NoError(t, f.Close())
	before := descriptors(t)
	for name, use := range map[string]func(*base.File){
		"read":      func(f *base.File) { acquire(t, f).Release() },
		"folded":    func(f *base.File) { fold(t, f, f.Folded(), put(2, "k", "v")) },
		"compacted": func(f *base.File) { require.NoError(t, f.Compact()) },
		"both": func(f *base.File) {
			fold(t, f, f.Folded(), put(2, "k", "v"))
			require.NoError(t, f.Compact())
			fold(t, f, f.Folded(), put(2, "k", "v"))
		},
	} {
		reopened(t, path, use)
		require.Equal(t, before, descriptors(t), name)
	}
}

func descriptors(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	var open []string
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil { // it is not the one that ReadDir had
			open = append(open, target)
		}
	}
	return open
}
