package posting

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A posting that is in no chunk yet has a key of its own, prefix ++ id8, and for
// its value two uvarints, TF and Length, or the four bytes of Weight, little
// endian.

// AppendID makes the prefix of a term the key of a posting by itself.
func AppendID(prefix []byte, id uint64) []byte {
	return binary.BigEndian.AppendUint64(prefix, id)
}

// AppendValue appends the value of a posting by itself.
func (p *Posting) AppendValue(dst []byte, kind Kind) []byte {
	if kind == Weights {
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(p.Weight))
	}
	dst = binary.AppendUvarint(dst, uint64(p.TF))
	return binary.AppendUvarint(dst, uint64(p.Length))
}

// Single returns the posting under a key of its own, and the prefix of its term.
// Gone is not set. What cannot be one is ErrCorrupt.
func Single(kind Kind, key, value []byte) (prefix []byte, p Posting, err error) {
	at := len(key) - 8
	if at < 1 {
		return nil, p, fmt.Errorf("%w: key %x of a posting", ErrCorrupt, key)
	}
	p.ID = binary.BigEndian.Uint64(key[at:])
	if !p.parseValue(kind, value) || p.ID > MaxID {
		return nil, p, fmt.Errorf("%w: key %x: a posting of %d bytes", ErrCorrupt, key, len(value))
	}
	return key[:at], p, nil
}

// parseValue reads what AppendValue wrote.
func (p *Posting) parseValue(kind Kind, b []byte) bool {
	if kind == Weights {
		if len(b) == 4 {
			p.Weight = math.Float32frombits(binary.LittleEndian.Uint32(b))
		}
		return len(b) == 4 && p.Weight != 0 && p.Weight-p.Weight == 0
	}
	tf, n := binary.Uvarint(b)
	if n <= 0 {
		return false
	}
	length, m := binary.Uvarint(b[n:])
	p.TF, p.Length = uint32(tf), uint32(length)
	return m > 0 && n+m == len(b) && tf >= 1 && tf <= length && length <= math.MaxUint32
}
