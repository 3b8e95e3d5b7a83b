package store

import (
	"bytes"

	"github.com/fenec-go/fenecdb/fenec/internal/front"
)

// merge walks the keys of one space that are in a view's fronts, within bounds.
type merge struct {
	fronts  [3]front.Iter // newest first
	nfronts int
	reverse bool

	at  uint // bit i: fronts[i] stands at key
	key []byte
}

// open makes m one of v's fronts. It stands nowhere then.
func (m *merge) open(v *View, space uint32, lower, upper []byte) {
	if v.overlay != nil {
		v.overlay.InitIter(m.add(), space, lower, upper)
	}
	v.live.InitIter(m.add(), space, lower, upper, v.seq)
	if v.frozen != nil {
		v.frozen.InitIter(m.add(), space, lower, upper, v.seq)
	}
}

// add returns the place of one more front.
func (m *merge) add() *front.Iter {
	m.nfronts++
	return &m.fronts[m.nfronts-1]
}

func (m *merge) reset(lower, upper []byte) {
	for i := range m.nfronts {
		m.fronts[i].Reset(lower, upper)
	}
	m.at, m.key = 0, nil
}

func (m *merge) seekGE(key []byte) {
	m.reverse = false
	for i := range m.nfronts {
		m.fronts[i].SeekGE(key)
	}
}

// seekLT moves to before key; nil is past every key.
func (m *merge) seekLT(key []byte) {
	m.reverse = true
	for i := range m.nfronts {
		if key == nil {
			m.fronts[i].Last()
		} else {
			m.fronts[i].SeekLT(key)
		}
	}
}

// nearest finds the key that comes first, and which fronts stand at it.
func (m *merge) nearest() {
	m.at, m.key = 0, nil
	for i := range m.nfronts {
		if m.fronts[i].Valid() {
			m.consider(m.fronts[i].Key(), 1<<i)
		}
	}
}

// consider notes that what bit stands for is at key, unless it comes later than
// what was found before.
func (m *merge) consider(key []byte, bit uint) {
	if m.at == 0 {
		m.key, m.at = key, bit
		return
	}
	c := bytes.Compare(key, m.key)
	if m.reverse {
		c = -c
	}
	switch {
	case c < 0:
		m.key, m.at = key, bit
	case c == 0:
		m.at |= bit
	}
}

// advance moves every front that stands at the current key.
func (m *merge) advance() {
	for i := range m.nfronts {
		switch {
		case m.at&(1<<i) == 0:
		case m.reverse:
			m.fronts[i].Prev()
		default:
			m.fronts[i].Next()
		}
	}
}

// newest returns the front with the newest version of the current key; nil if
// none has one.
func (m *merge) newest() *front.Iter {
	for i := range m.nfronts {
		if m.at&(1<<i) != 0 {
			return &m.fronts[i]
		}
	}
	return nil
}
