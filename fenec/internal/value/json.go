package value

import "strconv"

// AppendJSON appends v as the JSON of an answer: compact, numbers as
// AppendJSONFloat and AppendJSONFloat32 write them, a timestamp as text, bytes
// and a vector as lists of numbers, a sparse vector in its text form, and an
// object's members by ascending key.
func AppendJSON(dst []byte, v Value) []byte {
	switch v.kind {
	case KindBool:
		return strconv.AppendBool(dst, v.num != 0)
	case KindInt:
		return strconv.AppendInt(dst, int64(v.num), 10)
	case KindFloat:
		return AppendJSONFloat(dst, v.AsFloat())
	case KindTimestamp:
		return AppendJSONTimestamp(dst, int64(v.num))
	case KindText:
		return AppendJSONString(dst, v.str())
	case KindBytes:
		return AppendJSONBytes(dst, v.AsBytes())
	case KindVector:
		return appendJSONVector(dst, v.AsVector())
	case KindList:
		return appendJSONList(dst, v.AsList(), AppendJSON)
	case KindSparse:
		dim, entries := v.AsSparse()
		return appendJSONSparse(dst, dim, entries)
	case KindObject:
		return appendJSONObject(dst, v.AsObject())
	}
	return append(dst, "null"...)
}

// AppendJSONTimestamp appends the moment ms milliseconds after 1970 as text in
// quotes.
func AppendJSONTimestamp(dst []byte, ms int64) []byte {
	dst = append(dst, '"')
	dst = AppendTimestamp(dst, ms)
	return append(dst, '"')
}

// AppendJSONStrings appends a list of texts.
func AppendJSONStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendJSONString(dst, s)
	}
	return append(dst, ']')
}

// AppendJSONBytes appends bytes as a list of numbers from 0 to 255.
func AppendJSONBytes[T string | []byte](dst []byte, b T) []byte {
	dst = append(dst, '[')
	for i := range len(b) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(b[i]), 10)
	}
	return append(dst, ']')
}

func appendJSONVector(dst []byte, x []float32) []byte {
	dst = append(dst, '[')
	for i, f := range x {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendJSONFloat32(dst, f)
	}
	return append(dst, ']')
}

func appendJSONList(dst []byte, elems []Value, each func([]byte, Value) []byte) []byte {
	dst = append(dst, '[')
	for i, e := range elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = each(dst, e)
	}
	return append(dst, ']')
}

func appendJSONObject(dst []byte, members []Member) []byte {
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendJSONString(dst, m.Key)
		dst = append(dst, ':')
		dst = AppendJSON(dst, m.Value)
	}
	return append(dst, '}')
}

const hexDigits = "0123456789abcdef"

// AppendJSONString appends s in quotes. Quotes, backslashes and control
// characters below U+0020 are escaped and nothing else is.
func AppendJSONString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	for from := 0; ; {
		i := plainEnd(s, from)
		dst = append(dst, s[from:i]...)
		if i == len(s) {
			return append(dst, '"')
		}
		dst = appendEscaped(dst, s[i])
		from = i + 1
	}
}

// appendEscaped appends the escape of a quote, a backslash or a control character.
func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
