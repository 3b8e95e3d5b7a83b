package store

import (
	"bytes"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// Entry is a key with its value to be filled into a space.
type Entry struct{ Key, Value []byte }

// Fill brings entries straight into the base: those that gather returns for what
// it reads through v, in any order. The space is one whose keys say only what
// other keys of the store say too, and that blocks have kept in step with these
// from before the call on: what a block has changed since v's sequence comes
// on top of what is filled in. Folds wait meanwhile; nothing else does.
//
// In memory and on disk alike, what was filled in is in the base when Fill
// returns.
func (s *Store) Fill(space uint32, gather func(v *View) ([]Entry, error)) error {
	return s.fill(func(v *View) (func() (base.Change, bool), error) {
		entries, err := gather(v)
		if err != nil {
			return nil, err
		}
		v.Release()
		byKey := func(a, b Entry) int { return bytes.Compare(a.Key, b.Key) }
		if !slices.IsSortedFunc(entries, byKey) {
			slices.SortFunc(entries, byKey)
		}
		next := filled(space, entries)
		if space < MergedSpaces {
			return next, nil
		}
		return s.mergeFilled(func(tx *base.Tx) ([]base.Change, error) { return mergeSpaces(s.opts.Merger, tx, next) })
	})
}

// FillMerged is Fill for a space that a Merger keeps: what gather returns for what
// it has read makes of it what becomes of the base, as the Merger would.
func (s *Store) FillMerged(gather func(v *View) (func(tx *base.Tx) ([]base.Change, error), error)) error {
	return s.fill(func(v *View) (func() (base.Change, bool), error) {
		merge, err := gather(v)
		if err != nil {
			return nil, err
		}
		v.Release()
		return s.mergeFilled(merge)
	})
}

// fill folds what prepare returns for what it reads through v.
func (s *Store) fill(prepare func(v *View) (next func() (base.Change, bool), err error)) error {
	s.folding.Lock()
	defer s.folding.Unlock()
	if err := s.openAndWell(); err != nil {
		return err
	}
	// While the snapshot is open nothing past it is folded. What came before it
	// and is folded later is in keeping with what it sees.
	sn, err := s.Snapshot()
	if err != nil {
		return err
	}
	defer sn.Close()
	v := sn.View()
	defer v.Release()
	next, err := prepare(v)
	if err != nil {
		return err
	}
	if err := s.layLog(); err != nil {
		return err
	}
	s.opts.Step("fill")
	err = s.foldBase(s.base.Folded(), next)
	if err == nil && s.path != "" {
		// Blocks to come rely on what is filled in, and the log does not say it. Were the
		// meta page of this fold damaged, the other one must know it too.
		err = s.foldBase(s.base.Folded(), filled(0, nil))
	}
	if err != nil {
		return s.fail(err)
	}
	s.opts.Step("filled")
	return nil
}

// filled yields entries as changes of a space.
func filled(space uint32, entries []Entry) func() (base.Change, bool) {
	return func() (base.Change, bool) {
		if len(entries) == 0 {
			return base.Change{}, false
		}
		c := base.Change{Space: space, Key: entries[0].Key, Value: entries[0].Value}
		entries = entries[1:]
		return c, true
	}
}

// mergeFilled yields what merge makes of the base.
func (s *Store) mergeFilled(merge func(tx *base.Tx) ([]base.Change, error)) (merged func() (base.Change, bool), err error) {
	defer base.Recover(s.path, base.Guard(), &err)
	tx, err := s.base.Acquire()
	if err != nil {
		return nil, err
	}
	defer tx.Release() // before the fold, which may wait for readers
	list, err := merge(tx)
	return func() (base.Change, bool) {
		if len(list) == 0 {
			return base.Change{}, false
		}
		c := list[0]
		list = list[1:]
		return c, true
	}, err
}
