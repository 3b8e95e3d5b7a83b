package fenec_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// sequential skips a test in the short form, which is for the race detector: nothing
// that the test is about runs beside anything else, and under the detector it is slow.
func sequential(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing here runs at once")
	}
}

// memory opens a database in memory in which the statements have been run.
func memory(t testing.TB, statements ...string) *fenec.DB {
	t.Helper()
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	runAll(t, db, statements...)
	return db
}

func runAll(t testing.TB, db *fenec.DB, statements ...string) {
	t.Helper()
	for _, st := range statements {
		_, err := db.Query(t.Context(), st)
		require.NoError(t, err, st)
	}
}

func query(t testing.TB, db *fenec.DB, text string, args ...any) *fenec.Result {
	t.Helper()
	res, err := db.Query(t.Context(), text, args...)
	require.NoError(t, err, text)
	return res
}

// body returns a statement's answer as servers give it.
func body(t testing.TB, db *fenec.DB, text string, args ...any) string {
	t.Helper()
	b, err := query(t, db, text, args...).AppendJSON(nil)
	require.NoError(t, err)
	return string(b)
}

func TestOptions(t *testing.T) {
	for name, opts := range map[string]fenec.Options{
		"Sync":            {Sync: -3},
		"FrontBytes":      {FrontBytes: -1},
		"BlockBytes":      {BlockBytes: 256<<20 + 1},
		"FeedBytes":       {FeedBytes: -1},
		"MaxMemory":       {MaxMemory: -1},
		"SnapshotTimeout": {SnapshotTimeout: -1},
		"IdleCheckpoint":  {IdleCheckpoint: -1},
		"CompactRatio":    {CompactRatio: math.NaN()},
	} {
		path := filepath.Join(t.TempDir(), "db")
		_, err := fenec.Open(path, opts)
		require.ErrorContains(t, err, "options: "+name)
		require.NoFileExists(t, path)
		_, err = fenec.OpenMemory(opts)
		require.ErrorContains(t, err, "options: "+name)
	}
	for _, opts := range []fenec.Options{
		{Sync: fenec.SyncAlways}, {Sync: fenec.SyncOff}, {Sync: fenec.Sync(time.Millisecond)},
		{FrontBytes: 1}, {BlockBytes: 256 << 20, CompactRatio: -1},
	} {
		db, err := fenec.Open(filepath.Join(t.TempDir(), "db"), opts)
		require.NoError(t, err)
		runAll(t, db, "create collection c (n int)", "put c {n: 1}", "put c {n: 2}")
		require.NoError(t, db.Sync(t.Context()))
		st, err := db.Stats()
		require.NoError(t, err)
		require.EqualValues(t, 3, st.SyncedSeq)
		require.NoError(t, db.Close())
	}
}

