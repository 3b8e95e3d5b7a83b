package value

import (
	"encoding/binary"
	"errors"
	"math"
	"unsafe"
)

// ErrCorrupt is returned for stored bytes that are not what Append writes.
var ErrCorrupt = errors.New("value: damaged bytes")

// The stored form of a value is a tag and what the tag says follows:
//
//	tagNull, tagFalse, tagTrue
//	tagInt, tagTimestamp   zigzag varint
//	tagFloat               8 bytes, little endian
//	tagText, tagBytes      length as uvarint, the bytes
//	tagVector              components as uvarint, 4 bytes each, little endian
//	tagList                size as uvarint; in it elements as uvarint, the elements
//	tagObject              size as uvarint; in it members as uvarint, and for each
//	                       the key's length as uvarint, the key, the value
//	tagSparse              size as uvarint; in it the dimension as uvarint, and
//	                       what AppendSparse writes
//
// A size counts the bytes after itself, so that a list or an object is passed
// over in one step. Members come by ascending key. Lengths are not required to
// be of the fewest bytes. The tags are part of stored files; a new kind takes a
// new one.
const (
	tagNull byte = iota
	tagFalse
	tagTrue
	tagInt
	tagFloat
	tagTimestamp
	tagText
	tagBytes
	tagVector
	tagList
	tagObject
	tagSparse
)

// maxCodecDepth is how deep Decode follows lists and objects. It covers lists
// of the deepest type and json within them.
const maxCodecDepth = 160

// Append appends v in its stored form.
func Append(dst []byte, v Value) []byte {
	switch v.kind {
	case KindBool:
		return append(dst, tagFalse+byte(v.num))
	case KindInt:
		return binary.AppendVarint(append(dst, tagInt), int64(v.num))
	case KindFloat:
		return binary.LittleEndian.AppendUint64(append(dst, tagFloat), v.num)
	case KindTimestamp:
		return binary.AppendVarint(append(dst, tagTimestamp), int64(v.num))
	case KindText:
		return appendSized(append(dst, tagText), v.str())
	case KindBytes:
		return appendSized(append(dst, tagBytes), v.str())
	case KindVector:
		dst = binary.AppendUvarint(append(dst, tagVector), v.num)
		return AppendFloat32s(dst, v.AsVector())
	case KindList:
		dst, start := openSized(append(dst, tagList))
		dst = binary.AppendUvarint(dst, v.num)
		for _, e := range v.AsList() {
			dst = Append(dst, e)
		}
		return closeSized(dst, start)
	case KindSparse:
		dst, start := openSized(append(dst, tagSparse))
		dim, _ := v.AsSparse()
		dst = AppendSparse(binary.AppendUvarint(dst, uint64(dim)), v)
		return closeSized(dst, start)
	case KindObject:
		dst, start := openSized(append(dst, tagObject))
		dst = binary.AppendUvarint(dst, v.num)
		for _, m := range v.AsObject() {
			dst = Append(appendSized(dst, m.Key), m.Value)
		}
		return closeSized(dst, start)
	}
	return append(dst, tagNull)
}

