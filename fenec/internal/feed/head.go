package feed

import (
	"encoding/binary"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/row"
)

const (
	headVersion = 1
	keyBytes    = 8 // of the space's keys
	sumBytes    = 4 // of a checksum
)

// headKey is the key of the head; no entry has number 0.
var headKey = numberKey(0)

func numberKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

func chunkNumber(key []byte) (uint64, error) {
	if len(key) != keyBytes {
		return 0, fmt.Errorf("%w: a key of %d bytes", ErrCorrupt, len(key))
	}
	return binary.BigEndian.Uint64(key), nil
}

func isHead(key []byte) bool {
	n, err := chunkNumber(key)
	return err == nil && n == 0
}

// known is what is known of the feed without reading it.
type known struct {
	upTo    uint64 // what is stored ends there
	horizon uint64
	bytes   int64 // of the stored chunks with their keys
}

// append appends the head as it is stored.
func (k *known) append(dst []byte) []byte {
	from := len(dst)
	dst = append(dst, headVersion)
	dst = binary.AppendUvarint(dst, k.upTo)
	dst = binary.AppendUvarint(dst, k.horizon)
	dst = binary.AppendUvarint(dst, uint64(k.bytes))
	return row.SealFrom(dst, from)
}

// decodeHead reads a stored head.
func decodeHead(b []byte) (k known, err error) {
	data, err := row.Open(b)
	if err != nil {
		return k, fmt.Errorf("%w: the checksum of the head", ErrCorrupt)
	}
	w := walk{rest: data}
	if v := w.take(1); len(v) > 0 && v[0] != headVersion {
		return k, fmt.Errorf("%w: version %d, this program reads %d", ErrCorrupt, v[0], headVersion)
	}
	k.upTo, k.horizon, k.bytes = w.uvarint(), w.uvarint(), int64(w.uvarint())
	if w.err != nil || len(w.rest) > 0 || k.bytes < 0 || k.horizon > k.upTo {
		return known{}, fmt.Errorf("%w: the head", ErrCorrupt)
	}
	return k, nil
}
