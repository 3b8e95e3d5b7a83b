package fenec_test

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/fenec-go/fenecdb/fenec"
)

// checkHistory checks that every number that was acknowledged has its place in
// the history, that the numbers of one process have no gap, and that what was
// put and not deleted is what is there. It returns the sequence to go on from
// when the next process has ended.
func (w *crashWorld) checkHistory(db *fenec.DB) error {
	list, next, err := db.Changes(ctx, 0, math.MaxInt)
	if err != nil {
		return err
	}
	places := make(map[uint64]bool, len(list))
	for i, c := range list {
		places[c.Seq] = true
		if i > 0 && c.Seq <= list[i-1].Seq {
			return fmt.Errorf("history: %d comes after %d", c.Seq, list[i-1].Seq)
		}
		if i > 0 && list[i-1].Seq > w.looked && c.Seq != list[i-1].Seq+1 && !takenOut(list[i:]) {
			return fmt.Errorf("history: %d follows %d within one process", c.Seq, list[i-1].Seq)
		}
	}
	for seq, round := range w.given {
		if !places[seq] {
			return fmt.Errorf("history: number %d of round %d was acknowledged and is not there", seq, round)
		}
	}
	w.looked = next
	return agrees(db, list)
}

// takenOut reports whether changes may be those of opening the database: of
// taking out indexes that the process before was building.
func takenOut(list []fenec.Change) bool {
	return !slices.ContainsFunc(list, func(c fenec.Change) bool { return c.Op != fenec.ChangeAlter })
}

// agrees checks that what a history put and did not delete is what is there.
func agrees(db *fenec.DB, list []fenec.Change) error {
	held := map[string]map[uint64]bool{}
	for _, c := range list {
		switch c.Op {
		case fenec.ChangeCreate:
			held[c.Collection] = map[uint64]bool{}
		case fenec.ChangePut:
			held[c.Collection][c.ID] = true
		case fenec.ChangeDel:
			delete(held[c.Collection], c.ID)
		}
	}
	for name, ids := range held {
		there, err := idsOf(db, name)
		if err != nil {
			return err
		}
		if want := slices.Sorted(maps.Keys(ids)); !slices.Equal(want, there) {
			return fmt.Errorf("history: it leaves ids %v in %s, there are %v", want, name, there)
		}
	}
	return nil
}

// idsOf returns the ids of a collection, those of rows that have expired too.
func idsOf(db *fenec.DB, name string) (ids []uint64, err error) {
	texts := []string{"get " + name + " select id"}
	if name == "sess" {
		texts = append(texts, "get sess where expired() select id")
	}
	for _, text := range texts {
		res, err := db.Query(ctx, text)
		if err != nil {
			return nil, err
		}
		for row := range res.All() {
			id, err := row.Int("id")
			if err != nil {
				return nil, err
			}
			ids = append(ids, uint64(id))
		}
	}
	slices.Sort(ids)
	return ids, nil
}
