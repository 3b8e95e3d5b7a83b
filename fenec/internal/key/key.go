// Package key encodes values so that comparing the bytes compares the values:
// the keys of indexes.
//
// [Append] writes the key of a value. No key is the beginning of another one,
// so that keys may be followed by anything, as by the id of a document in an
// index entry ([AppendID], [Split]), and still be told apart and in order.
//
// [AppendCollated] writes the key of a value in a field whose texts have a
// collation: what follows holds of it with value.CompareCollated in the place of
// value.Compare.
//
// # Order and equality
//
// Where two keys differ, bytes.Compare of them has the sign of value.Compare of
// their values, or that is 0. Where they are the same, value.Compare is 0. The
// int 3, the float 3.0 and the timestamp 3 have one key, and so have 0.0 and
// -0.0, and a text and bytes of the same content. This fails to hold exactly
// in these cases:
//
//   - Keys are finer than equality for numbers from 2^53 on. value.Compare
//     takes an int and a float, an int and a timestamp, or a float and a
//     timestamp as float64s, so that the int 2^53+1 equals the float 2^53; their
//     keys differ, and only ints among themselves and timestamps among themselves
//     are equal when their keys are. [AppendPrefix] gives the bytes that the keys
//     of all equal values begin with.
//   - Keys are coarser than equality for values whose key would be longer than
//     MaxLen: it is cut, and values that begin alike share it. [Cut] tells. The
//     order of what differs within MaxLen bytes is kept.
//   - A NaN, which equals every number, has a key of its own above all numbers.
//   - A list of numbers and a vector, and a timestamp and a text, compare as
//     two vectors and two timestamps, but their keys are of different groups. A
//     constant is coerced to the type of the indexed field before its key is made.
//
// A caller that looks up a constant of another kind than the field's, numbers
// under a path into json, or a cut key, therefore reads the range of
// AppendPrefix and lets the row decide.
package key

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// MaxLen is the most bytes of a value that a key holds. A longer key is cut
// there and one byte is added, so that keys have at most MaxLen+1 bytes.
const MaxLen = 16 << 10

// ErrCorrupt is returned for bytes that are no key.
var ErrCorrupt = errors.New("key: damaged bytes")

// A key begins with a tag that ranks the groups of values. The gaps are for
// kinds to come; tags are part of stored files.
//
//	tagNumber  8 bytes: the float64, as an unsigned number in the same order;
//	           from 2^53 on 2 bytes: 0x8000 + how much an int is above it
//	tagText    the bytes, 0x00 as 0x00 0xff; then 0x00 0x01. Under a collation
//	           what AppendKey of it writes, which is of the same form
//	tagVector  4 bytes a component, as an unsigned number in the same order;
//	           then 4 bytes 0, which is no component
//	tagList    the elements' keys; then tagEnd
//	tagSparse  each entry: 4 bytes of the index, which is not 0, and of the
//	           weight as in a vector; then 4 bytes 0 and 4 bytes of the dimension
//	tagObject  each member: tagMember, its key as a text without the tag, its
//	           value's key; then tagEnd
const (
	tagEnd    = 0x00
	tagMember = 0x01
	tagNull   = 0x10
	tagFalse  = 0x18
	tagTrue   = 0x19
	tagNumber = 0x20
	tagText   = 0x28
	tagVector = 0x30
	tagList   = 0x38
	tagSparse = 0x40
	tagObject = 0x48

	escaped    = 0xff // after 0x00: it stands for itself
	terminator = 0x01 // after 0x00: the text ends
	cutMark    = 0x00 // ends a key that is cut
)

// exactLimit is the first float64 whose neighbour is more than 1 away.
const exactLimit = 1 << 53

// Append appends the key of v.
func Append(dst []byte, v value.Value) []byte {
	dst, _ = AppendCut(dst, v)
	return dst
}

// AppendCut appends the key of v and reports whether it is cut, so that other
// values may have the same one.
func AppendCut(dst []byte, v value.Value) (out []byte, cut bool) {
	e := encoder{dst: dst, limit: len(dst) + MaxLen}
	e.value(v)
	return e.finish()
}

// AppendPrefix appends what the keys of all values equal to v begin with: the
// whole key, but for numbers from 2^53 on, where it ends before the digits that
// only ints have. Keys in [prefix, Next(prefix)) are of values equal to v, or
// need a look at the value when the prefix is shorter than the key or cut.
func AppendPrefix(dst []byte, v value.Value) []byte {
	e := encoder{dst: dst, limit: len(dst) + MaxLen, prefix: true}
	e.value(v)
	out, _ := e.finish()
	return out
}

// AppendCollated is AppendCut for a value of a field with collation c, in whose
// order texts come, those within lists too. Texts that are equal under c are the
// same, so that AppendPrefix has no such variant: of a text it would be the key,
// and other constants have no collation.
func AppendCollated(dst []byte, v value.Value, c collation.Collation) (out []byte, cut bool) {
	e := encoder{dst: dst, limit: len(dst) + MaxLen, collation: c}
	e.value(v)
	return e.finish()
}

// Next returns the least bytes above all that begin with prefix, in a slice of
// its own, or nil when there are none.
func Next(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			next := append([]byte(nil), prefix[:i+1]...)
			next[i]++
			return next
		}
	}
	return nil
}

// Cut reports whether a value's key is cut.
func Cut(key []byte) bool { return len(key) > MaxLen }

