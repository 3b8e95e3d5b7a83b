package front

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadersBesideAWriter inserts one shuffled row and a counter a sequence. A
// sequence once announced shows exactly the rows up to it, whatever is inserted
// while a reader looks.
func TestReadersBesideAWriter(t *testing.T) {
	const readers, rounds, rows = 3, 40, 150
	f := New()
	var announced atomic.Uint64
	for round := range uint64(rounds) {
		results := make(chan error, readers)
		for reader := range uint64(readers) {
			go func() { results <- checkSnapshot(f, announced.Load(), reader) }()
		}
		for seq := round*rows + 1; seq <= (round+1)*rows; seq++ {
			f.Insert(1, id(mix(seq)), seq, id(seq), false)
			f.Insert(0, []byte("rows"), seq, id(seq), false)
			announced.Store(seq)
		}
		for range readers {
			require.NoError(t, <-results)
		}
	}
}

// checkSnapshot looks at everything there is at seq.
func checkSnapshot(f *Front, seq, seed uint64) error {
	return errors.Join(
		checkRows(f, seq, (*Iter).First, (*Iter).Next, -1),
		checkRows(f, seq, (*Iter).Last, (*Iter).Prev, 1),
		checkPoints(f, seq, rand.New(rand.NewPCG(seed, seq))),
	)
}

// checkRows goes over the rows at seq: there must be as many, in order.
func checkRows(f *Front, seq uint64, start, move func(*Iter) bool, order int) error {
	it := f.NewIter(1, nil, nil, seq)
	rows, before := uint64(0), uint64(0)
	for ok := start(it); ok; ok = move(it) {
		key, row := binary.BigEndian.Uint64(it.Key()), binary.BigEndian.Uint64(it.Value())
		if key != mix(row) || row > seq {
			return fmt.Errorf("at %d: key %x has row %d", seq, key, row)
		}
		if rows > 0 && (order > 0) != (key < before) {
			return fmt.Errorf("at %d: key %x after %x", seq, key, before)
		}
		rows, before = rows+1, key
	}
	if rows != seq {
		return fmt.Errorf("at %d: %d rows", seq, rows)
	}
	return nil
}

// checkPoints looks single keys up at seq.
func checkPoints(f *Front, seq uint64, r *rand.Rand) error {
	value, _, ok := f.Get(0, []byte("rows"), seq)
	if ok != (seq > 0) || ok && binary.BigEndian.Uint64(value) != seq {
		return fmt.Errorf("at %d: counter %x", seq, value)
	}
	var finger Finger
	for range 40 {
		row := 1 + r.Uint64N(seq+100)
		get := f.Get
		if r.IntN(2) == 0 {
			get = func(space uint32, key []byte, maxSeq uint64) ([]byte, bool, bool) {
				return finger.Get(f, space, key, maxSeq)
			}
		}
		value, _, ok := get(1, id(mix(row)), seq)
		if ok != (row <= seq) || ok && binary.BigEndian.Uint64(value) != row {
			return fmt.Errorf("at %d: row %d is %x", seq, row, value)
		}
	}
	return nil
}
