package fenec_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// digestOf returns the digest, which has to be the one that the rows give.
func digestOf(t testing.TB, db *fenec.DB) fenec.Digest {
	t.Helper()
	d, err := db.Digest(t.Context())
	require.NoError(t, err)
	require.True(t, d.Known())
	scanned := scanOf(t, db, 0)
	require.Equal(t, d.Root(), scanned.Root())
	for i := range scanned.Collections {
		scanned.Collections[i].Chunks = nil
	}
	require.Equal(t, d, scanned)
	return d
}

func scanOf(t testing.TB, db *fenec.DB, chunk int) fenec.Digest {
	t.Helper()
	d, err := db.DigestScan(t.Context(), chunk)
	require.NoError(t, err)
	return d
}

// digestSchema is what most tests of digests begin with.
const digestSchema = "create collection c (n int @sorted, s text)"

// However rows came about, their digest is the same.
func TestDigestOfHistories(t *testing.T) {
	want := digestOf(t, memory(t, digestSchema, `put c [{id: 1, n: 1, s: "a"}, {id: 2, n: 2, s: "b"}, {id: 3, n: 3}]`))
	require.EqualValues(t, 3, want.Collections[0].Rows)
	for name, statements := range map[string][]string{
		"one by one":  {`put c {id: 1, n: 1, s: "a"}`, `put c {id: 2, n: 2, s: "b"}`, `put c {id: 3, n: 3}`},
		"backwards":   {`put c {id: 3, n: 3}`, `put c {id: 2, n: 2, s: "b"}`, `put c {id: 1, n: 1, s: "a"}`},
		"overwritten": {`put c [{id: 1, n: 7}, {id: 3, n: 3}, {id: 2, s: "b"}]`, `set c {n: 2} where id = 2`, `put c {id: 1, n: 1, s: "a"}`},
		"written again": {`put c [{id: 1, n: 1, s: "a"}, {id: 2, n: 2, s: "b"}, {id: 3, n: 3}]`,
			`put c {id: 2, n: 2, s: "b"}`, `del c where id = 3`, `put c {id: 3, n: 3}`},
		"more in between": {`put c [{id: 9, n: 9}, {id: 1, n: 1, s: "a"}, {id: 2, n: 2, s: "b"}, {id: 3, n: 3}]`, `del c where n > 3`},
	} {
		t.Run(name, func(t *testing.T) {
			got := digestOf(t, memory(t, append([]string{digestSchema}, statements...)...))
			require.Equal(t, want.Root(), got.Root())
			got.Seq = want.Seq
			require.Equal(t, want, got)
		})
	}
}

// Whatever differs makes another digest.
func TestDigestDiffers(t *testing.T) {
	rows := `put c [{id: 1, n: 1, s: "aa"}, {id: 2, n: 1, s: "ab"}]`
	roots := map[uint64]string{}
	for name, statements := range map[string][]string{
		"the rows":        {digestSchema, rows},
		"no rows":         {digestSchema},
		"a byte":          {digestSchema, `put c [{id: 1, n: 1, s: "aa"}, {id: 2, n: 1, s: "ac"}]`},
		"a row missing":   {digestSchema, rows, `del c where id = 2`},
		"a row too many":  {digestSchema, rows, `put c {id: 3}`},
		"ids swapped":     {digestSchema, `put c [{id: 2, n: 1, s: "aa"}, {id: 1, n: 1, s: "ab"}]`},
		"another name":    {`create collection d (n int @sorted, s text)`, `put d [{id: 1, n: 1, s: "aa"}, {id: 2, n: 1, s: "ab"}]`},
		"a field more":    {`create collection c (n int @sorted, s text, x int)`, rows},
		"a field renamed": {`create collection c (n int @sorted, x text)`, `put c [{id: 1, n: 1, x: "aa"}, {id: 2, n: 1, x: "ab"}]`},
		"no index":        {`create collection c (n int, s text)`, rows},
		"another index":   {`create collection c (n int @hash, s text)`, rows},
		"an index more":   {digestSchema, rows, `create index on c (s) @hash`},
		"collections":     {digestSchema, rows, `create collection d (n int)`},
		"in another":      {digestSchema, `create collection d (n int @sorted, s text)`, `put d [{id: 1, n: 1, s: "aa"}, {id: 2, n: 1, s: "ab"}]`},
		"other numbers":   {`create collection a (n int)`, `drop collection a`, digestSchema, rows},
		"one of its own":  {digestSchema, rows, `create collection _own (n int)`},
	} {
		d := digestOf(t, memory(t, statements...))
		require.Empty(t, roots[d.Root()], name)
		roots[d.Root()] = name
	}
}

