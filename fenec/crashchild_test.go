package fenec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// crashJob is the environment variable that makes TestCrashChild do something.
const crashJob = "FENEC_CRASH_JOB"

// TestCrashChild is no test: it is the process that TestCrash starts and kills.
func TestCrashChild(t *testing.T) {
	job := os.Getenv(crashJob)
	if job == "" {
		t.Skip("only TestCrash runs this, in a process of its own")
	}
	var c crashChild
	if err := json.Unmarshal([]byte(job), &c.crashRun); err != nil {
		t.Fatal(err)
	}
	c.out = os.NewFile(3, "lines")
	if err := c.run(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// crashChild is the process: some workers that write, each its own documents,
// the smith, and one that keeps house.
type crashChild struct {
	crashRun
	out   *os.File
	db    *fenec.DB
	steps atomic.Int64 // of the kind it is to end at
	done  atomic.Int64 // writes
}

func (c *crashChild) run() (err error) {
	opts := fenec.Options{Sync: fenec.SyncAlways, FrontBytes: c.FrontBytes, NoCheckpoint: c.KeepLog, MustExist: true, SweepInterval: -1, FeedBytes: crashFeed}
	if c.Sweeps {
		opts.SweepInterval = time.Millisecond
	}
	if c.db, err = fenec.Open(c.Path, opts.WithStep(c.step)); err != nil {
		return err
	}
	states, err := readCrash(c.db)
	if err != nil {
		return err
	}
	errs := make([]error, crashWorkers+2)
	stop := make(chan struct{})
	var writers, keeper sync.WaitGroup
	for i := range crashWorkers {
		writers.Go(func() { errs[i] = c.work(i, states[i]) })
	}
	keeper.Go(func() { errs[crashSmith] = c.forge(stop) })
	keeper.Go(func() { errs[crashSmith+1] = c.keepHouse(stop) })
	writers.Wait()
	close(stop)
	keeper.Wait()
	if c.Close {
		errs = append(errs, c.db.Close())
	}
	return errors.Join(errs...)
}

// step ends the process at the step at which it is to end.
func (c *crashChild) step(name string) {
	if name == c.Step && c.steps.Add(1) == int64(c.Nth) {
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Kill()
		}
		panic(fmt.Sprint("still alive: ", err))
	}
}

// say writes a line in one piece.
func (c *crashChild) say(line crashLine) error {
	b, err := json.Marshal(line)
	if err == nil {
		_, err = c.out.Write(append(b, '\n'))
	}
	return err
}

// work makes one worker's writes, saying what it is about to do and what it
// has done.
func (c *crashChild) work(worker int, state crashState) error {
	r := rand.New(rand.NewPCG(c.Seed, uint64(worker)))
	for n := range c.Ops {
		op := chooseOp(r, worker, state)
		op.Rev = int64(c.Round*1000 + n)
		if err := c.say(crashLine{Worker: worker, Op: &op}); err != nil {
			return err
		}
		seq, count, err := c.do(r, worker, op)
		if err != nil {
			return fmt.Errorf("worker %d: %+v: %w", worker, op, err)
		}
		if err := c.say(crashLine{Worker: worker, Seq: seq, Count: count}); err != nil {
			return err
		}
		state.apply(op)
		c.done.Add(1)
	}
	return nil
}

// chooseOp returns a write that can succeed as things stand.
func chooseOp(r *rand.Rand, worker int, s crashState) crashOp {
	op := crashOp{Key: fmt.Sprintf("w%d-%d", worker, r.IntN(crashKeys))}
	_, there := s.docs[op.Key]
	_, live := s.sess[op.Key]
	_, piled := s.heap[op.Key]
	_, shelved := s.tomes[op.Key]
	switch n := r.IntN(46); {
	case n >= 36 && !shelved:
		op.Kind = opShelve
	case n >= 44:
		op.Kind = opBurn
	case n >= 36:
		op.Kind = opRevise
	case n >= 30 && !piled:
		op.Kind = opPile
	case n >= 34:
		op.Kind = opTake
	case n >= 30:
		op.Kind = opMend
	case n >= 28 && live:
		op.Kind = opLapse
	case n >= 25:
		op.Kind = opVisit
	case n >= 21:
		op.Kind = opBump
	case n == 20:
		op.Kind = opAbsent
	case n < 4:
		op.Kind = opTwins
	case n < 6:
		op.Kind = opNoTwin
	case n < 10:
		op.Kind = opMove
	case n < 11:
		op.Kind = opSetAll
	case !there:
		op.Kind = opPut
	case n < 14:
		op.Kind = opDel
	case n < 15:
		op.Kind = opTaken
	default:
		op.Kind = opSet
	}
	return op
}

// do carries out a write and returns its number, and how many it took.
func (c *crashChild) do(r *rand.Rand, worker int, op crashOp) (seq uint64, count int, err error) {
	body := bodyOf(op.Key, op.Rev)
	switch op.Kind {
	case opPut:
		return c.one(`put docs {key: $1, owner: $2, rev: $3, body: $4}`, op.Key, worker, op.Rev, body)
	case opSet:
		return c.one(`set docs {rev: $1, body: $2} where key = $3`, op.Rev, body, op.Key)
	case opDel:
		return c.one(`del docs where key = $1`, op.Key)
	case opSetAll:
		return c.one(`set docs {rev: $1, body: ""} where owner = $2`, op.Rev, worker)
	case opTaken:
		_, _, err := c.one(`put docs {key: $1, owner: $2, rev: $3, body: $4}`, op.Key, worker, op.Rev, body)
		if !errors.Is(err, fenec.ErrDuplicate) {
			return 0, 0, fmt.Errorf("want a duplicate, got %w", err)
		}
		return 0, 0, nil
	case opAbsent:
		return c.one(`put tally {key: $1, owner: $2, n: 1} if absent`, op.Key, worker)
	case opBump:
		return c.one(`insert tally {key: $1, owner: $2, n: 1} if absent else set {n: n + new.n} require 1`, op.Key, worker)
	case opVisit:
		return c.one(`put sess {key: $1, owner: $2, rev: $3, seen: now()} if absent else set {rev: new.rev, seen: now()}`,
			op.Key, worker, op.Rev)
	case opPile:
		return c.one(`put heap {key: $1, owner: $2, rev: $3}`, op.Key, worker, op.Rev)
	case opMend:
		return c.one(`set heap {rev: $2} where key = $1 require 1`, op.Key, op.Rev)
	case opTake:
		return c.one(`del heap where key = $1 require 1`, op.Key)
	case opShelve:
		return c.one(`put tomes {key: $1, owner: $2, rev: $3, body: $4, v: $5}`, op.Key, worker, op.Rev, tomeBody(op.Key, op.Rev), tomeVector(op.Key, op.Rev))
	case opRevise:
		return c.one(`set tomes {rev: $2, body: $3, v: $4} where key = $1 require 1`, op.Key, op.Rev, tomeBody(op.Key, op.Rev), tomeVector(op.Key, op.Rev))
	case opBurn:
		return c.one(`del tomes where key = $1 require 1`, op.Key)
	case opLapse:
		return c.one(`set sess {seen: now() - 5184000000} where key = $1 require 1`, op.Key)
	case opTwins:
		return c.both(
			[]string{`del twins where key = $1`, `del others where key = $1`,
				`put twins {key: $1, owner: $2, rev: $3}`, `put others {key: $1, owner: $2, rev: $3}`},
			op.Key, worker, op.Rev)
	case opNoTwin:
		return c.both([]string{`del others where key = $1`, `del twins where key = $1`}, op.Key)
	}
	from, to := r.IntN(crashAccounts), r.IntN(crashAccounts)
	return c.both([]string{
		`set accounts {money: money - $1} where name = $2`, `set accounts {money: money + $1} where name = $3`,
	}, 1+r.IntN(50), from, to)
}

func (c *crashChild) one(text string, args ...any) (seq uint64, count int, err error) {
	res, err := c.db.Query(ctx, text, args...)
	if err != nil {
		return 0, 0, err
	}
	return res.Seq(), res.Affected(), nil
}

// both runs statements that share their arguments as one batch.
func (c *crashChild) both(texts []string, args ...any) (seq uint64, count int, err error) {
	var batch []fenec.Statement
	for _, text := range texts {
		batch = append(batch, fenec.Statement{Text: text, Args: args})
	}
	results, err := c.db.Batch(ctx, batch)
	if err != nil {
		return 0, 0, err
	}
	for _, res := range results {
		seq = res.Seq()
		count += res.Affected()
	}
	return seq, count, nil
}

// keepHouse folds, compacts and copies now and then, as the writers go on.
func (c *crashChild) keepHouse(stop <-chan struct{}) error {
	r := rand.New(rand.NewPCG(c.Seed, 99))
	for {
		for seen := c.done.Load(); c.done.Load() < seen+8; {
			select {
			case <-stop:
				return nil
			default:
				// A long read may have to give way to writers.
				if _, err := readCrash(c.db); err != nil && !errors.Is(err, fenec.ErrSnapshotTooOld) {
					return err
				}
			}
		}
		var err error
		switch r.IntN(5) {
		case 0:
			err = c.db.Compact(ctx)
		case 4:
			_, err = c.db.Sweep(ctx)
		case 1:
			err = c.copy()
		default:
			err = c.db.Checkpoint(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// copy installs an image beside the database.
func (c *crashChild) copy() error {
	path := copyPath(c.Path)
	if err := checkCopy(path); err != nil {
		return err
	}
	m, err := c.db.OpenImage(ctx)
	if err != nil {
		return err
	}
	return errors.Join(fenec.Install(path, m), m.Close())
}
