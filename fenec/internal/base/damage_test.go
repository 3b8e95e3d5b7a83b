package base_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// What damage does to a file is tried in another process, so that one that
// does not survive it is noticed. It names each trial before it begins.
func TestDamage(t *testing.T) {
	f, path := create(t)
	fold(t, f, 1, slices.Concat(
		numbered(1, 1, 3000, 40), // two levels of pages
		numbered(2, 1, 5, 10),    // inside its parent's page
		numbered(3, 1, 3, 20000), // values over several pages
	)...)
	fold(t, f, 2, numbered(1, 1000, 1500, 60)...)
	require.NoError(t, f.Close())
	out, err := child(t, "damage", path).CombinedOutput()
	report := string(out[bytes.LastIndex(out, []byte("trial ")):])
	require.NoError(t, err, "the process ended in %.4000s", report)
	require.Contains(t, report, "done")
}

func damageTrials() uint64 {
	if os.Getenv("FENEC_LONG") != "" {
		return 4000
	}
	return 400
}

func damageAsChild(path string) int {
	// An endless descent shall end soon, not with the machine's memory.
	debug.SetMaxStack(16 << 20)
	limitMemory(2 << 30)
	whole, err := os.ReadFile(path)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	damaged := filepath.Join(filepath.Dir(path), "damaged")
	for seed := range damageTrials() {
		fmt.Println("trial", seed)
		r := rand.New(rand.NewPCG(seed, 8))
		b := slices.Clone(whole)
		damage(b, r)
		if err := os.WriteFile(damaged, b, 0o600); err != nil {
			fmt.Println(err)
			return 1
		}
		if err := exercise(damaged, r); err != nil && !errors.Is(err, base.ErrCorrupt) {
			fmt.Println(err)
			return 1
		}
	}
	fmt.Println("done")
	return 0
}

// damage changes b in one of the ways in which files break.
func damage(b []byte, r *rand.Rand) {
	const page = 4096
	pages := len(b) / page
	at := r.IntN(len(b))
	switch r.IntN(6) {
	case 0: // a bit
		b[at] ^= 1 << r.IntN(8)
	case 1: // a few bits in the heads of pages, where they hurt most
		for range 1 + r.IntN(4) {
			b[r.IntN(pages)*page+r.IntN(200)] ^= 1 << r.IntN(8)
		}
	case 2: // bytes
		for range 1 + r.IntN(50) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
	case 3: // a page lost
		clear(b[at/page*page:][:page])
	case 4: // a page in the place of another
		copy(b[r.IntN(pages)*page:][:page], b[at/page*page:][:page])
	case 5: // rubbish
		for i := range min(512, len(b)-at) {
			b[at+i] = byte(r.Uint32())
		}
	}
}

// exercise reads all there is to read of a file, and writes to it.
func exercise(path string, r *rand.Rand) error {
	f, err := base.Open(path)
	if err != nil {
		return err
	}
	err = errors.Join(read(f, r), f.Fold(f.Folded()+1, yield(put(1, "00000777", "new"), put(9, "k", "v"), del(1, "00000999"))), read(f, r))
	return errors.Join(err, f.Close())
}

func read(f *base.File, r *rand.Rand) error {
	tx, err := f.Acquire()
	if err != nil {
		return err
	}
	defer tx.Release()
	spaces, err := tx.Spaces()
	errs := []error{err, tx.Verify()}
	for _, space := range append(spaces, 1, 2, 3) {
		errs = append(errs, readSpace(tx, space, r))
	}
	return errors.Join(errs...)
}

// readSpace walks a space both ways; a damaged one may seem to be longer than
// it was, but not without end.
func readSpace(tx *base.Tx, space uint32, r *rand.Rand) error {
	var finger base.Finger
	for range 20 {
		key := []byte(fmt.Sprintf("%08d", r.IntN(3000)))
		if _, err := tx.Get(space, key); err != nil {
			return err
		}
		if _, err := finger.Get(tx, space, key); err != nil {
			return err
		}
		if _, err := tx.Count(space, key, nil); err != nil {
			return err
		}
	}
	if err := runSpace(tx, space, r); err != nil {
		return err
	}
	c, err := tx.Cursor(space)
	if err != nil {
		return err
	}
	const most = 1 << 20
	n := 0
	for err = c.SeekGE(nil); err == nil && c.Key != nil && n < most; err = c.Next() {
		_ = strings.Contains(string(c.Value), "x")
		n++
	}
	if err != nil {
		return err
	}
	for err = c.SeekLT(nil); err == nil && c.Key != nil && n < 2*most; err = c.Prev() {
		_ = strings.Contains(string(c.Value), "x")
		n++
	}
	if err == nil && n >= 2*most {
		err = errors.New("a walk without end")
	}
	return err
}

// runSpace walks to and fro in a space by runs, which are never longer than a
// page.
func runSpace(tx *base.Tx, space uint32, r *rand.Rand) error {
	c, err := tx.Cursor(space)
	if err != nil {
		return err
	}
	key := func() []byte { return []byte(fmt.Sprintf("%08d", r.IntN(3000))) }
	for range 50 {
		from, bound := key(), key()
		if err := c.SeekGE(from); err != nil {
			return err
		}
		if c.Key == nil {
			continue
		}
		n, run, step := 0, c.Run, c.Step
		if r.IntN(2) == 0 {
			run, step = c.RunBack, c.StepBack
		}
		if r.IntN(2) == 0 {
			c.Limit(key(), key())
			bound = nil
		}
		for most := run(bound); step(); n++ {
			_ = strings.Contains(string(c.Value), "x")
			if n == most {
				return errors.New("a run past its end")
			}
		}
	}
	return nil
}

// A file that is cut while it is open is damaged; the process goes on.
func TestFileCutWhileOpen(t *testing.T) {
	f, path := create(t)
	fold(t, f, 1, numbered(1, 1, 20000, 100)...)
	require.NoError(t, os.Truncate(path, 64<<10))
	r := rand.New(rand.NewPCG(9, 9))
	require.ErrorIs(t, read(f, r), base.ErrCorrupt)
	err := guard(path, func() error {
		tx, err := f.Acquire()
		if err != nil {
			return err
		}
		defer tx.Release()
		return readSpace(tx, 1, r)
	})
	require.ErrorIs(t, err, base.ErrCorrupt)
}

// Guard passes on what is no fault of the file.
// guard runs fn under the package's guard.
func guard(path string, fn func() error) (err error) {
	defer base.Recover(path, base.Guard(), &err)
	return fn()
}

func TestGuard(t *testing.T) {
	require.NoError(t, guard("p", func() error { return nil }))
	err := errors.New("other")
	require.Equal(t, err, guard("p", func() error { return err }))
	require.PanicsWithValue(t, "mine", func() { _ = guard("p", func() error { panic("mine") }) })
}
