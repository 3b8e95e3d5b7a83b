package client

import (
	"errors"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// An object of an answer says in which order its columns come, which a value does
// not keep. So objects and lists are taken apart here, down to values, which package
// value reads and checks.

var errForm = errors.New("malformed JSON")

// cutValue splits off the JSON value that data begins with. It looks for its end
// only.
func cutValue(data string) (raw, rest string, err error) {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
			if !quoted && depth == 0 {
				return data[:i+1], data[i+1:], nil
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']' || c == ',':
			if depth == 0 {
				return data[:i], data[i:], nil // of a number or a word
			}
			if c == ',' {
				continue
			}
			if depth--; depth == 0 {
				return data[:i+1], data[i+1:], nil
			}
		}
	}
	if depth > 0 || quoted {
		return "", "", errForm
	}
	return data, "", nil
}

// skipSpace cuts the white space that s begins with.
func skipSpace(s string) string { return strings.TrimLeft(s, " \t\r\n") }

// eachPart calls fn with the text from where each part of a list or an object
// begins, between the brackets open and end. fn returns what follows the part.
func eachPart(data string, open, end byte, fn func(data string) (rest string, err error)) (rest string, err error) {
	data = skipSpace(data)
	if data == "" || data[0] != open {
		return "", errForm
	}
	data = skipSpace(data[1:])
	if data != "" && data[0] == end {
		return skipSpace(data[1:]), nil
	}
	for {
		if data, err = fn(data); err != nil {
			return "", err
		}
		data = skipSpace(data)
		switch {
		case data == "":
			return "", errForm
		case data[0] == end:
			return skipSpace(data[1:]), nil
		case data[0] != ',':
			return "", errForm
		}
		data = skipSpace(data[1:])
	}
}

// eachElement calls fn with the elements of a list, and returns what follows it.
func eachElement(data string, fn func(raw string) error) (rest string, err error) {
	return eachPart(data, '[', ']', func(data string) (string, error) {
		raw, rest, err := cutValue(data)
		if err != nil {
			return "", err
		}
		return rest, fn(raw)
	})
}

// rawMember is a member of an object: its key as written, in quotes, and its value.
type rawMember struct{ key, value string }

// rawMembers are the members of an object in the order written.
type rawMembers []rawMember

// membersOf returns the members of an object after which nothing comes.
func membersOf(data string) (rawMembers, error) { return appendMembers(nil, data) }

// appendMembers is membersOf into the room of dst.
func appendMembers(dst rawMembers, data string) (rawMembers, error) {
	rest, err := eachPart(data, '{', '}', func(data string) (string, error) {
		key, rest, err := cutValue(data)
		if err != nil || key == "" || key[0] != '"' {
			return "", errForm
		}
		if rest = skipSpace(rest); rest == "" || rest[0] != ':' {
			return "", errForm
		}
		raw, rest, err := cutValue(skipSpace(rest[1:]))
		dst = append(dst, rawMember{key, raw})
		return rest, err
	})
	if err == nil && rest != "" {
		err = errForm
	}
	return dst, err
}

// get returns the value of the member with a key that is written without escapes.
func (ms rawMembers) get(key string) (raw string, ok bool) {
	for _, m := range ms {
		if m.key[1:len(m.key)-1] == key {
			return m.value, true
		}
	}
	return "", false
}

// textOf returns the text that a JSON string stands for.
func textOf(raw string) (string, error) {
	v, err := value.ParseJSONString(raw)
	if err == nil && v.Kind() != value.KindText {
		err = errForm
	}
	if err != nil {
		return "", err
	}
	return v.AsText(), nil
}

// numberOf returns a whole number that is not negative.
func numberOf(raw string) (uint64, error) {
	v, err := value.ParseJSONString(raw)
	if err == nil && (v.Kind() != value.KindInt || v.AsInt() < 0) {
		err = errForm
	}
	if err != nil {
		return 0, err
	}
	return uint64(v.AsInt()), nil
}
