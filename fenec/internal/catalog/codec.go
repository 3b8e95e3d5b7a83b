package catalog

import (
	"encoding/binary"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// The stored form of a collection, numbers being uvarints and names a length
// and UTF-8:
//
//	1 byte    version, formatVersion
//	number    Number
//	number    RowSpace
//	name
//	number    places of fields; for each
//	            name      empty: the field was dropped
//	            1 byte    base of the type
//	            1 byte    flags
//	            number    lists around the base
//	            number    components, only of a vector or a sparse vector
//	            1 byte    collation, only with flagCollated
//	            index
//	number    indexes on paths; for each
//	            number    place of the field
//	            number    keys; for each
//	                        name
//	            index
//	number    indexes in the building; for each the same, without keys for a field's
//
// An index is
//
//	1 byte    kind, 0 without one
//	number    space, without the range of its kind; only with a kind
//	number    period in milliseconds, only of a ttl
//	options   only of a text or an hnsw
//
// The options of a text are
//
//	number    K1 in hundredths
//	number    B in hundredths
//	number    Prefix
//	number    PrefixMin
//	1 byte    Chars, 0 or 1
//
// and those of an hnsw
//
//	1 byte    Metric
//	number    M
//	number    EFConstruction
//	number    EFSearch
//	1 byte    Quant
//
// Numbers and flags of types, collations, indexes and their options are part of
// stored files. Version 2 knows no text, hnsw or inverted. Version 1, which the
// first release wrote, ends before the indexes on paths besides, and knows no
// sparse vector, point, dropped field, flagCollated, ttl or geo.
const (
	firstVersion  = 1
	secondVersion = 2
	formatVersion = 3
)

const (
	flagRequired = 1 << iota
	flagF16
	flagCollated
)

// bases are the stored numbers of the bases of types, which are their places
// here.
var bases = [...]value.Base{
	1:  value.BaseBool,
	2:  value.BaseInt,
	3:  value.BaseFloat,
	4:  value.BaseText,
	5:  value.BaseBytes,
	6:  value.BaseTimestamp,
	7:  value.BaseVector,
	8:  value.BaseJSON,
	9:  value.BaseSparse,
	10: value.BaseGeo,
}

// metrics and quants are the stored numbers of an hnsw's options, which are
// their places here.
var (
	metrics = [...]vector.Metric{vector.Cosine, vector.L2, vector.Dot}
	quants  = [...]Quant{NoQuant, QuantInt8, QuantBit}
)

// Append appends the stored form of c.
func (c *Collection) Append(dst []byte) []byte {
	dst = append(dst, formatVersion)
	dst = binary.AppendUvarint(dst, uint64(c.Number))
	dst = binary.AppendUvarint(dst, uint64(c.RowSpace))
	dst = appendName(dst, c.Name)
	dst = binary.AppendUvarint(dst, uint64(len(c.Fields)))
	for i := range c.Fields {
		dst = c.Fields[i].append(dst)
	}
	dst = appendPlaced(dst, c.Paths)
	dst = appendPlaced(dst, c.Building)
	return dst
}

func (f *Field) append(dst []byte) []byte {
	dst = appendName(dst, f.Name)
	lists, base := 0, f.Type
	for ; base.IsList(); base = base.Elem() {
		lists++
	}
	var flags byte
	if f.Required {
		flags |= flagRequired
	}
	if base.F16() {
		flags |= flagF16
	}
	if f.Collation != collation.None {
		flags |= flagCollated
	}
	dst = append(dst, baseNumber(base.Base()), flags)
	dst = binary.AppendUvarint(dst, uint64(lists))
	if dimensioned(base.Base()) {
		dst = binary.AppendUvarint(dst, uint64(base.Dim()))
	}
	if f.Collation != collation.None {
		dst = append(dst, byte(f.Collation))
	}
	return f.Index.append(dst)
}

// appendPlaced appends indexes with what they are on.
func appendPlaced(dst []byte, list []*Index) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, x := range list {
		dst = binary.AppendUvarint(dst, uint64(x.Field))
		dst = binary.AppendUvarint(dst, uint64(len(x.Keys)))
		for _, k := range x.Keys {
			dst = appendName(dst, k)
		}
		dst = x.append(dst)
	}
	return dst
}

// append appends the part of an index that does not say what it is on. x may be
// nil.
func (x *Index) append(dst []byte) []byte {
	if x == nil {
		return append(dst, 0)
	}
	dst = binary.AppendUvarint(append(dst, byte(x.Kind)), uint64(drawn(x.Space)))
	switch x.Kind {
	case TTL:
		return binary.AppendUvarint(dst, uint64(x.Period.Milliseconds()))
	case Text:
		return x.Text.append(dst)
	case HNSW:
		return x.HNSW.append(dst)
	}
	return dst
}

func (o *TextOptions) append(dst []byte) []byte {
	for _, n := range [...]uint64{hundredths(o.K1), hundredths(o.B), uint64(o.Prefix), uint64(o.PrefixMin)} {
		dst = binary.AppendUvarint(dst, n)
	}
	if o.Chars {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func (o *HNSWOptions) append(dst []byte) []byte {
	dst = append(dst, byte(slices.Index(metrics[:], o.Metric)))
	for _, n := range [...]int{o.M, o.EFConstruction, o.EFSearch} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return append(dst, byte(slices.Index(quants[:], o.Quant)))
}

// dimensioned reports whether types of base b have a number of components.
func dimensioned(b value.Base) bool { return b == value.BaseVector || b == value.BaseSparse }

func baseNumber(b value.Base) byte {
	for n, known := range bases {
		if known == b && n > 0 {
			return byte(n)
		}
	}
	panic("catalog: a type without a stored number")
}

func appendName(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}
