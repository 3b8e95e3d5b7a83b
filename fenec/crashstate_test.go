package fenec_test

import (
	"fmt"
	"maps"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
)

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
	opPile   = "pile"    // a new document in heap
	opMend   = "mend"    // an update in heap
	opTake   = "take"    // a delete in heap
	opShelve = "shelve"  // a new document in tomes
	opRevise = "revise"  // an update in tomes
	opBurn   = "burn"    // a delete in tomes
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
	docs, twins, heap, tomes map[string]int64 // key to revision
	sess                     map[string]int64 // the same, of rows that have not expired
	tally                    map[string]int64 // key to how often it was put
}

// newCrashState returns the state of a worker that has done nothing.
func newCrashState() crashState {
	return crashState{map[string]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}}
}

func (s crashState) clone() crashState {
	return crashState{maps.Clone(s.docs), maps.Clone(s.twins), maps.Clone(s.heap), maps.Clone(s.tomes), maps.Clone(s.sess), maps.Clone(s.tally)}
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
	case opPile, opMend:
		s.heap[op.Key] = op.Rev
	case opTake:
		delete(s.heap, op.Key)
	case opShelve, opRevise:
		s.tomes[op.Key] = op.Rev
	case opBurn:
		delete(s.tomes, op.Key)
	}
}

func (s crashState) equal(o crashState) bool {
	return maps.Equal(s.docs, o.docs) && maps.Equal(s.twins, o.twins) && maps.Equal(s.heap, o.heap) && maps.Equal(s.tomes, o.tomes) &&
		maps.Equal(s.sess, o.sess) && maps.Equal(s.tally, o.tally)
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
		heap, err := crashRows(sn, `get heap where owner >= 0 select key, owner, rev, "" as body`)
		if err != nil {
			return err
		}
		tomes, err := readTomes(sn)
		if err != nil {
			return err
		}
		for i := range docs {
			if !maps.Equal(twins[i], others[i]) {
				return fmt.Errorf("worker %d: half a batch: %v in one collection, %v in the other", i, twins[i], others[i])
			}
			states = append(states, crashState{docs[i], twins[i], heap[i], tomes[i], sess[i], tally[i]})
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
