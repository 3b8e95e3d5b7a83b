package posting

import "encoding/binary"

// TermPrefix appends to dst the prefix of the keys of a term of a text. A term
// has no zero byte. The empty term is a term like others.
func TermPrefix[T string | []byte](dst []byte, term T) []byte {
	return append(append(dst, term...), 0)
}

// IndexPrefix appends to dst the prefix of the keys of a sparse vector's index.
func IndexPrefix(dst []byte, index uint32) []byte {
	return binary.BigEndian.AppendUint32(dst, index)
}

// chunkKey appends to dst the key of the chunk whose first id is first.
func chunkKey(dst, prefix []byte, first uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, prefix...), first)
}