func TestParseSync(t *testing.T) {
	for text, want := range map[string]fenec.Sync{
		"always": fenec.SyncAlways, "on": fenec.SyncAlways, "Always": fenec.SyncAlways, "ON": fenec.SyncAlways,
		"off": fenec.SyncOff, "none": fenec.SyncOff, "OFF": fenec.SyncOff,
		"1": fenec.Sync(time.Millisecond), "250": fenec.Sync(250 * time.Millisecond),
		"2147483647": fenec.Sync(2147483647 * time.Millisecond),
	} {
		got, err := fenec.ParseSync(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		again, err := fenec.ParseSync(got.String())
		require.NoError(t, err, text)
		require.Equal(t, got, again)
	}
	for _, text := range []string{"", "0", "-1", "1.5", "250ms", "sometimes", "2147483648", "always ", "+1"} {
		_, err := fenec.ParseSync(text)
		require.ErrorContains(t, err, fmt.Sprintf("%q", text))
	}
	require.Equal(t, "250", fenec.SyncDefault.String())
}

func TestClosed(t *testing.T) {
	for _, opts := range []fenec.Options{{}, {NoCheckpoint: true}} {
		path := filepath.Join(t.TempDir(), "db")
		db, err := fenec.Open(path, opts)
		require.NoError(t, err)
		runAll(t, db, "create collection c (n int)", "put c {n: 1}")
		get, err := db.Prepare("get c")
		require.NoError(t, err)
		put, err := db.Prepare("put c {n: 1}")
		require.NoError(t, err)
		res := query(t, db, "get c")
		require.NoError(t, db.Close())
		b, err := res.AppendJSON(nil)
		require.NoError(t, err)
		require.Equal(t, `[{"id":1,"n":1}]`, string(b), "a result needs no open database")
		ctx := t.Context()
		for name, call := range map[string]func() error{
			"Query of a read":  func() error { _, err := db.Query(ctx, "get c"); return err },
			"Query of a write": func() error { _, err := db.Query(ctx, "put c {n: 1}"); return err },
			"Query of compact": func() error { _, err := db.Query(ctx, "compact"); return err },
			"Exec":             func() error { _, err := db.Exec(ctx, "drop collection c"); return err },
			"Stmt.Query":       func() error { _, err := get.Query(ctx); return err },
			"Stmt.Exec":        func() error { _, err := put.Exec(ctx); return err },
			"Batch of reads":   func() error { _, err := db.Batch(ctx, []fenec.Statement{{Text: "get c"}}); return err },
			"Batch of writes":  func() error { _, err := db.Batch(ctx, []fenec.Statement{{Text: "del c"}}); return err },
			"View":             func() error { return db.View(ctx, func(*fenec.Snapshot) error { return nil }) },
			"Stats":            func() error { _, err := db.Stats(); return err },
			"Update":           func() error { _, err := db.Update(ctx, func(*fenec.Tx) error { return nil }); return err },
			"Rows":             func() error { _, err := streamed(ctx, db, "get c"); return err },
			"Changed":          func() error { _, err := db.Changed(ctx, 1, "c"); return err },
			"WaitChange":       func() error { return db.WaitChange(ctx, 1, "c") },
			"WaitSeq":          func() error { return db.WaitSeq(ctx, 9) },
			"Warm":             func() error { return db.Warm(ctx) },
			"Sync":             func() error { return db.Sync(ctx) },
			"Checkpoint":       func() error { return db.Checkpoint(ctx) },
			"Compact":          func() error { return db.Compact(ctx) },
			"Image":            func() error { return db.Image(ctx, io.Discard) },
			"OpenImage":        func() error { _, err := db.OpenImage(ctx); return err },
		} {
			require.ErrorIs(t, call(), fenec.ErrClosed, name)
		}
		require.NoError(t, db.Close(), "closing again does nothing")
		require.Equal(t, path, db.Path())
		require.EqualValues(t, 2, db.Seq())
		require.NoError(t, fenec.Check(path))
	}
}

// Whatever runs when a database is closed comes to an end, with or without
// ErrClosed, and what was answered is there afterwards.
func TestCloseBesideEverything(t *testing.T) {
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		path := filepath.Join(t.TempDir(), "db")
		db, err := fenec.Open(path, fenec.Options{Sync: fenec.SyncOff, FrontBytes: 64 << 10, NoCheckpoint: round%2 == 0})
		require.NoError(t, err)
		runAll(t, db, "create collection c (n int @sorted, s text)")
		_, err = db.Exec(t.Context(), "put c $1", documents(200))
		require.NoError(t, err)
		ctx := t.Context()
		var answered atomic.Int64
		calls := []func() error{
			func() error { _, err := db.Query(ctx, "get c order n limit 50"); return err },
			func() error {
				_, err := db.Exec(ctx, "put c {n: 1, s: $1}", strings.Repeat("x", 500))
				if err == nil {
					answered.Add(1)
				}
				return err
			},
			func() error {
				return db.View(ctx, func(sn *fenec.Snapshot) error { _, err := seen(ctx, sn); return err })
			},
			func() error { return db.Checkpoint(ctx) },
			func() error { return db.Compact(ctx) },
			func() error { return db.Image(ctx, io.Discard) },
			func() error { _, err := db.Stats(); return err },
			func() error { return db.Sync(ctx) },
			func() error { _, err := streamed(ctx, db, "get c order n"); return err },
			func() error { return db.WaitChange(ctx, db.Seq(), "c") },
			func() error { return db.WaitSeq(ctx, db.Seq()+1) },
			func() error {
				_, err := db.Update(ctx, func(tx *fenec.Tx) error {
					_, err := tx.Exec(ctx, "put c {n: 2}")
					return err
				})
				if err == nil {
					answered.Add(1)
				}
				return err
			},
		}
		errs := make(chan error, len(calls))
		var begun sync.WaitGroup
		for _, call := range calls {
			begun.Add(1)
			go func() {
				err := call()
				begun.Done()
				for err == nil || errors.Is(err, fenec.ErrSnapshotTooOld) {
					err = call()
				}
				errs <- err
			}()
		}
		begun.Wait()
		require.NoError(t, db.Close())
		for range calls {
			require.ErrorIs(t, <-errs, fenec.ErrClosed)
		}
		require.NoError(t, fenec.Check(path))
		db, err = fenec.Open(path, fenec.Options{})
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf(`[{"count":%d}]`, 200+answered.Load()), body(t, db, "get c count"))
		require.EqualValues(t, 201+answered.Load(), db.Seq())
		require.NoError(t, db.Close())
	}
}

func TestInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db, err := fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	runAll(t, db, "create collection c (n int)")
	for name, call := range map[string]func() error{
		"Open":   func() error { _, err := fenec.Open(path, fenec.Options{}); return err },
		"Check":  func() error { return fenec.Check(path) },
		"Remove": func() error { return fenec.Remove(path) },
	} {
		err := call()
		require.ErrorIs(t, err, fenec.ErrInUse, name)
		require.ErrorContains(t, err, path, name)
	}
	_, err = fenec.Open(path, fenec.Options{})
	require.ErrorContains(t, err, fmt.Sprintf("held by process %d", os.Getpid()))
	require.NoError(t, db.Close())
	db, err = fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, db.Collections())
	require.NoError(t, db.Close())
}

func TestMustExist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	_, err := fenec.Open(path, fenec.Options{MustExist: true})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoFileExists(t, path)
	db, err := fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	db, err = fenec.Open(path, fenec.Options{MustExist: true})
	require.NoError(t, err)
	require.NoError(t, db.Close())

	_, err = fenec.Open(filepath.Join(path, "under", "a", "file"), fenec.Options{})
	require.Error(t, err)
	_, err = fenec.Open(t.TempDir(), fenec.Options{})
	require.Error(t, err, "a directory")
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("no database ", 1000)), 0o600))
	_, err = fenec.Open(text, fenec.Options{})
	require.ErrorIs(t, err, fenec.ErrCorrupt)
	require.ErrorContains(t, err, text)
}