// encoder appends one key to dst.
type encoder struct {
	dst   []byte
	limit int // length of dst at which the key is cut

	prefix bool // stop before the first digits that not all equal numbers have
	done   bool // no more is to be appended

	collation collation.Collation // of texts
}

func (e *encoder) finish() (out []byte, cut bool) {
	if len(e.dst) > e.limit {
		return append(e.dst[:e.limit], cutMark), true
	}
	return e.dst, false
}

// add appends b and notes when the key is long enough.
func (e *encoder) add(b ...byte) {
	if !e.done {
		e.dst = append(e.dst, b...)
		e.done = len(e.dst) > e.limit
	}
}

func (e *encoder) value(v value.Value) {
	switch v.Kind() {
	case value.KindNull:
		e.add(tagNull)
	case value.KindBool:
		if v.AsBool() {
			e.add(tagTrue)
		} else {
			e.add(tagFalse)
		}
	case value.KindInt, value.KindTimestamp:
		e.int(v.AsInt())
	case value.KindFloat:
		e.number(v.AsFloat(), 0)
	case value.KindText:
		e.add(tagText)
		e.text(v.AsText())
	case value.KindBytes:
		e.add(tagText)
		appendText(e, v.AsBytes())
	case value.KindVector:
		e.vector(v.AsVector())
	case value.KindList:
		e.list(v.AsList())
	case value.KindSparse:
		e.sparse(v.AsSparse())
	case value.KindObject:
		e.object(v.AsObject())
	}
}

func (e *encoder) int(i int64) {
	f := float64(i)
	if f == 1<<63 {
		// The int is below 2^63, which no int64 holds.
		e.number(f, int(i-math.MaxInt64)-1)
		return
	}
	e.number(f, int(i-int64(f)))
}

// number appends f, and from exactLimit on by how much the exact value is above
// it. That is less than half the distance to the next float64, at most 512.
func (e *encoder) number(f float64, above int) {
	if e.done {
		return
	}
	e.dst = binary.BigEndian.AppendUint64(append(e.dst, tagNumber), sortable64(f))
	if !(math.Abs(f) < exactLimit) {
		if e.prefix {
			e.done = true
			return
		}
		e.dst = binary.BigEndian.AppendUint16(e.dst, uint16(0x8000+above))
	}
	e.done = len(e.dst) > e.limit
}

// sortable64 maps floats to unsigned numbers in the same order, -0 to the
// number of 0 and every NaN to the greatest.
func sortable64(f float64) uint64 {
	if f == 0 {
		return 1 << 63
	}
	if f != f {
		return math.MaxUint64
	}
	b := math.Float64bits(f)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// sortable32 is sortable64 for components. It never returns 0.
func sortable32(f float32) uint32 {
	if f == 0 {
		return 1 << 31
	}
	if f != f {
		return math.MaxUint32
	}
	b := math.Float32bits(f)
	if b>>31 != 0 {
		return ^b
	}
	return b | 1<<31
}

// text appends a text without its tag.
func (e *encoder) text(s string) {
	if e.collation == collation.None {
		appendText(e, s)
		return
	}
	if !e.done {
		e.dst = e.collation.AppendKey(e.dst, s)
		e.done = len(e.dst) > e.limit
	}
}

// appendText appends s escaped, and its end. Bytes past the limit are left out.
func appendText[T string | []byte](e *encoder, s T) {
	if e.done {
		return
	}
	// Each byte takes one at least, so that MaxLen+1 bytes pass the limit.
	s = s[:min(len(s), MaxLen+1)]
	from := 0
	for i := range len(s) {
		if s[i] == 0 {
			e.dst = append(e.dst, s[from:i+1]...)
			e.dst = append(e.dst, escaped)
			from = i + 1
		}
	}
	e.dst = append(e.dst, s[from:]...)
	e.dst = append(e.dst, 0, terminator)
	e.done = len(e.dst) > e.limit
}

func (e *encoder) vector(x []float32) {
	e.add(tagVector)
	for _, f := range x {
		if e.done {
			return
		}
		e.dst = binary.BigEndian.AppendUint32(e.dst, sortable32(f))
		e.done = len(e.dst) > e.limit
	}
	e.add(0, 0, 0, 0)
}

func (e *encoder) list(elems []value.Value) {
	e.add(tagList)
	for _, x := range elems {
		if e.done {
			return
		}
		e.value(x)
	}
	e.add(tagEnd)
}

func (e *encoder) sparse(dim int, entries []value.Entry) {
	e.add(tagSparse)
	for _, x := range entries {
		if e.done {
			return
		}
		e.dst = binary.BigEndian.AppendUint32(e.dst, x.Index)
		e.dst = binary.BigEndian.AppendUint32(e.dst, sortable32(x.Weight))
		e.done = len(e.dst) > e.limit
	}
	e.add(0, 0, 0, 0, byte(dim>>24), byte(dim>>16), byte(dim>>8), byte(dim))
}

// object appends an object, whose texts have no collation.
func (e *encoder) object(members []value.Member) {
	outer := e.collation
	e.collation = collation.None
	e.members(members)
	e.collation = outer
}

func (e *encoder) members(members []value.Member) {
	e.add(tagObject)
	for _, m := range members {
		if e.done {
			return
		}
		e.add(tagMember)
		appendText(e, m.Key)
		e.value(m.Value)
	}
	e.add(tagEnd)
}
