package value

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

// MaxSparseDim is the highest dimension of a sparse vector.
const MaxSparseDim = 1_000_000_000

// Entry is one component of a sparse vector, whose other components are zero.
type Entry struct {
	Index  uint32 // from 1 to the dimension
	Weight float32
}

// sparse is what the Value of a sparse vector points to.
type sparse struct {
	dim     int
	entries []Entry // by ascending index, weights finite and not zero
}

// Sparse returns a sparse vector of dimension dim. entries, which may come in
// any order, is kept and changed; zeros are dropped. A dimension out of range, an
// index beyond it or given twice and a weight that is not finite are a
// fault.Type.
func Sparse(dim int, entries []Entry) (Value, error) {
	if dim < 1 || dim > MaxSparseDim {
		return Null, badSparseDim(strconv.Itoa(dim))
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Index, b.Index) })
	for i, e := range entries {
		switch {
		case e.Index < 1 || int64(e.Index) > int64(dim):
			return Null, badSparseIndex(strconv.FormatUint(uint64(e.Index), 10), dim)
		case i > 0 && e.Index == entries[i-1].Index:
			return Null, fault.New(fault.Type, "index %d of a sparse vector is given twice", e.Index)
		case e.Weight-e.Weight != 0:
			return Null, fault.New(fault.Type, "the weight of index %d is not finite as a float32", e.Index)
		}
	}
	entries = slices.DeleteFunc(entries, func(e Entry) bool { return e.Weight == 0 })
	return sparseOf(&sparse{dim, entries}), nil
}

func badSparseDim(dim string) error {
	return fault.New(fault.Type, "a sparse vector of dimension %s, want 1 to %d", abbreviate(dim), MaxSparseDim)
}

func badSparseIndex(index string, dim int) error {
	return fault.New(fault.Type, "index %s of a sparse vector, want 1 to %d", abbreviate(index), dim)
}

// sparseOf returns the Value of a sparse vector that is as it must be.
func sparseOf(s *sparse) Value {
	return Value{kind: KindSparse, ptr: unsafe.Pointer(s), num: uint64(len(s.entries))}
}

// AsSparse returns the dimension of a sparse vector and its entries by ascending
// index, which must not be changed.
func (v Value) AsSparse() (dim int, entries []Entry) {
	v.must(KindSparse)
	s := (*sparse)(v.ptr)
	return s.dim, s.entries
}

// ParseSparse reads the text form of a sparse vector, "{1:0.25,3:0.5}/8": its
// entries, of which indices count from 1, and its dimension. Blanks may follow a
// comma. What is not of this form, and what Sparse refuses, is a fault.Type.
func ParseSparse(s string) (Value, error) {
	bad := func() (Value, error) {
		return Null, fault.New(fault.Type, "%q is not a sparse vector, as {1:0.25,3:0.5}/8 is", abbreviate(s))
	}
	body, ok := strings.CutPrefix(s, "{")
	at := strings.LastIndex(body, "}/")
	if !ok || at < 0 {
		return bad()
	}
	last := body[at+2:]
	if !isDigits(last) {
		return bad()
	}
	dim, err := strconv.Atoi(last)
	if err != nil {
		return Null, badSparseDim(last)
	}
	if body = body[:at]; body == "" {
		return Sparse(dim, nil)
	}
	entries := make([]Entry, 0, 1+strings.Count(body, ","))
	for text := range strings.SplitSeq(body, ",") {
		if len(entries) > 0 {
			text = strings.TrimLeft(text, " \t\r\n")
		}
		index, weight, ok := parseEntry(text)
		if !ok {
			return bad()
		}
		i, err := strconv.ParseUint(index, 10, 32)
		if err != nil {
			return Null, badSparseIndex(index, dim)
		}
		entries = append(entries, Entry{uint32(i), weight})
	}
	return Sparse(dim, entries)
}

