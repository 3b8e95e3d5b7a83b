package store

import (
	"bytes"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// Count returns how many keys of space are in [lower, upper); nil is unbounded.
// It costs a look at each page of the base there, and at each key in the fronts.
func (v *View) Count(space uint32, lower, upper []byte) (int64, error) {
	tx, err := v.base()
	if err != nil {
		return 0, err
	}
	n, err := tx.Count(space, lower, upper)
	if err != nil {
		return 0, err
	}
	var fresh merge
	fresh.open(v, space, lower, upper)
	fresh.seekGE(lower)
	var below *lookup
	for fresh.nearest(); fresh.at != 0; fresh.nearest() {
		if below == nil {
			below = &lookup{tx: tx, space: space}
		}
		there, err := below.has(fresh.key)
		if err != nil {
			return 0, err
		}
		switch gone := fresh.newest().Tombstone(); {
		case gone && there:
			n--
		case !gone && !there:
			n++
		}
		fresh.advance()
	}
	return n, nil
}

// CountFolded returns how many keys of space in [lower, upper) the base has, for a
// look at each of its pages there, and the sequence up to which it is folded.
func (v *View) CountFolded(space uint32, lower, upper []byte) (n int64, folded uint64, err error) {
	tx, err := v.base()
	if err != nil {
		return 0, 0, err
	}
	n, err = tx.Count(space, lower, upper)
	return n, tx.Folded(), err
}

// lookup tells whether ascending keys are in a space of the base.
type lookup struct {
	tx    *base.Tx
	space uint32
	begun bool
	cur   base.Cursor // at the first key at or after the last one looked for
}

func (l *lookup) has(key []byte) (bool, error) {
	if !l.begun {
		l.begun = true
		if err := l.tx.Point(&l.cur, l.space); err != nil {
			return false, err
		}
		if err := l.cur.SeekGE(key); err != nil {
			return false, err
		}
	}
	if l.cur.Key != nil && bytes.Compare(l.cur.Key, key) < 0 {
		if err := l.cur.SeekGE(key); err != nil {
			return false, err
		}
	}
	return l.cur.Key != nil && bytes.Equal(l.cur.Key, key), nil
}
