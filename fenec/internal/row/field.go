package row

import (
	"strconv"
	"unsafe"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// decodeField returns the value of type t whose data is b, which is not nil.
// With share, texts and bytes lie in b.
func decodeField(b []byte, t value.Type, share bool) (value.Value, error) {
	if t.IsList() {
		return decodeStored(b, share)
	}
	switch t.Base() {
	case value.BaseBool:
		if len(b) != 1 || b[0] > 1 {
			return value.Null, ErrCorrupt
		}
		return value.Bool(b[0] != 0), nil
	case value.BaseInt:
		n, err := readInt(b)
		return value.Int(n), err
	case value.BaseTimestamp:
		n, err := readInt(b)
		return value.Timestamp(n), err
	case value.BaseFloat:
		f, err := readFloat(b)
		return value.Float(f), err
	case value.BaseText:
		if share {
			return value.Text(unsafe.String(unsafe.SliceData(b), len(b))), nil
		}
		return value.Text(string(b)), nil
	case value.BaseBytes:
		if share {
			return value.Bytes(b), nil
		}
		return value.Bytes(append([]byte{}, b...)), nil
	case value.BaseVector:
		if err := checkVector(b, t); err != nil {
			return value.Null, err
		}
		x := make([]float32, t.Dim())
		readVector(x, b, t)
		return value.Vector(x), nil
	case value.BaseSparse:
		return value.ReadSparse(b, t.Dim())
	case value.BaseGeo:
		lon, lat, err := readPoint(b)
		return value.Point(lon, lat), err
	case value.BaseJSON:
		return decodeStored(b, share)
	}
	return value.Null, ErrCorrupt
}

// decodeStored returns the value that b holds in its stored form.
func decodeStored(b []byte, share bool) (value.Value, error) {
	decode := value.Decode
	if share {
		decode = value.View
	}
	v, rest, err := decode(b)
	if err == nil && len(rest) > 0 {
		err = ErrCorrupt
	}
	return v, err
}

// AppendJSON appends the JSON of field i, as value.AppendJSON writes it, from
// the encoded bytes. On an error what dst has received is of no use.
func (r *Row) AppendJSON(dst []byte, i int, t value.Type) ([]byte, error) {
	b, err := r.Raw(i)
	if err != nil {
		return dst, err
	}
	if b == nil {
		return append(dst, "null"...), nil
	}
	if t.IsList() {
		return value.AppendJSONStored(dst, b)
	}
	switch t.Base() {
	case value.BaseInt:
		n, err := readInt(b)
		return strconv.AppendInt(dst, n, 10), err
	case value.BaseTimestamp:
		n, err := readInt(b)
		return value.AppendJSONTimestamp(dst, n), err
	case value.BaseFloat:
		f, err := readFloat(b)
		return value.AppendJSONFloat(dst, f), err
	case value.BaseText:
		return value.AppendJSONString(dst, b), nil
	case value.BaseBytes:
		return value.AppendJSONBytes(dst, b), nil
	case value.BaseVector:
		return appendJSONVector(dst, b, t)
	case value.BaseSparse:
		return value.AppendJSONSparse(dst, b, t.Dim())
	case value.BaseJSON:
		return value.AppendJSONStored(dst, b)
	}
	v, err := decodeField(b, t, true)
	return value.AppendJSON(dst, v), err
}

func appendJSONVector(dst, b []byte, t value.Type) ([]byte, error) {
	if err := checkVector(b, t); err != nil {
		return dst, err
	}
	if !t.F16() {
		return value.AppendJSONFloat32s(dst, b), nil
	}
	dst = append(dst, '[')
	for i := 0; i < len(b); i += 2 {
		if i > 0 {
			dst = append(dst, ',')
		}
		half := uint16(b[i]) | uint16(b[i+1])<<8
		dst = value.AppendJSONFloat32(dst, vector.FromFloat16(half))
	}
	return append(dst, ']'), nil
}
