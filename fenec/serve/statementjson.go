package serve

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// longestScanned is the longest form of a statement that scanStatement is asked
// about, in bytes: what is longer is so for its values, which are parsed once.
const longestScanned = 8 << 10

// parseStatement reads the JSON form of a statement: an object with the text
// as "query" (or "sql") and the parameters as "params", a list or one value. args
// is room for them.
func parseStatement(body []byte, args []any) (fenec.Statement, error) {
	text := string(body)
	if len(text) <= longestScanned {
		if st, ok := scanStatement(text, args); ok {
			return st, nil
		}
	}
	v, err := value.ParseJSONString(text)
	if err != nil {
		return fenec.Statement{}, err
	}
	return statementOf(v)
}

// statementOf returns the statement that an object holds.
func statementOf(v value.Value) (st fenec.Statement, err error) {
	if v.Kind() != value.KindObject {
		return st, errors.New(`want an object with a member "query"`)
	}
	text, ok := v.Get("query")
	if !ok {
		text, ok = v.Get("sql")
	}
	if !ok || text.Kind() != value.KindText {
		return st, errors.New(`want a member "query" that is a text`)
	}
	st.Text = text.AsText()
	switch params, _ := v.Get("params"); params.Kind() {
	case value.KindNull:
	case value.KindList:
		for _, p := range params.AsList() {
			st.Args = append(st.Args, p)
		}
	default:
		st.Args = []any{params}
	}
	return st, nil
}

// scanStatement reads the form that nearly all statements have: an object of
// "query" and maybe "params", a list, each given once. It reads no more than it has
// to make values of. Whatever it does not understand, right or wrong, is not ok.
func scanStatement(body string, args []any) (st fenec.Statement, ok bool) {
	s := scanner{rest: body}
	if !utf8.ValidString(body) || !s.take('{') {
		return st, false
	}
	var query, params bool // whether they were given
	for more := true; more; more = s.take(',') {
		switch {
		case !query && s.name(`"query"`):
			st.Text, query = s.text()
			ok = query
		case !params && s.name(`"params"`):
			st.Args, params = s.list(args)
			ok = params
		default:
			ok = false
		}
		if !ok {
			return st, false
		}
	}
	ok = query && s.take('}')
	s.skip()
	return st, ok && s.rest == ""
}

// scanner takes JSON apart from the left, as far as it understands it.
type scanner struct{ rest string }

func (s *scanner) skip() { s.rest = strings.TrimLeft(s.rest, " \t\r\n") }

// take takes a mark and the white space before it, if it is what comes next.
func (s *scanner) take(mark byte) bool {
	s.skip()
	if s.rest == "" || s.rest[0] != mark {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// name takes the name of a member, if it is what comes next.
func (s *scanner) name(quoted string) bool {
	s.skip()
	rest, ok := strings.CutPrefix(s.rest, quoted)
	if !ok {
		return false
	}
	s.rest = rest
	return s.take(':')
}

// text takes a text.
func (s *scanner) text() (string, bool) {
	s.skip()
	if s.rest == "" || s.rest[0] != '"' {
		return "", false
	}
	v, ok := s.value()
	if !ok {
		return "", false
	}
	return v.AsText(), true
}

// list takes a list, whose elements it appends to dst.
func (s *scanner) list(dst []any) ([]any, bool) {
	if !s.take('[') {
		return nil, false
	}
	if s.take(']') {
		return dst, true
	}
	for more := true; more; more = s.take(',') {
		s.skip()
		v, ok := s.value()
		if !ok {
			return nil, false
		}
		dst = append(dst, v)
	}
	return dst, s.take(']')
}

// value takes a value.
func (s *scanner) value() (value.Value, bool) {
	end := valueEnd(s.rest)
	if end == 0 {
		return value.Null, false
	}
	v, err := value.ParseJSONString(s.rest[:end])
	s.rest = s.rest[end:]
	return v, err == nil
}

// mostNested is how many lists and objects may lie within each other in a value
// that is scanned. It is less than the parser allows, so that no statement gets
// deeper by being taken apart.
const mostNested = 100

// valueEnd returns where the value that s begins with ends if it is one, and 0 if
// it certainly is none or too deep.
func valueEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			length := textEnd(s[i:])
			if length == 0 {
				return 0
			}
			if i += length - 1; depth == 0 {
				return i + 1
			}
		case '[', '{':
			if depth++; depth > mostNested {
				return 0
			}
		case ']', '}', ',', ' ', '\t', '\r', '\n':
			switch {
			case depth == 0:
				return i
			case s[i] != ']' && s[i] != '}':
			default:
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	return 0
}

// textEnd returns where the quoted text that s begins with ends, and 0 if it does
// not.
func textEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return 0
}
