package row

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// Encode appends the row of a document to dst. vals[i] is field i, which must
// be null or what value.Coerce returns for types[i]; Encode panics when it is of
// another kind. Nulls at the end are not stored, and vals may be shorter than
// types.
func Encode(dst []byte, types []value.Type, vals []value.Value) []byte {
	n := len(vals)
	for n > 0 && vals[n-1].IsNull() {
		n--
	}
	if n > maxFields {
		panic(fmt.Sprintf("row: %d fields", n))
	}
	// The data goes where the row begins and moves back when the width of
	// offsets, hence the size of what stands before it, is known.
	start := len(dst)
	var buf [64]uint32
	ends := buf[:0]
	for i, v := range vals[:n] {
		dst = appendField(dst, v, types[i])
		ends = append(ends, uint32(len(dst)-start))
	}
	size := len(dst) - start
	if uint64(size) > math.MaxUint32 {
		panic(fmt.Sprintf("row: %d bytes", size))
	}
	var header [2 + binary.MaxVarintLen64]byte
	header[0], header[1] = version, offsetWidth(size)
	headLen := 2 + binary.PutUvarint(header[2:], uint64(n))
	tables := (n+7)/8 + n*int(header[1])

	dst = append(dst, make([]byte, headLen+tables)...)
	copy(dst[start+headLen+tables:], dst[start:start+size])
	copy(dst[start:], header[:headLen])
	fillTables(dst[start+headLen:start+headLen+tables], vals[:n], ends, int(header[1]))
	return dst
}

// offsetWidth returns the bytes that an offset up to size takes.
func offsetWidth(size int) byte {
	switch {
	case size <= math.MaxUint8:
		return 1
	case size <= math.MaxUint16:
		return 2
	}
	return 4
}

// fillTables writes the null bits and the offsets.
func fillTables(b []byte, vals []value.Value, ends []uint32, width int) {
	nulls := b[:(len(vals)+7)/8]
	clear(nulls)
	b = b[len(nulls):]
	for i, v := range vals {
		if v.IsNull() {
			nulls[i>>3] |= 1 << (i & 7)
		}
		switch width {
		case 1:
			b[i] = byte(ends[i])
		case 2:
			binary.LittleEndian.PutUint16(b[2*i:], uint16(ends[i]))
		default:
			binary.LittleEndian.PutUint32(b[4*i:], ends[i])
		}
	}
}

// appendField appends the data of a field of type t.
func appendField(dst []byte, v value.Value, t value.Type) []byte {
	switch {
	case v.IsNull():
		return dst
	case t.IsList():
		if v.Kind() != value.KindList {
			panic(fmt.Sprintf("row: a %s in a field of type %s", v.Kind(), t))
		}
		return value.Append(dst, v)
	}
	switch t.Base() {
	case value.BaseBool:
		if v.AsBool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case value.BaseInt, value.BaseTimestamp:
		return appendInt(dst, v.AsInt())
	case value.BaseFloat:
		return appendFloat(dst, v.AsFloat())
	case value.BaseText:
		return append(dst, v.AsText()...)
	case value.BaseBytes:
		return append(dst, v.AsBytes()...)
	case value.BaseVector:
		return appendVector(dst, v.AsVector(), t)
	case value.BaseSparse:
		return value.AppendSparse(dst, v)
	case value.BaseGeo:
		return appendPoint(dst, v.AsList())
	case value.BaseJSON:
		return value.Append(dst, v)
	}
	panic(fmt.Sprintf("row: a field of %s", t))
}

func appendInt(dst []byte, n int64) []byte {
	switch {
	case n == int64(int8(n)):
		return append(dst, byte(n))
	case n == int64(int16(n)):
		return binary.LittleEndian.AppendUint16(dst, uint16(n))
	case n == int64(int32(n)):
		return binary.LittleEndian.AppendUint32(dst, uint32(n))
	case n == n<<16>>16:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
		return binary.LittleEndian.AppendUint16(dst, uint16(n>>32))
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(n))
}

func appendFloat(dst []byte, f float64) []byte {
	if short := float32(f); float64(short) == f {
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(short))
	}
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
}

func appendPoint(dst []byte, coordinates []value.Value) []byte {
	if len(coordinates) != 2 {
		panic(fmt.Sprintf("row: a list of %d in a field of type %s", len(coordinates), value.TypeGeo))
	}
	for _, c := range coordinates {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.AsFloat()))
	}
	return dst
}

func appendVector(dst []byte, x []float32, t value.Type) []byte {
	if len(x) != t.Dim() {
		panic(fmt.Sprintf("row: a vector of %d in a field of type %s", len(x), t))
	}
	if t.F16() {
		return vector.AppendFloat16s(dst, x)
	}
	return value.AppendFloat32s(dst, x)
}