// The digest stays what it is wherever the database goes.
func TestDigestOfCopies(t *testing.T) {
	dir, copies := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "a.fenec")
	opts := fenec.Options{NoCheckpoint: true, CompactRatio: -1}
	db, err := fenec.Open(path, opts)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	runAll(t, db, digestSchema, "create collection ses (key text @unique, seen timestamp @ttl(30d))")
	r := rand.New(rand.NewPCG(1, 92))
	change := func() {
		for range 60 {
			id := 1 + r.IntN(40)
			_, err := db.Exec(t.Context(), "put c {id: $1, n: $2, s: $3}", id, r.IntN(9), fmt.Sprint(r.IntN(9)))
			require.NoError(t, err)
			_, err = db.Exec(t.Context(), "del c where id = $1", 1+r.IntN(40))
			require.NoError(t, err)
			_, err = db.Exec(t.Context(), "put ses {key: $1, seen: now()} if absent else set {seen: now()}", fmt.Sprint(r.IntN(9)))
			require.NoError(t, err)
		}
	}
	same := func(want fenec.Digest, path, name string) {
		copied, err := fenec.Open(path, fenec.Options{})
		require.NoError(t, err)
		got := digestOf(t, copied)
		require.Equal(t, want.Collections, got.Collections, name)
		require.Equal(t, want.Root(), got.Root(), name)
		require.NoError(t, copied.Close())
		require.NoError(t, fenec.Check(path))
	}
	for round := range 4 {
		change()
		want := digestOf(t, db)
		crashed := filepath.Join(copies, fmt.Sprint("crash", round), "a.fenec")
		require.NoError(t, os.CopyFS(filepath.Dir(crashed), os.DirFS(dir)))
		same(want, crashed, "after a crash")

		var image bytes.Buffer
		require.NoError(t, db.Image(t.Context(), &image))
		installed := filepath.Join(copies, fmt.Sprint("image", round))
		require.NoError(t, fenec.Install(installed, &image))
		same(want, installed, "of an image")

		if round%2 == 0 {
			require.NoError(t, db.Compact(t.Context()))
			require.Equal(t, want, digestOf(t, db), "after a compaction")
			change()
			want = digestOf(t, db)
		}
		require.NoError(t, db.Close())
		db, err = fenec.Open(path, opts)
		require.NoError(t, err)
		require.Equal(t, want, digestOf(t, db), "after a replay")
	}
}

// Sweeps are writes like others, and what they have not come to yet counts.
func TestDigestOfSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := fenec.OpenMemory(fenec.Options{})
		require.NoError(t, err)
		sessions(t, db, 1500)
		require.EqualValues(t, 1501, digestOf(t, db).Collections[0].Rows)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.EqualValues(t, 1, digestOf(t, db).Collections[0].Rows)
		require.NoError(t, db.Close())
	})
}

// How far an index has been built makes no difference.
func TestDigestWhileIndexIsBuilt(t *testing.T) {
	var db *fenec.DB
	var building []fenec.Digest
	opts := fenec.Options{Sync: fenec.SyncOff}.WithStep(func(step string) {
		if step == "fill" {
			d, err := db.Digest(context.Background())
			if err == nil {
				building = append(building, d)
			}
		}
	})
	db = file(t, opts, "create collection c (n int, s text)")
	_, err := db.Exec(t.Context(), "put c $1", documents(6000))
	require.NoError(t, err)
	before := digestOf(t, db)
	runAll(t, db, "create index on c (s) @unique", "create index on c (n) @sorted")
	require.Len(t, building, 2)
	require.Equal(t, building[1].Schema, digestOf(t, db).Schema)
	require.NotEqual(t, before.Schema, building[0].Schema)
	require.NotEqual(t, building[0].Schema, building[1].Schema)
	require.Equal(t, before.Collections, building[0].Collections)
}

func TestDigestChunks(t *testing.T) {
	db := memory(t, digestSchema, "create collection empty (n int)")
	_, err := db.Exec(t.Context(), "put c $1", documents(25))
	require.NoError(t, err)
	whole := scanOf(t, db, -1)
	require.Empty(t, whole.Collections[1].Chunks)
	require.Len(t, whole.Collections[0].Chunks, 1)
	before := scanOf(t, db, 10).Collections[0].Chunks
	var sum, rows uint64
	for i, c := range before {
		require.EqualValues(t, i*10+1, c.First)
		require.EqualValues(t, min(i*10+10, 25), c.Last)
		sum, rows = sum+c.Sum, rows+c.Rows
	}
	require.Len(t, before, 3)
	require.Equal(t, whole.Collections[0].Sum, sum)
	require.EqualValues(t, 25, rows)

	runAll(t, db, `set c {s: "other"} where id = 15`)
	after := scanOf(t, db, 10).Collections[0].Chunks
	for i := range before {
		require.Equal(t, i != 1, before[i] == after[i], "chunk %d", i)
	}
}

