package store

import (
	"bytes"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// Key is a key to be filled into a space, without a value.
type Key []byte

// Fill brings keys straight into the base: those that gather returns for what
// it reads through v, in any order. The space is one whose keys say only what
// other keys of the store say too, and that blocks have kept in step with these
// from before the call on: what a block has changed since v's sequence comes
// on top of what is filled in. Folds wait meanwhile; nothing else does.
//
// In memory and on disk alike, what was filled in is in the base when Fill
// returns.
func (s *Store) Fill(space uint32, gather func(v *View) ([]Key, error)) error {
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
	keys, err := gather(v)
	v.Release()
	if err != nil {
		return err
	}
	slices.SortFunc(keys, func(a, b Key) int { return bytes.Compare(a, b) })
	s.opts.Step("fill")
	err = s.base.Fold(s.base.Folded(), func() (base.Change, bool) {
		if len(keys) == 0 {
			return base.Change{}, false
		}
		c := base.Change{Space: space, Key: keys[0]}
		keys = keys[1:]
		return c, true
	})
	if err != nil {
		return s.fail(err)
	}
	s.opts.Step("filled")
	return nil
}
