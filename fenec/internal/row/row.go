package row

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

const (
	version   = 1
	maxFields = 1 << 16
)

// ErrCorrupt is returned for bytes that are no row, or no field of the type
// asked for. It is the error of stored values in general.
var ErrCorrupt = value.ErrCorrupt

// Row reads the fields of an encoded document. Methods take a field's position,
// and where they decode it the type it was encoded with. A Row may be used by
// many goroutines at once.
type Row struct {
	b     []byte
	n     uint32 // fields stored
	ends  uint32 // where the null bits end and the table of offsets begins
	data  uint32 // where the table ends and the data begins
	width uint8  // bytes of an offset
}

// Parse returns the Row in b, which it keeps and which must not change while
// the Row is used. It looks at the beginning only.
func Parse(b []byte) (Row, error) {
	var r Row
	err := r.Reset(b)
	return r, err
}

// Reset makes r the Row in b, as Parse returns it. After an error r is an empty
// one.
func (r *Row) Reset(b []byte) error {
	if len(b) < 3 || b[0] != version {
		return r.refuse()
	}
	width := b[1]
	if width != 1 && width != 2 && width != 4 {
		return r.refuse()
	}
	n, used := uint64(b[2]), 1
	if n >= 0x80 {
		n, used = binary.Uvarint(b[2:])
		if used <= 0 || n > maxFields {
			return r.refuse()
		}
	}
	ends := 2 + uint64(used) + (n+7)/8
	data := ends + n*uint64(width)
	if data > uint64(len(b)) {
		return r.refuse()
	}
	r.b, r.n, r.ends, r.data, r.width = b, uint32(n), uint32(ends), uint32(data), width
	return nil
}

func (r *Row) refuse() error {
	*r = Row{}
	return ErrCorrupt
}

// Len returns the number of fields stored. Those after them are null.
func (r *Row) Len() int { return int(r.n) }

// IsNull reports whether field i is null or not stored.
func (r *Row) IsNull(i int) bool {
	if uint(i) >= uint(r.n) {
		return true
	}
	nulls := int(r.ends) - int(r.n+7)/8
	return r.b[nulls+i>>3]>>(i&7)&1 != 0
}

// Raw returns the data of field i, which is nil when it is null.
func (r *Row) Raw(i int) ([]byte, error) {
	if r.IsNull(i) {
		return nil, nil
	}
	start := 0
	if i > 0 {
		start = r.end(i - 1)
	}
	end, data := r.end(i), r.b[r.data:]
	if start > end || end > len(data) {
		return nil, ErrCorrupt
	}
	return data[start:end:end], nil
}

// end returns where the data of field i ends.
func (r *Row) end(i int) int {
	at := r.b[int(r.ends)+i*int(r.width):]
	switch r.width {
	case 1:
		return int(at[0])
	case 2:
		return int(binary.LittleEndian.Uint16(at))
	}
	return int(binary.LittleEndian.Uint32(at))
}

// Field returns field i, which shares no memory with the row.
func (r *Row) Field(i int, t value.Type) (value.Value, error) {
	return r.field(i, t, false)
}

// View is Field without copying: text and bytes, and those within lists and
// json, lie in the row's bytes. The value is good as long as these are: value.Clone
// makes one to keep.
func (r *Row) View(i int, t value.Type) (value.Value, error) {
	return r.field(i, t, true)
}

func (r *Row) field(i int, t value.Type, share bool) (value.Value, error) {
	b, err := r.Raw(i)
	if b == nil || err != nil {
		return value.Null, err
	}
	return decodeField(b, t, share)
}

// FieldPath returns what lies under keys in field i, a json field; null where a
// key is missing. It shares no memory with the row.
func (r *Row) FieldPath(i int, keys ...string) (value.Value, error) {
	found, err := r.find(i, keys)
	if found == nil || err != nil {
		return value.Null, err
	}
	v, _, err := value.Decode(found)
	return v, err
}

