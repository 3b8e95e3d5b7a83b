package fenec_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// A process that writes is killed, again and again, and what it leaves is
// compared with what it said: everything it acknowledged is there, what it had
// begun is there whole or not at all, and no number was given out twice. The
// process is this test's binary; see crashchild_test.go.
func TestCrash(t *testing.T) {
	kills, first := 10, uint64(1)
	switch {
	case os.Getenv("FENEC_LONG") != "":
		kills, first = 200, rand.Uint64()
	case testing.Short():
		kills = 4
	}
	dir := t.TempDir()
	t.Logf("first seed %d", first)
	w := newCrashWorld(filepath.Join(dir, "acme.fenec"))
	require.NoError(t, w.create())
	for round := 0; w.kills < kills; round++ {
		run := newCrashRun(w.path, first+uint64(round), round)
		if err := w.play(run); err != nil {
			t.Fatalf("%v\n%v\nthe files are kept in %s", run, err, keep(t, dir))
		}
	}
	require.Positive(t, w.acks)
	t.Logf("%d writes acknowledged, %d processes killed", w.acks, w.kills)
}

// keep copies dir to where it stays, for whoever looks into a failure.
func keep(t *testing.T, dir string) string {
	t.Helper()
	kept, err := os.MkdirTemp("", "fenec-crash-*")
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(filepath.Join(kept, "files"), os.DirFS(dir)))
	return kept
}

// crashRun is what one process is to do, and how it ends.
type crashRun struct {
	Path       string
	Seed       uint64
	Round      int
	FrontBytes int64
	Ops        int    // of each writer
	Step       string // kill itself before that step, or ""
	Nth        int    // the how many-th such step
	Lines      int    // be killed after that many lines, 0 for never
	Close      bool   // close cleanly at the end, unless killed before
	KeepLog    bool   // NoCheckpoint, for whoever closes
	Sweeps     bool   // expired rows are deleted in the background, all the time
	Shape      int    // the smith's next step
}

// crashSteps are the steps at which processes kill themselves, with the most
// times they are let pass.
var crashSteps = map[string]int{
	"create log": 1, "reserve": 2, "append": 40, "appended": 40,
	"turn: rename log": 3, "turn: create log": 3, "turned": 3,
	"fold": 3, "folded": 3, "fold owners": 2, "drop log": 3, "dropped log": 3,
	"fill": 2, "filled": 2,
	"compact": 2, "compact: copied": 1, "compact: install": 1, "image": 2, "open: fold": 1, "open: drop logs": 1,
}

func newCrashRun(path string, seed uint64, round int) crashRun {
	r := rand.New(rand.NewPCG(seed, 31))
	run := crashRun{
		Path: path, Seed: seed, Round: round,
		FrontBytes: []int64{0, 1, 16 << 10, 64 << 10}[r.IntN(4)],
		Ops:        40, Close: r.IntN(2) == 0, KeepLog: r.IntN(2) == 0,
		Sweeps: r.IntN(2) == 0,
	}
	switch r.IntN(8) {
	case 0: // to the end
	case 1, 2, 3:
		run.Lines = 1 + r.IntN(300)
	default:
		steps := slices.Sorted(maps.Keys(crashSteps))
		run.Step = steps[r.IntN(len(steps))]
		run.Nth = 1 + r.IntN(crashSteps[run.Step])
	}
	return run
}

func (run crashRun) String() string {
	b, _ := json.Marshal(run)
	return "run " + string(b)
}

// crashLine is what a process says: before a write what it is about to do, and
// afterwards that it is done.
type crashLine struct {
	Worker int
	Op     *crashOp `json:",omitempty"`
	Seq    uint64   // of the write, when it is done
	Count  int      // how many numbers it took
}

// crashWorld is a database and what should be in it.
type crashWorld struct {
	path   string
	states []crashState
	given  map[uint64]int // numbers, and the rounds that were given them
	last   uint64         // the highest of the rounds before
	looked uint64         // where the history ended that was looked at last
	shapes []string       // what shapeOf says before each step of the smith
	shape  int            // how many of these are done
	acks   int
	kills  int
}

func newCrashWorld(path string) *crashWorld {
	w := &crashWorld{path: path, given: map[uint64]int{}, states: make([]crashState, crashWorkers)}
	for i := range w.states {
		w.states[i] = newCrashState()
	}
	return w
}

// The collections that the smith changes while the others write to them: heap
// is so large that an index on it is built beside other work.
const (
	crashDocs = `create collection docs (key text @unique, owner int @hash, rev int @sorted, body text)`
	crashPile = `create collection heap (key text @hash, owner int @sorted, rev int)`
	crashHeap = 6000 // documents in heap that are nobody's
)

