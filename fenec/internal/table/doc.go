// Package table keeps documents in a store: rows, the index entries that lead
// to them, and the figures of each collection.
//
// A [Reader] reads one collection through a view. A [Tx] is an open block: its
// Writers put and delete rows, keep every index and figure in step, check
// uniqueness, and add to the block's record what was done, as results; it
// creates, alters and drops collections, and builds the indexes that come with
// it. The same record, handed to a [Replayer] after a crash or on a replica, does
// the same again.
//
// Readers see rows that are expired: who reads for a statement leaves them out
// ([Expired], [Reader.ExpiredRows]). A [Writer] that was told the time takes what
// they hold for free, and deletes them when it is taken. All others go when
// somebody deletes the ids of [Reader.ExpiredIDs].
//
// Layout. Space 0 holds the definitions and figures of all collections:
//
//	"c" number      the collection's definition (package catalog), sealed as a row is
//	"f" number      its figures: rows, live bytes, highest id, sum, 8 bytes each;
//	                without the sum if that is not known
//	"n"             the next free number
//
// Numbers are 4 bytes, ids and figures 8 bytes, all big endian. A collection's
// rows lie in a space of their own under the id, sealed with a checksum; an
// index's entries in another, as the value's key and the id, without a value.
package table

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrCorrupt is returned when what is stored does not agree with itself.
var ErrCorrupt = errors.New("damaged contents")

// Meta is the space of definitions and figures.
const Meta = 0

func definitionKey(number uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{'c'}, number)
}

func figuresKey(number uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{'f'}, number)
}

var nextKey = []byte{'n'}

const idBytes = 8

func appendID(dst []byte, id uint64) []byte { return binary.BigEndian.AppendUint64(dst, id) }

// Figures are what is known of a collection without looking at its rows.
type Figures struct {
	Rows      int64
	LiveBytes int64  // of the encoded rows
	Highest   uint64 // id ever used; 0 if none
	Sum       uint64 // of the rows' hashes, mod 2^64; 0 if it is not known

	// Unsummed says that the sum is not known, since the rows are older than sums
	// are. It becomes known with the first write that finds few rows.
	Unsummed bool
}

const (
	figuresBytes = 32
	unsummed     = 24 // bytes of figures without a sum
)

func (f Figures) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(f.Rows))
	dst = binary.BigEndian.AppendUint64(dst, uint64(f.LiveBytes))
	dst = binary.BigEndian.AppendUint64(dst, f.Highest)
	if f.Unsummed {
		return dst
	}
	return binary.BigEndian.AppendUint64(dst, f.Sum)
}

func decodeFigures(b []byte) (Figures, error) {
	if len(b) != figuresBytes && len(b) != unsummed {
		return Figures{}, fmt.Errorf("%w: figures of %d bytes", ErrCorrupt, len(b))
	}
	f := Figures{
		Rows:      int64(binary.BigEndian.Uint64(b)),
		LiveBytes: int64(binary.BigEndian.Uint64(b[8:])),
		Highest:   binary.BigEndian.Uint64(b[16:]),
	}
	if len(b) == unsummed {
		f.Unsummed = f.Rows != 0
	} else {
		f.Sum = binary.BigEndian.Uint64(b[unsummed:])
	}
	return f, nil
}