// ViewPath is FieldPath without copying, as View is Field without copying.
func (r *Row) ViewPath(i int, keys ...string) (value.Value, error) {
	found, err := r.find(i, keys)
	if found == nil || err != nil {
		return value.Null, err
	}
	v, _, err := value.View(found)
	return v, err
}

// AppendJSONPath appends the JSON of what FieldPath returns.
func (r *Row) AppendJSONPath(dst []byte, i int, keys ...string) ([]byte, error) {
	found, err := r.find(i, keys)
	if err != nil {
		return dst, err
	}
	if found == nil {
		return append(dst, "null"...), nil
	}
	return value.AppendJSONStored(dst, found)
}

// find returns the stored form of what lies under keys in field i, or nil.
func (r *Row) find(i int, keys []string) ([]byte, error) {
	b, err := r.Raw(i)
	if b == nil || err != nil {
		return nil, err
	}
	found, _, err := value.Find(b, keys...)
	return found, err
}

// AppendVector appends the components of field i, a vector of type t, to dst.
// ok is false, and nothing is appended, when it is null.
func (r *Row) AppendVector(dst []float32, i int, t value.Type) (out []float32, ok bool, err error) {
	b, err := r.Raw(i)
	if b == nil || err != nil {
		return dst, false, err
	}
	if err := checkVector(b, t); err != nil {
		return dst, false, err
	}
	start := len(dst)
	dst = slices.Grow(dst, t.Dim())[:start+t.Dim()]
	readVector(dst[start:], b, t)
	return dst, true, nil
}

// Point returns the coordinates of field i, a point, in degrees. ok is false when
// it is null.
func (r *Row) Point(i int) (lon, lat float64, ok bool, err error) {
	b, err := r.Raw(i)
	if b == nil || err != nil {
		return 0, 0, false, err
	}
	lon, lat, err = readPoint(b)
	return lon, lat, err == nil, err
}

// Field returns field i of the row in b; see Row.Field.
func Field(b []byte, i int, t value.Type) (value.Value, error) {
	r, err := Parse(b)
	if err != nil {
		return value.Null, err
	}
	return r.Field(i, t)
}

// View returns field i of the row in b without copying; see Row.View.
func View(b []byte, i int, t value.Type) (value.Value, error) {
	r, err := Parse(b)
	if err != nil {
		return value.Null, err
	}
	return r.View(i, t)
}

// checkVector refuses data of another length than vectors of type t have.
func checkVector(b []byte, t value.Type) error {
	size := 4
	if t.F16() {
		size = 2
	}
	if len(b) != size*t.Dim() {
		return ErrCorrupt
	}
	return nil
}

// readVector fills x from the data of a vector of type t.
func readVector(x []float32, b []byte, t value.Type) {
	if t.F16() {
		vector.ReadFloat16s(x, b)
		return
	}
	value.ReadFloat32s(x, b)
}

// readPoint returns the coordinates that appendPoint wrote to b.
func readPoint(b []byte) (lon, lat float64, err error) {
	if len(b) != 16 {
		return 0, 0, ErrCorrupt
	}
	lon = math.Float64frombits(binary.LittleEndian.Uint64(b))
	lat = math.Float64frombits(binary.LittleEndian.Uint64(b[8:]))
	return lon, lat, nil
}

// readInt returns the number in b, of as many bytes as appendInt writes.
func readInt(b []byte) (int64, error) {
	switch len(b) {
	case 1:
		return int64(int8(b[0])), nil
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b))), nil
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b))), nil
	case 6:
		low := uint64(binary.LittleEndian.Uint32(b))
		high := int64(int16(binary.LittleEndian.Uint16(b[4:])))
		return high<<32 | int64(low), nil
	case 8:
		return int64(binary.LittleEndian.Uint64(b)), nil
	}
	return 0, ErrCorrupt
}

func readFloat(b []byte) (float64, error) {
	switch len(b) {
	case 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), nil
	case 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
	}
	return 0, ErrCorrupt
}
