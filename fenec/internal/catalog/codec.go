package catalog

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// The stored form of a collection, numbers being uvarints and names a length
// and UTF-8:
//
//	1 byte    version, formatVersion
//	number    Number
//	number    RowSpace
//	name
//	number    fields; for each
//	            name
//	            1 byte    base of the type
//	            1 byte    flags
//	            number    lists around the base
//	            number    components, only of a vector
//	            1 byte    kind of the index, 0 without one
//	            number    space of the index, only with one
//
// Numbers and flags of the type and the index are part of stored files.
const formatVersion = 1

const (
	flagRequired = 1 << iota
	flagF16
	knownFlags = flagRequired | flagF16
)

// bases are the stored numbers of the bases of types, which are their places
// here.
var bases = [...]value.Base{
	1: value.BaseBool,
	2: value.BaseInt,
	3: value.BaseFloat,
	4: value.BaseText,
	5: value.BaseBytes,
	6: value.BaseTimestamp,
	7: value.BaseVector,
	8: value.BaseJSON,
}

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
	dst = append(dst, baseNumber(base.Base()), flags)
	dst = binary.AppendUvarint(dst, uint64(lists))
	if base.Base() == value.BaseVector {
		dst = binary.AppendUvarint(dst, uint64(base.Dim()))
	}
	if f.Index == nil {
		return append(dst, 0)
	}
	dst = append(dst, byte(f.Index.Kind))
	return binary.AppendUvarint(dst, uint64(f.Index.Space))
}

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

// Decode returns the collection whose stored form is b. It shares no memory
// with b. Bytes that Append did not write give ErrCorrupt, as far as can be
// told: a version this release does not know is among them.
func Decode(b []byte) (*Collection, error) {
	d := decoder{b: b}
	if d.byte() != formatVersion {
		return nil, ErrCorrupt
	}
	c := &Collection{Number: d.space(), RowSpace: d.space(), Name: d.name()}
	// A field takes five bytes at least.
	n := d.number(uint64(min(MaxFields, len(d.b)/5)))
	for range n {
		c.Fields = append(c.Fields, d.field())
	}
	if d.bad || len(d.b) > 0 || c.check() != nil || !c.spacesDiffer() {
		return nil, ErrCorrupt
	}
	return c.seal(), nil
}

func (c *Collection) spacesDiffer() bool {
	used := make(map[uint32]bool)
	for _, s := range c.Spaces() {
		if used[s] {
			return false
		}
		used[s] = true
	}
	return true
}

// decoder reads a stored collection. After what cannot be read it is bad and
// gives zeros.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.bad = true
		return 0
	}
	x := d.b[0]
	d.b = d.b[1:]
	return x
}

// number reads a number of at most limit.
func (d *decoder) number(limit uint64) uint64 {
	n, used := binary.Uvarint(d.b)
	if used <= 0 || n > limit {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[used:]
	return n
}

// space reads the number of a collection or a space.
func (d *decoder) space() uint32 {
	n := d.number(maxNumber)
	if n == 0 {
		d.bad = true
	}
	return uint32(n)
}

func (d *decoder) name() string {
	n := d.number(uint64(len(d.b)))
	if d.bad || n > uint64(len(d.b)) {
		d.bad = true
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	if !utf8.ValidString(s) {
		d.bad = true
	}
	return s
}

func (d *decoder) field() Field {
	f := Field{Name: d.name()}
	base, flags := d.byte(), d.byte()
	if int(base) >= len(bases) || flags&^knownFlags != 0 {
		d.bad = true
		return f
	}
	f.Required = flags&flagRequired != 0
	f.Type = d.typ(bases[base], flags&flagF16 != 0)
	switch kind := IndexKind(d.byte()); kind {
	case 0:
	case Hash, Unique, Sorted:
		f.Index = &Index{Kind: kind, Space: d.space()}
	default:
		d.bad = true
	}
	return f
}

// typ reads what follows a type's base and flags.
func (d *decoder) typ(base value.Base, f16 bool) value.Type {
	lists := d.number(value.MaxListDepth)
	t := plain[base]
	if base == value.BaseVector {
		t = value.VectorType(int(d.number(value.MaxDim)), f16)
	} else if f16 {
		d.bad = true
	}
	for range lists {
		t = value.ListType(t)
	}
	return t
}

var plain = map[value.Base]value.Type{
	value.BaseBool:      value.TypeBool,
	value.BaseInt:       value.TypeInt,
	value.BaseFloat:     value.TypeFloat,
	value.BaseText:      value.TypeText,
	value.BaseBytes:     value.TypeBytes,
	value.BaseTimestamp: value.TypeTimestamp,
	value.BaseJSON:      value.TypeJSON,
}
