package catalog

import (
	"encoding/binary"
	"time"
	"unicode/utf8"

	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Decode returns the collection whose stored form is b. It shares no memory
// with b. Bytes that Append did not write, in this release or an earlier one,
// give ErrCorrupt, as far as can be told: a version this release does not know
// is among them.
func Decode(b []byte) (*Collection, error) {
	d := decoder{b: b}
	d.version = d.byte()
	if d.version < firstVersion || d.version > formatVersion {
		return nil, ErrCorrupt
	}
	c := &Collection{Number: d.drawn(), RowSpace: d.drawn(), Name: d.name()}
	// A field takes five bytes at least.
	n := d.number(uint64(min(MaxPlaces, len(d.b)/5)))
	for i := range n {
		c.Fields = append(c.Fields, d.field(int(i)))
	}
	if d.version > firstVersion {
		c.Paths = d.placed(c.Fields, 1)
		c.Building = d.placed(c.Fields, 0)
	}
	if d.bad || len(d.b) > 0 || c.check() != nil || !c.seal().spacesDiffer() {
		return nil, ErrCorrupt
	}
	return c, nil
}

func (c *Collection) spacesDiffer() bool {
	used := make(map[uint32]bool)
	for _, n := range c.drawn() {
		if used[n] {
			return false
		}
		used[n] = true
	}
	return true
}

// decoder reads a stored collection. After what cannot be read it is bad and
// gives zeros.
type decoder struct {
	version byte
	b       []byte
	bad     bool
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

// place reads a byte below n.
func (d *decoder) place(n int) int {
	x := int(d.byte())
	if x >= n {
		d.bad = true
		return 0
	}
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

// drawn reads the number of a collection or one that was drawn for a space.
func (d *decoder) drawn() uint32 {
	n := d.number(uint64(maxNumber))
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

// knownIn returns how many flags and kinds of indexes, from the lowest, and
// which bases a version knows.
var knownIn = [...]struct {
	flags byte
	base  int // the highest
	kind  IndexKind
}{
	firstVersion:  {flagRequired | flagF16, 8, Sorted},
	secondVersion: {flagRequired | flagF16 | flagCollated, 10, Geo},
	formatVersion: {flagRequired | flagF16 | flagCollated, len(bases) - 1, Inverted},
}

func (d *decoder) field(place int) Field {
	f := Field{Name: d.name()}
	base, flags := d.byte(), d.byte()
	known := &knownIn[d.version]
	if base == 0 || int(base) > known.base || flags&^known.flags != 0 {
		d.bad = true
		return f
	}
	f.Required = flags&flagRequired != 0
	f.Type = d.typ(bases[base], flags&flagF16 != 0)
	if flags&flagCollated != 0 {
		f.Collation = collation.Collation(d.byte())
		if !f.Collation.Valid() || f.Collation == collation.None {
			d.bad = true
		}
	}
	if f.Index = d.index(); f.Index != nil {
		f.Index.Field = place
	}
	if f.Dropped() && (d.version == firstVersion || f.Type.Check() != nil || f != Field{Type: f.Type}) {
		d.bad = true
	}
	return f
}

// index reads what Index.append writes.
func (d *decoder) index() *Index {
	kind := IndexKind(d.byte())
	if kind == 0 {
		return nil
	}
	if kind > knownIn[d.version].kind {
		d.bad = true
		return nil
	}
	x := &Index{Kind: kind, Space: kind.space(d.drawn())}
	switch kind {
	case TTL:
		x.Period = time.Duration(d.number(uint64(maxPeriod/time.Millisecond))) * time.Millisecond
	case Text:
		x.Text = d.text()
	case HNSW:
		x.HNSW = d.hnsw()
	}
	return x
}

func (d *decoder) text() *TextOptions {
	return &TextOptions{
		K1: ofHundredths(d.number(maxRatio * 100)), B: ofHundredths(d.number(maxRatio * 100)),
		Prefix: int(d.number(maxPrefix)), PrefixMin: int(d.number(maxPrefix)), Chars: d.place(2) == 1,
	}
}

func (d *decoder) hnsw() *HNSWOptions {
	return &HNSWOptions{
		Metric: metrics[d.place(len(metrics))],
		M:      int(d.number(maxM)), EFConstruction: int(d.number(maxEF)), EFSearch: int(d.number(maxEF)),
		Quant: quants[d.place(len(quants))],
	}
}

// placed reads indexes with what of fields they are on: paths of that many keys
// at least.
func (d *decoder) placed(fields []Field, keys int) (list []*Index) {
	// An index takes four bytes at least.
	n := d.number(uint64(min(MaxPaths, len(d.b)/4)))
	for range n {
		x := d.placedIndex(fields)
		if len(x.Keys) < keys {
			d.bad = true
		}
		list = append(list, x)
	}
	return list
}

func (d *decoder) placedIndex(fields []Field) *Index {
	field := int(d.number(uint64(len(fields))))
	var keys []string
	for range d.number(MaxKeys) {
		keys = append(keys, d.name())
	}
	x := d.index()
	if x == nil || field >= len(fields) || fields[field].Dropped() {
		d.bad = true
		return &Index{}
	}
	x.Field, x.Keys = field, keys
	return x
}

// typ reads what follows a type's base and flags.
func (d *decoder) typ(base value.Base, f16 bool) value.Type {
	lists := d.number(value.MaxListDepth)
	t := plain[base]
	switch base {
	case value.BaseVector:
		t = value.VectorType(int(d.number(value.MaxDim)), f16)
	case value.BaseSparse:
		t = value.SparseType(int(d.number(value.MaxSparseDim)))
	}
	if f16 && base != value.BaseVector {
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
	value.BaseGeo:       value.TypeGeo,
}