// A file that was written before sums were kept has none, and is none the worse.
func TestDigestOfOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.fenec")
	db, err := fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	runAll(t, db, "create collection large (n int, s text)", "create collection small (n int, s text)", "create collection none (n int)")
	for name, n := range map[string]int{"large": 5001, "small": 10} {
		_, err := db.Exec(t.Context(), "put "+name+" $1", documents(n))
		require.NoError(t, err)
	}
	want := digestOf(t, db)
	require.NoError(t, db.Close())
	forgetSums(t, path)
	require.NoError(t, fenec.Check(path))

	db, err = fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	known := func() (out []bool) {
		d, err := db.Digest(t.Context())
		require.NoError(t, err)
		for i, c := range d.Collections {
			require.Equal(t, want.Collections[i].Rows, c.Rows)
			out = append(out, c.Known)
		}
		require.False(t, d.Known())
		require.NotEqual(t, want.Root(), d.Root())
		return out
	}
	require.Equal(t, []bool{false, true, false}, known(), "large, none, small")
	scanned := scanOf(t, db, 0)
	require.Equal(t, want.Root(), scanned.Root())
	runAll(t, db, "set large {n: 0} where id = 1", "set small {n: 0} where id = 1")
	require.Equal(t, []bool{false, true, true}, known())
	runAll(t, db, "del large where id = 5001", "put large {id: 1}")
	digestOf(t, db)
	require.NoError(t, db.Close())
	require.NoError(t, fenec.Check(path))
}

// forgetSums brings the closed database at path to the layout without sums.
func forgetSums(t *testing.T, path string) {
	t.Helper()
	const definitions = 0 // the space
	f, err := base.Open(path)
	require.NoError(t, err)
	tx, err := f.Acquire()
	require.NoError(t, err)
	cur, err := tx.Cursor(definitions)
	require.NoError(t, err)
	var list []base.Change
	for err = cur.SeekGE([]byte("f")); err == nil && cur.Key != nil && cur.Key[0] == 'f'; err = cur.Next() {
		require.Len(t, cur.Value, 32)
		require.NotZero(t, binary.BigEndian.Uint32(cur.Key[1:]))
		list = append(list, base.Change{Space: definitions, Key: bytes.Clone(cur.Key), Value: bytes.Clone(cur.Value[:24])})
	}
	require.NoError(t, err)
	tx.Release()
	require.Len(t, list, 2)
	require.NoError(t, f.Fold(f.Folded(), func() (base.Change, bool) {
		if len(list) == 0 {
			return base.Change{}, false
		}
		c := list[0]
		list = list[1:]
		return c, true
	}))
	require.NoError(t, f.Close())
}

// A digest is of one sequence, whoever writes meanwhile.
func TestDigestBesideWrites(t *testing.T) {
	db := memory(t, digestSchema, "create collection d (n int)")
	ended := make(chan error, 1)
	go func() {
		for i := range 500 {
			_, err := db.Update(context.Background(), func(tx *fenec.Tx) error {
				_, err := tx.Query(context.Background(), "put c {id: $1, n: $2}", i%50+1, i)
				_, more := tx.Query(context.Background(), "put d {id: $1, n: $2}", i%50+1, i)
				return errors.Join(err, more)
			})
			if err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	for over := false; !over; {
		select {
		case err := <-ended:
			require.NoError(t, err)
			over = true
		default:
		}
		for _, make := range []func() (fenec.Digest, error){
			func() (fenec.Digest, error) { return db.Digest(t.Context()) },
			func() (fenec.Digest, error) { return db.DigestScan(t.Context(), 7) },
		} {
			d, err := make()
			if errors.Is(err, fenec.ErrSnapshotTooOld) {
				continue
			}
			require.NoError(t, err)
			require.Equal(t, d.Collections[0].Rows, d.Collections[1].Rows)
		}
	}
	digestOf(t, db)
}

func TestDigestFails(t *testing.T) {
	db := memory(t, digestSchema)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := db.Digest(ended)
	require.ErrorIs(t, err, context.Canceled)
	_, err = db.DigestScan(ended, 1)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, db.Close())
	_, err = db.Digest(t.Context())
	require.ErrorIs(t, err, fenec.ErrClosed)
	_, err = db.DigestScan(t.Context(), 1)
	require.ErrorIs(t, err, fenec.ErrClosed)
}

// Two copies that should be equal are compared, and the first difference found.
func ExampleDB_Digest() {
	one, other := library(), library()
	defer one.Close()
	defer other.Close()
	equal := func() bool {
		a, err := one.Digest(ctx)
		if err != nil {
			log.Fatal(err)
		}
		b, err := other.Digest(ctx)
		if err != nil {
			log.Fatal(err)
		}
		return a.Root() == b.Root()
	}
	fmt.Println(equal())

	if _, err := other.Exec(ctx, `set books {pages: 185} where title = "The Lathe of Heaven"`); err != nil {
		log.Fatal(err)
	}
	fmt.Println(equal())
	a, err := one.DigestScan(ctx, 1)
	if err != nil {
		log.Fatal(err)
	}
	b, err := other.DigestScan(ctx, 1)
	if err != nil {
		log.Fatal(err)
	}
	for i, chunk := range a.Collections[0].Chunks {
		if b.Collections[0].Chunks[i] != chunk {
			fmt.Println("documents", chunk.First, "to", chunk.Last)
			break
		}
	}
	// Output:
	// true
	// false
	// documents 3 to 3
}
