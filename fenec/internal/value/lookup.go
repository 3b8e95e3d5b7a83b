package value

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// Find returns the stored form of what lies under keys in the stored object b,
// one object within the other. ok is false where a key is missing and where
// something on the way is no object. Only what lies on the way is looked at.
func Find(b []byte, keys ...string) (found []byte, ok bool, err error) {
	for _, key := range keys {
		tag, body, _, err := cut(b)
		if err != nil || tag != tagObject {
			return nil, false, err
		}
		if b, ok, err = findKey(body, key); !ok {
			return nil, false, err
		}
	}
	_, _, rest, err := cut(b)
	if err != nil {
		return nil, false, err
	}
	return b[:len(b)-len(rest)], true, nil
}

// findKey looks for a member in the body of an object and returns the bytes
// from its value on.
func findKey(body []byte, key string) (from []byte, ok bool, err error) {
	n, body, err := cutCount(body)
	if err != nil {
		return nil, false, err
	}
	for range n {
		k, rest, err := cutSized(body)
		if err != nil {
			return nil, false, err
		}
		switch c := strings.Compare(asString(k), key); {
		case c == 0:
			return rest, true, nil
		case c > 0:
			return nil, false, nil
		}
		if _, _, body, err = cut(rest); err != nil {
			return nil, false, err
		}
	}
	return nil, false, nil
}

// AppendJSONStored appends the JSON of a value in its stored form, as
// AppendJSON writes it, without making a Value. On an error what dst has
// received is of no use.
func AppendJSONStored(dst, b []byte) ([]byte, error) {
	dst, rest, err := appendStored(dst, b, maxCodecDepth)
	if err == nil && len(rest) > 0 {
		err = ErrCorrupt
	}
	return dst, err
}

// appendStored appends the JSON of the value b begins with and returns the
// bytes after it.
func appendStored(dst, b []byte, depth int) (out, rest []byte, err error) {
	tag, body, rest, err := cut(b)
	if err != nil {
		return dst, nil, err
	}
	switch tag {
	case tagFalse, tagTrue:
		dst = strconv.AppendBool(dst, tag == tagTrue)
	case tagInt:
		i, _ := binary.Varint(body)
		dst = strconv.AppendInt(dst, i, 10)
	case tagTimestamp:
		i, _ := binary.Varint(body)
		dst = AppendJSONTimestamp(dst, i)
	case tagFloat:
		dst = AppendJSONFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(body)))
	case tagText:
		dst = AppendJSONString(dst, body)
	case tagBytes:
		dst = AppendJSONBytes(dst, body)
	case tagVector:
		dst = AppendJSONFloat32s(dst, body)
	case tagSparse:
		dst, err = appendStoredSparse(dst, body)
	case tagList, tagObject:
		if depth == 0 {
			return dst, nil, ErrCorrupt
		}
		dst, err = appendStoredMembers(dst, body, depth-1, tag == tagObject)
	default:
		dst = append(dst, "null"...)
	}
	return dst, rest, err
}

// AppendJSONFloat32s appends a vector's components, as AppendFloat32s wrote
// them to b, as a list of numbers.
func AppendJSONFloat32s(dst, b []byte) []byte {
	dst = append(dst, '[')
	for i := 0; i+4 <= len(b); i += 4 {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendJSONFloat32(dst, math.Float32frombits(binary.LittleEndian.Uint32(b[i:])))
	}
	return append(dst, ']')
}

// appendStoredSparse appends the body of a sparse vector.
func appendStoredSparse(dst, body []byte) ([]byte, error) {
	dim, entries, err := cutDim(body)
	if err != nil {
		return dst, err
	}
	return AppendJSONSparse(dst, entries, dim)
}

func appendStoredMembers(dst, body []byte, depth int, object bool) ([]byte, error) {
	brackets := "[]"
	if object {
		brackets = "{}"
	}
	n, body, err := cutCount(body)
	if err != nil {
		return dst, err
	}
	dst = append(dst, brackets[0])
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		if object {
			var key []byte
			if key, body, err = cutSized(body); err != nil {
				return dst, err
			}
			dst = append(AppendJSONString(dst, key), ':')
		}
		if dst, body, err = appendStored(dst, body, depth); err != nil {
			return dst, err
		}
	}
	if len(body) > 0 {
		return dst, ErrCorrupt
	}
	return append(dst, brackets[1]), nil
}