func (w *crashWorld) create() (err error) {
	if w.shapes, err = shapes(); err != nil {
		return err
	}
	db, err := fenec.Open(w.path, fenec.Options{FeedBytes: crashFeed})
	if err != nil {
		return err
	}
	for _, text := range append([]string{
		crashDocs,
		crashPile, crashTomes,
		`create collection twins (key text @unique, owner int, rev int)`,
		`create collection others (key text @hash, owner int, rev int @sorted)`,
		`create collection accounts (name int @unique, money int)`,
		`create collection tally (key text @unique, owner int, n int @sorted)`,
		`create collection sess (key text @unique, owner int, rev int, seen timestamp @ttl(30d))`,
	}, shapeStart...) {
		if _, err := db.Query(ctx, text); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	if _, err := db.Query(ctx, `put heap $1`, slices.Repeat([]any{map[string]any{"owner": -1}}, crashHeap)); err != nil {
		return errors.Join(err, db.Close())
	}
	if _, err := db.Query(ctx, `put tomes $1`, idleTomes()); err != nil {
		return errors.Join(err, db.Close())
	}
	for i := range crashAccounts {
		if _, err := db.Query(ctx, `put accounts {name: $1, money: $2}`, i, crashMoney); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	w.last = db.Seq()
	return db.Close()
}

// play lets a process run and end, and looks at what it leaves.
func (w *crashWorld) play(run crashRun) error {
	run.Shape = w.shape
	lines, killed, err := runCrash(run)
	if err != nil {
		return err
	}
	if killed {
		w.kills++
	}
	pending, err := w.listen(lines, run.Round)
	if err != nil {
		return err
	}
	if err := fenec.Check(w.path); err != nil {
		return err
	}
	if err := w.look(run, pending); err != nil {
		return err
	}
	return checkCopy(copyPath(w.path))
}

// listen takes note of what was acknowledged, and returns what each worker had
// begun and not finished.
func (w *crashWorld) listen(lines []crashLine, round int) (pending []*crashOp, err error) {
	pending = make([]*crashOp, crashWorkers+1)
	highest := w.last
	for _, line := range lines {
		if line.Op != nil {
			pending[line.Worker] = line.Op
			continue
		}
		w.acks++
		if line.Worker == crashSmith {
			w.shape++
		} else {
			w.states[line.Worker].apply(*pending[line.Worker])
		}
		pending[line.Worker] = nil
		for n := range uint64(line.Count) {
			seq := line.Seq - n
			if before, again := w.given[seq]; again || seq <= w.last {
				return nil, fmt.Errorf("number %d, given out before (in round %d; up to %d in earlier ones)", seq, before, w.last)
			}
			w.given[seq] = round
			highest = max(highest, seq)
		}
	}
	w.last = highest
	return pending, nil
}

// look opens the database and compares it with what each worker has done. What
// was begun may be there, or not.
func (w *crashWorld) look(run crashRun, pending []*crashOp) error {
	db, err := fenec.Open(w.path, fenec.Options{MustExist: true, NoCheckpoint: run.KeepLog, FeedBytes: crashFeed})
	if err != nil {
		return err
	}
	found, err := readCrash(db)
	for i, got := range found {
		acked := w.states[i]
		with := acked.clone()
		if pending[i] != nil {
			with.apply(*pending[i])
		}
		if !got.equal(acked) && !got.equal(with) {
			err = errors.Join(err, fmt.Errorf("worker %d\nacknowledged %v\nbegun        %+v\nfound        %v", i, acked, pending[i], got))
		}
		w.states[i] = got
	}
	err = errors.Join(err, w.checkHistory(db), checkFeed(db), w.checkShape(db, pending[crashSmith]))
	if db.Seq() < w.last {
		err = errors.Join(err, fmt.Errorf("the database is at %d, %d was acknowledged", db.Seq(), w.last))
	}
	return errors.Join(err, db.Close())
}

// addUp checks that no money came to be or was lost.
func addUp(sn *fenec.Snapshot) error {
	res, err := sn.Query(ctx, `get accounts select money`)
	if err != nil {
		return err
	}
	sum, n := int64(0), 0
	for res.Next() {
		var money int64
		if err := res.Scan(&money); err != nil {
			return err
		}
		sum += money
		n++
	}
	if sum != crashAccounts*crashMoney || n != crashAccounts {
		return fmt.Errorf("%d in %d accounts", sum, n)
	}
	return nil
}

// copyPath is where a process installs images of its database.
func copyPath(path string) string { return path + ".copy.fenec" }

// checkCopy checks that an installed image is whole, if there is one, and takes
// it away.
func checkCopy(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := fenec.Check(path); err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	db, err := fenec.Open(path, fenec.Options{MustExist: true})
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	_, err = readCrash(db)
	if err == nil {
		var list []fenec.Change
		if list, _, err = db.Changes(ctx, 0, math.MaxInt); err == nil {
			err = agrees(db, list)
		}
	}
	return errors.Join(err, db.Close(), fenec.Remove(path))
}

// runCrash runs a process to its end and returns what it said.
func runCrash(run crashRun) (lines []crashLine, killed bool, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, false, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	var output bytes.Buffer
	cmd := exec.Command(exe, "-test.run=^TestCrashChild$")
	job, err := json.Marshal(run)
	if err != nil {
		return nil, false, errors.Join(err, w.Close())
	}
	cmd.Env = append(os.Environ(), crashJob+"="+string(job))
	cmd.ExtraFiles = []*os.File{w}
	cmd.Stdout, cmd.Stderr = &output, &output
	err = errors.Join(cmd.Start(), w.Close())
	if err != nil {
		return nil, false, err
	}
	lines, err = hear(r, run.Lines, cmd.Process)
	werr := cmd.Wait()
	var exit *exec.ExitError
	if killed = errors.As(werr, &exit) && !exit.Exited(); killed {
		werr = nil
	}
	if werr != nil {
		err = errors.Join(err, fmt.Errorf("%w:\n%s", werr, output.Bytes()))
	}
	return lines, killed, err
}

// hear reads what a process says, and kills it after some lines if there is a
// number of them. What it had said by then is read all the same.
func hear(r io.Reader, most int, p *os.Process) (lines []crashLine, err error) {
	s := bufio.NewScanner(r)
	for s.Scan() {
		var line crashLine
		if err := json.Unmarshal(s.Bytes(), &line); err != nil {
			return lines, fmt.Errorf("line %q: %w", s.Bytes(), err)
		}
		if lines = append(lines, line); len(lines) == most {
			_ = p.Kill() // it may have ended by itself
		}
	}
	return lines, s.Err()
}