// parseEntry reads an index, of digits, and a weight. A weight beyond a float32 is
// infinite.
func parseEntry(s string) (index string, weight float32, ok bool) {
	index, decimal, ok := strings.Cut(s, ":")
	if !ok || !isDigits(index) || !isDecimal(decimal) {
		return "", 0, false
	}
	w, err := strconv.ParseFloat(decimal, 32)
	if err != nil && !math.IsInf(w, 0) {
		return "", 0, false
	}
	return index, float32(w), true
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isDecimal reports whether s has the characters of a decimal only, and not
// those of the other forms that strconv reads.
func isDecimal(s string) bool { return strings.Trim(s, "0123456789.eE+-") == "" }

// appendSparseText appends the text form of a sparse vector.
func appendSparseText(dst []byte, dim int, entries []Entry) []byte {
	dst = append(dst, '{')
	for i, e := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(e.Index), 10)
		dst = append(dst, ':')
		dst = AppendJSONFloat32(dst, e.Weight)
	}
	dst = append(dst, '}', '/')
	return strconv.AppendInt(dst, int64(dim), 10)
}

func appendJSONSparse(dst []byte, dim int, entries []Entry) []byte {
	dst = append(dst, '"')
	dst = appendSparseText(dst, dim, entries)
	return append(dst, '"')
}

// AppendJSONSparse appends the text form, in quotes, of what AppendSparse wrote
// to b. On an error what dst has received is of no use.
func AppendJSONSparse(dst, b []byte, dim int) ([]byte, error) {
	entries, err := readEntries(b, dim)
	return appendJSONSparse(dst, dim, entries), err
}

// AppendSparse appends the entries of a sparse vector without its dimension:
// their number and how far each index is from the one before it, as uvarints,
// then the weights, 4 bytes each, little endian.
func AppendSparse(dst []byte, v Value) []byte {
	_, entries := v.AsSparse()
	dst = binary.AppendUvarint(dst, uint64(len(entries)))
	last := uint32(0)
	for _, e := range entries {
		dst = binary.AppendUvarint(dst, uint64(e.Index-last))
		last = e.Index
	}
	for _, e := range entries {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(e.Weight))
	}
	return dst
}

// ReadSparse returns the sparse vector of dimension dim that AppendSparse wrote
// to b. It shares no memory with b.
func ReadSparse(b []byte, dim int) (Value, error) {
	entries, err := readEntries(b, dim)
	if err != nil {
		return Null, err
	}
	return sparseOf(&sparse{dim, entries}), nil
}

func readEntries(b []byte, dim int) ([]Entry, error) {
	n, used := binary.Uvarint(b)
	if used <= 0 || n > uint64(len(b))/5 {
		return nil, ErrCorrupt
	}
	b = b[used:]
	entries := make([]Entry, n)
	last := uint64(0)
	for i := range entries {
		step, used := binary.Uvarint(b)
		if used <= 0 || step < 1 || step > uint64(dim)-last {
			return nil, ErrCorrupt
		}
		b, last = b[used:], last+step
		entries[i].Index = uint32(last)
	}
	if len(b) != 4*len(entries) {
		return nil, ErrCorrupt
	}
	for i := range entries {
		w := math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		if w == 0 || w-w != 0 {
			return nil, ErrCorrupt
		}
		entries[i].Weight = w
	}
	return entries, nil
}

// compareSparse compares entries, index before weight, then their numbers, then
// dimensions.
func compareSparse(a, b Value) int {
	dimA, x := a.AsSparse()
	dimB, y := b.AsSparse()
	for i := range min(len(x), len(y)) {
		if c := cmp.Compare(x[i].Index, y[i].Index); c != 0 {
			return c
		}
		if c := cmp.Compare(x[i].Weight, y[i].Weight); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(dimA, dimB))
}

// toSparse returns what a field of type t, a sparse vector, stores for v.
func toSparse(v Value, t Type) (Value, error) {
	if v.kind == KindText {
		parsed, err := ParseSparse(v.str())
		if err != nil {
			return Null, err
		}
		v = parsed
	}
	if v.kind == KindSparse {
		if dim, _ := v.AsSparse(); dim == t.dim {
			return v, nil
		}
	}
	return Null, mismatch(v, t)
}
