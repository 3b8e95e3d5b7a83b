package fenec_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// damageJob is the environment variable that names the file TestDamageChild is
// to damage.
const damageJob = "FENEC_DAMAGE_JOB"

// No damage to a file ends the process that opens it, checks it, reads it and
// writes to it. It is tried in another process, so that one that ends is
// noticed; it names each trial before it begins.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "acme.fenec")
	db, err := fenec.Open(path, fenec.Options{FeedBytes: crashFeed})
	require.NoError(t, err)
	runAll(t, db,
		`create collection docs (key text @unique, rev int @sorted, tag text @hash, note json)`,
		`create collection small (a text)`, `put small {a: "x"}`)
	for i := range 1500 {
		_, err := db.Exec(ctx, `put docs {key: $1, rev: $2, tag: $3, note: {a: [1, "x"], b: null}}`,
			fmt.Sprintf("key %d", i), i%100, strings.Repeat("t", i%50))
		require.NoError(t, err)
	}
	runAll(t, db, crashTomes, `alter collection tomes add s sparse<9> @inverted`)
	for range 3 {
		query(t, db, `put tomes $1`, idleTomes())
	}
	r := rand.New(rand.NewPCG(1, 33))
	for id := range 3 * crashTomesIdle {
		query(t, db, `set tomes {s: $1} where id = $2`, sparseText(r), id+1)
	}
	require.NoError(t, db.Checkpoint(ctx))
	untilLinked(t, db, `get id from tomes near v $1 limit 5`, []float32{0, 1, 0})
	query(t, db, `put tomes $1`, idleTomes()) // are pending when it is opened again
	require.NoError(t, db.Close())

	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, "-test.run=^TestDamageChild$")
	cmd.Env = append(os.Environ(), damageJob+"="+path)
	out, err := cmd.CombinedOutput()
	report := string(out[max(0, bytes.LastIndex(out, []byte("trial "))):])
	require.NoError(t, err, "the process ended in %.6000s", report)
	require.Contains(t, report, "done")
}

// TestDamageChild is no test: it is the process that TestDamage starts.
func TestDamageChild(t *testing.T) {
	path := os.Getenv(damageJob)
	if path == "" {
		t.Skip("only TestDamage runs this, in a process of its own")
	}
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	trials := 60
	if os.Getenv("FENEC_LONG") != "" {
		trials = 2000
	}
	for seed := range trials {
		fmt.Println("trial", seed)
		r := rand.New(rand.NewPCG(uint64(seed), 32))
		b := slices.Clone(whole)
		damagePages(b, r)
		damaged := filepath.Join(t.TempDir(), "damaged.fenec")
		require.NoError(t, os.WriteFile(damaged, b, 0o600))
		if err := useDamaged(damaged); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Println("done")
}

// damagePages changes a few bytes, or exchanges pages.
func damagePages(b []byte, r *rand.Rand) {
	const page = 4096
	at := func() int { return r.IntN(len(b)/page) * page }
	switch r.IntN(4) {
	case 0:
		copy(b[at():][:page], bytes.Clone(b[at():][:page]))
	case 1:
		for range 1 + r.IntN(4) { // where pages say what they hold
			b[at()+r.IntN(300)] ^= 1 << r.IntN(8)
		}
	default:
		for range 1 + r.IntN(200) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
	}
}

// useDamaged does all there is to do with a damaged database. What fails has to
// say that it is damaged.
func useDamaged(path string) error {
	_ = fenec.Check(path)
	db, err := fenec.Open(path, fenec.Options{FeedBytes: crashFeed})
	if err != nil {
		return allowDamage("open", err)
	}
	var errs []error
	for _, text := range []string{
		`get docs`, `get docs order rev desc`, `get docs where rev > 20 and rev < 40`, `get docs where tag = "ttt"`,
		`get docs where key = "key 77"`, `get docs count`, `get docs select tag, rev * 2 as twice`,
		`get docs where note.a has 1 order key limit 10`, `get small`, `collections`, `describe docs`,
		`get tomes match body "oak rev3"`, `get tomes match body "idle oak" where rev > 100 limit 20`, `get tomes near v [1, 0, 2] limit 5`,
		`get tomes near v [1, 0, 2] ef 300 limit 50`, `get tomes near v [0, 1, 0] where rev < 50 limit 5`, `get tomes near s "{1:1,3:-1,7:2}/9"`,
		`get tomes match body "oak" near v [1, 1, 1] fuse limit 9`, `get tomes match body "rev1 oak" rerank v [0, 0, 1] limit 9`,
		`put tomes {body: "oak and elm", v: [3, 2, 1], s: "{1:1}/9"}`, `set tomes {body: "elm", v: [1, 1, 1]} where rev > 190`, `del tomes where rev < 5`,
		`put docs {key: "another", rev: 5}`, `set docs {rev: rev + 1} where rev < 50`, `del docs where rev > 90`,
		`put small {a: "y"}`, `drop collection small`, `get docs`, `compact`,
		`get tomes match body "elm"`, `get tomes near v [1, 1, 1] limit 5`, `drop collection tomes`,
	} {
		if _, err := db.Query(ctx, text); err != nil {
			errs = append(errs, allowDamage(text, err))
		}
	}
	_, err = readFeed(db)
	errs = append(errs, allowDamage("feed", err))
	_, err = db.Stats()
	errs = append(errs, allowDamage("stats", err), allowDamage("close", db.Close()))
	return errors.Join(errs...)
}

// allowDamage returns nil for what a damaged database may answer. Wrong figures,
// which have no checksum, may make a statement impossible.
func allowDamage(what string, err error) error {
	for _, allowed := range []error{fenec.ErrCorrupt, fenec.ErrFailed, fenec.ErrDuplicate, fenec.ErrNotFound, fenec.ErrQuery} {
		if err == nil || errors.Is(err, allowed) {
			return nil
		}
	}
	for _, text := range []string{
		"this program reads 1", // the damage is in the number of the format
		"exec: internal",       // an entry of an index leads nowhere
	} {
		if strings.Contains(err.Error(), text) {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}