func appendSized(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// openSized leaves one byte for the size of what is appended next, and
// closeSized fills it in, making room when the size takes more.
func openSized(dst []byte) (out []byte, start int) {
	return append(dst, 0), len(dst) + 1
}

func closeSized(dst []byte, start int) []byte {
	var size [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(size[:], uint64(len(dst)-start))
	if n > 1 {
		dst = append(dst, size[:n-1]...)
		copy(dst[start+n-1:], dst[start:])
	}
	copy(dst[start-1:], size[:n])
	return dst
}

// littleEndian is whether this machine has numbers in memory as they are stored.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// AppendFloat32s appends the components of a vector, 4 bytes each, little
// endian.
func AppendFloat32s(dst []byte, x []float32) []byte {
	if littleEndian {
		return append(dst, memoryOf(x)...)
	}
	for _, f := range x {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
	}
	return dst
}

// ReadFloat32s fills x with components as AppendFloat32s wrote them. b holds
// 4*len(x) bytes.
func ReadFloat32s(x []float32, b []byte) {
	b = b[:4*len(x)]
	if littleEndian {
		copy(memoryOf(x), b)
		return
	}
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
}

// memoryOf returns the bytes that x lies in.
func memoryOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

// Decode returns the value that b begins with and the bytes after it. The value
// shares no memory with b.
func Decode(b []byte) (v Value, rest []byte, err error) {
	d := decoder{room: len(b)}
	return d.value(b, maxCodecDepth)
}

// View is Decode without copying: texts, bytes and keys of v lie in b, which
// must not change while v is used. See Clone.
func View(b []byte) (v Value, rest []byte, err error) {
	d := decoder{room: len(b), share: true}
	return d.value(b, maxCodecDepth)
}

// decoder decodes one value.
type decoder struct {
	// room is how many elements and members may still come. Each takes a byte
	// at least, so that damaged counts cannot ask for more memory than the
	// bytes justify.
	room  int
	share bool // texts, bytes and keys lie in what is decoded
}

// value decodes the value that b begins with, following at most depth lists and
// objects.
func (d *decoder) value(b []byte, depth int) (v Value, rest []byte, err error) {
	tag, body, rest, err := cut(b)
	if err != nil {
		return Null, nil, err
	}
	switch tag {
	case tagNull:
		return Null, rest, nil
	case tagFalse, tagTrue:
		return Bool(tag == tagTrue), rest, nil
	case tagInt, tagTimestamp:
		i, _ := binary.Varint(body)
		if tag == tagInt {
			return Int(i), rest, nil
		}
		return Timestamp(i), rest, nil
	case tagFloat:
		return Value{kind: KindFloat, num: binary.LittleEndian.Uint64(body)}, rest, nil
	case tagText, tagBytes:
		v = Text(d.text(body))
		if tag == tagBytes {
			v.kind = KindBytes
		}
		return v, rest, nil
	case tagVector:
		x := make([]float32, len(body)/4)
		ReadFloat32s(x, body)
		return Vector(x), rest, nil
	case tagSparse:
		v, err = sparseVector(body)
		return v, rest, err
	}
	if depth == 0 {
		return Null, nil, ErrCorrupt
	}
	if tag == tagList {
		v, err = d.list(body, depth-1)
	} else {
		v, err = d.object(body, depth-1)
	}
	return v, rest, err
}

// sparseVector decodes the body of a sparse vector.
func sparseVector(body []byte) (Value, error) {
	dim, entries, err := cutDim(body)
	if err != nil {
		return Null, err
	}
	return ReadSparse(entries, dim)
}

func (d *decoder) text(b []byte) string {
	if d.share {
		return asString(b)
	}
	return string(b)
}

// asString returns b as a string that shares its memory.
func asString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// count reads a number of elements or members and takes it off the room.
func (d *decoder) count(b []byte) (n int, rest []byte, err error) {
	n, rest, err = cutCount(b)
	if err != nil || n > d.room {
		return 0, nil, ErrCorrupt
	}
	d.room -= n
	return n, rest, nil
}

func (d *decoder) list(body []byte, depth int) (Value, error) {
	n, body, err := d.count(body)
	if err != nil {
		return Null, err
	}
	elems := make([]Value, n)
	for i := range elems {
		if elems[i], body, err = d.value(body, depth); err != nil {
			return Null, err
		}
	}
	if len(body) > 0 {
		return Null, ErrCorrupt
	}
	return List(elems), nil
}

func (d *decoder) object(body []byte, depth int) (Value, error) {
	n, body, err := d.count(body)
	if err != nil {
		return Null, err
	}
	members := make([]Member, n)
	for i := range members {
		m := &members[i]
		var key []byte
		if key, body, err = cutSized(body); err != nil {
			return Null, err
		}
		m.Key = d.text(key)
		if i > 0 && members[i-1].Key >= m.Key {
			return Null, ErrCorrupt
		}
		if m.Value, body, err = d.value(body, depth); err != nil {
			return Null, err
		}
	}
	if len(body) > 0 {
		return Null, ErrCorrupt
	}
	return object(members), nil
}

// cut splits the value that b begins with into its tag and its body, without
// looking into lists and objects. The body is without the length before it.
func cut(b []byte) (tag byte, body, rest []byte, err error) {
	if len(b) == 0 {
		return 0, nil, nil, ErrCorrupt
	}
	tag, b = b[0], b[1:]
	size := 0
	switch tag {
	case tagNull, tagFalse, tagTrue:
	case tagInt, tagTimestamp:
		if _, size = binary.Uvarint(b); size <= 0 {
			return 0, nil, nil, ErrCorrupt
		}
	case tagFloat:
		size = 8
	case tagText, tagBytes, tagList, tagObject, tagSparse:
		body, rest, err = cutSized(b)
		return tag, body, rest, err
	case tagVector:
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b))/4 {
			return 0, nil, nil, ErrCorrupt
		}
		size, b = 4*int(n), b[used:]
	default:
		return 0, nil, nil, ErrCorrupt
	}
	if size > len(b) {
		return 0, nil, nil, ErrCorrupt
	}
	return tag, b[:size], b[size:], nil
}

// cutSized reads a length and that many bytes.
func cutSized(b []byte) (body, rest []byte, err error) {
	if len(b) > 0 && b[0] < 0x80 && int(b[0]) < len(b) {
		end := 1 + int(b[0])
		return b[1:end:end], b[end:], nil
	}
	n, used := binary.Uvarint(b)
	if used <= 0 || n > uint64(len(b)-used) {
		return nil, nil, ErrCorrupt
	}
	end := used + int(n)
	return b[used:end:end], b[end:], nil
}

// cutCount reads the number of elements or members, of which each takes a byte
// at least.
func cutCount(b []byte) (n int, rest []byte, err error) {
	count, used := binary.Uvarint(b)
	if used <= 0 || count > uint64(len(b)-used) {
		return 0, nil, ErrCorrupt
	}
	return int(count), b[used:], nil
}

// cutDim reads the dimension of a sparse vector.
func cutDim(b []byte) (dim int, rest []byte, err error) {
	d, used := binary.Uvarint(b)
	if used <= 0 || d < 1 || d > MaxSparseDim {
		return 0, nil, ErrCorrupt
	}
	return int(d), b[used:], nil
}