func TestRemove(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	require.ErrorIs(t, fenec.Remove(path), fs.ErrNotExist)
	for _, err := range []error{fenec.Remove(""), fenec.Check(""), fenec.Install("", strings.NewReader("FENECIMG"))} {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	db, err := fenec.Open(path, fenec.Options{NoCheckpoint: true})
	require.NoError(t, err)
	runAll(t, db, "create collection c (n int)", "put c {n: 1}")
	require.NoError(t, db.Close())
	other := filepath.Join(dir, "db2")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	require.NoError(t, fenec.Remove(path))
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Equal(t, []string{other}, left)

	db, err = fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	require.Empty(t, db.Collections())
	require.Zero(t, db.Seq())
	require.NoError(t, db.Close())
}

func TestMemory(t *testing.T) {
	a, err := fenec.Open("", fenec.Options{})
	require.NoError(t, err)
	b := memory(t)
	runAll(t, a, "create collection c (n int)", "put c {n: 1}")
	require.Empty(t, b.Collections())
	require.Empty(t, a.Path())
	require.NoError(t, a.Checkpoint(t.Context()))
	require.NoError(t, a.Compact(t.Context()))
	require.NoError(t, a.Sync(t.Context()))
	st, err := a.Stats()
	require.NoError(t, err)
	require.EqualValues(t, 2, st.SyncedSeq)
	require.Equal(t, `[{"id":1,"n":1}]`, body(t, a, "get c"))

	// What is in memory can be carried to a file.
	var image bytes.Buffer
	require.NoError(t, a.Image(t.Context(), &image))
	require.NoError(t, a.Close())
	path := filepath.Join(t.TempDir(), "db")
	require.NoError(t, fenec.Install(path, &image))
	db, err := fenec.Open(path, fenec.Options{MustExist: true})
	require.NoError(t, err)
	require.Equal(t, `[{"id":1,"n":1}]`, body(t, db, "get c"))
	require.NoError(t, db.Close())
}

func TestImage(t *testing.T) {
	dir := t.TempDir()
	db, err := fenec.Open(filepath.Join(dir, "db"), fenec.Options{})
	require.NoError(t, err)
	runAll(t, db, everyType...)
	want := body(t, db, "get every")

	m, err := db.OpenImage(t.Context())
	require.NoError(t, err)
	runAll(t, db, "del every", "create collection later (n int)")
	image, err := io.ReadAll(m)
	require.NoError(t, err)
	require.EqualValues(t, len(image), m.Size())
	require.EqualValues(t, 2, m.Seq())
	require.NoError(t, m.Close())

	path := filepath.Join(dir, "copy")
	require.NoError(t, fenec.Install(path, bytes.NewReader(image)))
	require.NoError(t, fenec.Check(path))
	require.ErrorIs(t, fenec.Install(path, bytes.NewReader(image)), fs.ErrExist)
	copied, err := fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	require.Equal(t, want, body(t, copied, "get every"))
	require.EqualValues(t, 2, copied.Seq())
	require.NoError(t, copied.Close())
	require.NoError(t, db.Close())

	// Anything but the whole image leaves nothing behind.
	damaged := bytes.Clone(image)
	damaged[len(damaged)/2] ^= 1
	for name, bad := range map[string][]byte{
		"empty": nil, "cut short": image[:len(image)-1], "header only": image[:40], "damaged": damaged,
		"too long": append(bytes.Clone(image), 0), "none": bytes.Repeat([]byte("x"), 5000),
	} {
		path := filepath.Join(dir, "bad")
		require.ErrorIs(t, fenec.Install(path, bytes.NewReader(bad)), fenec.ErrImage, name)
		left, err := filepath.Glob(path + "*")
		require.NoError(t, err)
		require.Empty(t, left, name)
	}
	failing := errors.New("the line is gone")
	err = fenec.Install(filepath.Join(dir, "bad"), io.MultiReader(bytes.NewReader(image[:100]), errReader{failing}))
	require.ErrorIs(t, err, failing)
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestCheckFindsDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db, err := fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	runAll(t, db, "create collection c (s text @hash)", `put c {s: "a text that can be found in the file"}`)
	require.NoError(t, db.Close())
	require.NoError(t, fenec.Check(path))

	file, err := os.ReadFile(path)
	require.NoError(t, err)
	at := bytes.Index(file, []byte("a text that can be found"))
	require.Positive(t, at)
	for bytes.HasPrefix(file[at:], []byte("a text that can be found")) { // the row, and the index entry
		file[at] = 'A'
		at += 1 + max(0, bytes.Index(file[at+1:], []byte("a text that can be found")))
	}
	require.NoError(t, os.WriteFile(path, file, 0o600))
	err = fenec.Check(path)
	require.ErrorIs(t, err, fenec.ErrCorrupt)
	require.ErrorContains(t, err, `collection "c"`)
	require.ErrorContains(t, err, path)

	// Reading says so too, and the rest goes on.
	db, err = fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	_, err = db.Query(t.Context(), "get c")
	require.ErrorIs(t, err, fenec.ErrCorrupt)
	require.ErrorContains(t, err, "id 1")
	runAll(t, db, "create collection d (n int)", "put d {n: 1}")
	require.NoError(t, db.Close())
	require.ErrorIs(t, fenec.Check(filepath.Join(t.TempDir(), "none")), fs.ErrNotExist)
}
