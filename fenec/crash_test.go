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
	"strings"
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
	if os.Getenv("FENEC_LONG") != "" {
		kills, first = 200, rand.Uint64()
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
	"fold": 3, "folded": 3, "drop log": 3, "dropped log": 3,
	"fill": 3, "filled": 3,
	"compact": 2, "compact: copied": 2, "compact: install": 2, "image": 2, "open: fold": 1, "open: drop logs": 1,
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

// crashOp is one write.
type crashOp struct {
	Kind string
	Key  string
	Rev  int64
}

// The kinds of writes. Those of docs are single statements, those of twins
// batches that do the same to two collections.
const (
	opPut    = "put"     // a new document
	opSet    = "set"     // an update
	opDel    = "del"     // a delete
	opSetAll = "set all" // an update of all documents of the worker
	opTwins  = "twins"   // put, or update, in two collections
	opNoTwin = "no twin" // delete in two collections
	opMove   = "move"    // between accounts
	opTaken  = "taken"   // put of a key that is there: must be refused
	opAbsent = "absent"  // put in tally unless it is there
	opBump   = "bump"    // put in tally, or add one to what is there
	opVisit  = "visit"   // put in sess, or renew what is there
	opLapse  = "lapse"   // let what is in sess expire
)

const (
	crashWorkers  = 4
	crashKeys     = 12 // of each worker, in each collection
	crashAccounts = 8
	crashMoney    = 1000 // in each account
)

// bodyOf is what a document holds; it follows from its key and revision.
func bodyOf(key string, rev int64) string { return strings.Repeat(key, int(rev%61)) }

// crashState is what one worker has written.
type crashState struct {
	docs, twins map[string]int64 // key to revision
	sess        map[string]int64 // the same, of rows that have not expired
	tally       map[string]int64 // key to how often it was put
}

// newCrashState returns the state of a worker that has done nothing.
func newCrashState() crashState {
	return crashState{map[string]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}}
}

func (s crashState) clone() crashState {
	return crashState{maps.Clone(s.docs), maps.Clone(s.twins), maps.Clone(s.sess), maps.Clone(s.tally)}
}

func (s crashState) apply(op crashOp) {
	switch op.Kind {
	case opPut, opSet:
		s.docs[op.Key] = op.Rev
	case opDel:
		delete(s.docs, op.Key)
	case opSetAll:
		for key := range s.docs {
			s.docs[key] = op.Rev
		}
	case opTwins:
		s.twins[op.Key] = op.Rev
	case opNoTwin:
		delete(s.twins, op.Key)
	case opAbsent:
		s.tally[op.Key] = max(s.tally[op.Key], 1)
	case opBump:
		s.tally[op.Key]++
	case opVisit:
		s.sess[op.Key] = op.Rev
	case opLapse:
		delete(s.sess, op.Key)
	}
}

func (s crashState) equal(o crashState) bool {
	return maps.Equal(s.docs, o.docs) && maps.Equal(s.twins, o.twins) && maps.Equal(s.sess, o.sess) && maps.Equal(s.tally, o.tally)
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

// crashDocs is the collection that most is written to.
const crashDocs = `create collection docs (key text @unique, owner int @hash, rev int @sorted, body text)`

func (w *crashWorld) create() (err error) {
	if w.shapes, err = shapes(); err != nil {
		return err
	}
	db, err := fenec.Open(w.path, fenec.Options{})
	if err != nil {
		return err
	}
	for _, text := range append([]string{
		crashDocs,
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
	db, err := fenec.Open(w.path, fenec.Options{MustExist: true, NoCheckpoint: run.KeepLog})
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
	err = errors.Join(err, w.checkHistory(db), w.checkShape(db, pending[crashSmith]))
	if db.Seq() < w.last {
		err = errors.Join(err, fmt.Errorf("the database is at %d, %d was acknowledged", db.Seq(), w.last))
	}
	return errors.Join(err, db.Close())
}

// readCrash returns what each worker's documents are, and what is wrong with
// them by themselves.
func readCrash(db *fenec.DB) (states []crashState, err error) {
	err = db.View(ctx, func(sn *fenec.Snapshot) error {
		docs, err := crashRows(sn, `get docs select key, owner, rev, body`)
		if err != nil {
			return err
		}
		twins, err := crashRows(sn, `get twins select key, owner, rev, "" as body`)
		if err != nil {
			return err
		}
		others, err := crashRows(sn, `get others select key, owner, rev, "" as body`)
		if err != nil {
			return err
		}
		sess, err := crashRows(sn, `get sess select key, owner, rev, "" as body`)
		if err != nil {
			return err
		}
		tally, err := crashRows(sn, `get tally select key, owner, n as rev, "" as body`)
		if err != nil {
			return err
		}
		for i := range docs {
			if !maps.Equal(twins[i], others[i]) {
				return fmt.Errorf("worker %d: half a batch: %v in one collection, %v in the other", i, twins[i], others[i])
			}
			states = append(states, crashState{docs[i], twins[i], sess[i], tally[i]})
		}
		return addUp(sn)
	})
	return states, err
}

// crashRows returns the revisions of documents by worker and key.
func crashRows(sn *fenec.Snapshot, text string) ([]map[string]int64, error) {
	found := make([]map[string]int64, crashWorkers)
	for i := range found {
		found[i] = map[string]int64{}
	}
	res, err := sn.Query(ctx, text)
	if err != nil {
		return nil, err
	}
	for res.Next() {
		var key, body string
		var owner, rev int64
		if err := res.Scan(&key, &owner, &rev, &body); err != nil {
			return nil, err
		}
		if _, twice := found[owner][key]; twice {
			return nil, fmt.Errorf("%s: key %q is there twice", text, key)
		}
		if body != "" && body != bodyOf(key, rev) {
			return nil, fmt.Errorf("%s: key %q of revision %d holds %q", text, key, rev, body)
		}
		found[owner][key] = rev
	}
	return found, nil
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
