package value

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

// maxParseDepth is how many lists and objects may lie within each other in
// JSON that is read, whatever becomes of it.
const maxParseDepth = 128

// maxParseValues is how many values JSON that is read may hold, those within
// others included: one of a few bytes there takes up some 30 in memory.
const maxParseValues = 8 << 20

// ParseJSON reads one JSON value, with white space around it allowed and
// nothing else. data is not kept; the texts of the value share one copy of it,
// so that a short text to be kept from long data is better cloned.
//
// A number without a point and an exponent is an int, or a float when it is
// beyond 64 bits; all others are the nearest float. Objects come out sorted by
// key. A lone surrogate becomes U+FFFD.
//
// Refused, as a fault.Query that tells the byte where: what is not JSON or not
// UTF-8, a member given twice, a number beyond the range of floats, and more
// than 128 lists and objects within each other or 8388608 values in all.
func ParseJSON(data []byte) (Value, error) { return ParseJSONString(string(data)) }

// ParseJSONString is ParseJSON of a string, whose memory the texts of the value
// share.
func ParseJSONString(data string) (Value, error) {
	p := parserPool.Get().(*parser)
	defer p.release()
	p.data, p.left = data, maxParseValues
	if !utf8.ValidString(data) {
		return Null, p.fail(invalidAt(data), "invalid UTF-8")
	}
	v, err := p.value(p.skip(0))
	if err != nil {
		return Null, err
	}
	if end := p.skip(p.pos); end < len(data) {
		return Null, p.fail(end, "more after the value")
	}
	return v, nil
}

// invalidAt returns where data stops being UTF-8.
func invalidAt(data string) int {
	for i, r := range data {
		if r == utf8.RuneError && !strings.HasPrefix(data[i:], "\ufffd") {
			return i
		}
	}
	return len(data)
}

// parser reads one JSON text. Its methods start at the byte they are given and
// leave pos after what they have read.
type parser struct {
	data  string
	pos   int
	depth int
	left  int // how many more values there may be

	stacks
}

// stacks are the elements and members of the lists and objects being read, the
// innermost last. They get a slice of their own when theirs ends, see taken.
type stacks struct {
	elems   []Value
	members []Member
}

func (p *parser) fail(at int, what string) error {
	return fault.New(fault.Query, "json: %s at byte %d", what, at)
}

// unexpected reports that the byte at i cannot stand there.
func (p *parser) unexpected(i int) error {
	if i >= len(p.data) {
		return p.fail(i, "unexpected end")
	}
	r, _ := utf8.DecodeRuneInString(p.data[i:])
	return p.fail(i, "unexpected "+strconv.QuoteRune(r))
}

// at returns the byte at i, and 0, which has no place in JSON, past the end.
func (p *parser) at(i int) byte {
	if i < len(p.data) {
		return p.data[i]
	}
	return 0
}

// skip returns where the white space from i on ends.
func (p *parser) skip(i int) int {
	for i < len(p.data) {
		switch p.data[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

func (p *parser) value(i int) (Value, error) {
	if p.left--; p.left < 0 {
		return Null, p.fail(i, "more than 8388608 values")
	}
	switch c := p.at(i); c {
	case '{':
		return p.object(i)
	case '[':
		return p.list(i)
	case '"':
		s, err := p.text(i)
		return Text(s), err
	case 't':
		return p.word(i, "true", Bool(true))
	case 'f':
		return p.word(i, "false", Bool(false))
	case 'n':
		return p.word(i, "null", Null)
	default:
		if c == '-' || isDigit(c) {
			return p.number(i)
		}
	}
	return Null, p.unexpected(i)
}

func (p *parser) word(i int, word string, v Value) (Value, error) {
	for j := range len(word) {
		if p.at(i+j) != word[j] {
			return Null, p.unexpected(i + j)
		}
	}
	p.pos = i + len(word)
	return v, nil
}

// enter counts one more list or object around what follows.
func (p *parser) enter(i int) error {
	if p.depth++; p.depth > maxParseDepth {
		return p.fail(i, "more than 128 lists and objects within each other")
	}
	return nil
}

func (p *parser) list(i int) (Value, error) {
	if err := p.enter(i); err != nil {
		return Null, err
	}
	start := len(p.elems)
	i = p.skip(i + 1)
	for p.at(i) != ']' || len(p.elems) > start {
		v, err := p.value(i)
		if err != nil {
			return Null, err
		}
		if len(p.elems) == cap(p.elems) {
			p.elems = grown(p.elems, p.room(len(p.elems)))
		}
		p.elems = append(p.elems, v)
		i = p.skip(p.pos)
		if p.at(i) == ']' {
			break
		}
		if p.at(i) != ',' {
			return Null, p.unexpected(i)
		}
		i = p.skip(i + 1)
	}
	p.pos = i + 1
	p.depth--
	elems, rest := taken(p.elems, start)
	p.elems = rest
	return List(elems), nil
}

func (p *parser) object(i int) (Value, error) {
	if err := p.enter(i); err != nil {
		return Null, err
	}
	open, start := i, len(p.members)
	i = p.skip(i + 1)
	for p.at(i) != '}' || len(p.members) > start {
		m, err := p.member(i)
		if err != nil {
			return Null, err
		}
		if len(p.members) == cap(p.members) {
			p.members = grown(p.members, p.room(len(p.members)))
		}
		p.members = append(p.members, m)
		i = p.skip(p.pos)
		if p.at(i) == '}' {
			break
		}
		if p.at(i) != ',' {
			return Null, p.unexpected(i)
		}
		i = p.skip(i + 1)
	}
	p.pos = i + 1
	p.depth--
	members, rest := taken(p.members, start)
	p.members = rest
	if key, twice := sortMembers(members); twice {
		return Null, p.fail(open, "member "+strconv.Quote(abbreviate(key))+" given twice in the object")
	}
	return object(members), nil
}

func (p *parser) member(i int) (Member, error) {
	if p.at(i) != '"' {
		return Member{}, p.unexpected(i)
	}
	key, err := p.text(i)
	if err != nil {
		return Member{}, err
	}
	i = p.skip(p.pos)
	if p.at(i) != ':' {
		return Member{}, p.unexpected(i)
	}
	v, err := p.value(p.skip(i + 1))
	return Member{Key: key, Value: v}, err
}

func (p *parser) text(i int) (string, error) {
	raw, plain, err := p.span(i)
	if err != nil || plain {
		return raw, err
	}
	return p.unescape(raw)
}

// number reads the number at i, which begins with a digit or a minus.
func (p *parser) number(i int) (Value, error) {
	start := i
	negative := p.data[i] == '-'
	if negative {
		i++
	}
	first := i
	magnitude, i, fits := p.digits(i)
	if i == first {
		return Null, p.unexpected(i)
	}
	if p.data[first] == '0' && i > first+1 {
		return Null, p.fail(first, "number with a zero before it")
	}
	end, err := p.fraction(i)
	if err != nil {
		return Null, err
	}
	p.pos = end
	if end == i && fits {
		if v, ok := signedInt(magnitude, negative); ok {
			return v, nil
		}
	}
	f, err := strconv.ParseFloat(p.data[start:end], 64)
	if err != nil {
		return Null, p.fail(start, "number beyond the range of a float")
	}
	return Float(f), nil
}

// digits reads digits from i on as a number, and reports whether it fits 64
// bits.
func (p *parser) digits(i int) (n uint64, end int, fits bool) {
	fits = true
	for ; isDigit(p.at(i)); i++ {
		if n > (math.MaxUint64-9)/10 {
			fits = false
		}
		n = n*10 + uint64(p.data[i]-'0')
	}
	return n, i, fits
}

// fraction returns where the point and the exponent that may stand at i end.
func (p *parser) fraction(i int) (end int, err error) {
	if p.at(i) == '.' {
		_, end, _ := p.digits(i + 1)
		if end == i+1 {
			return 0, p.unexpected(end)
		}
		i = end
	}
	if p.at(i)|0x20 == 'e' {
		i++
		if c := p.at(i); c == '+' || c == '-' {
			i++
		}
		_, end, _ := p.digits(i)
		if end == i {
			return 0, p.unexpected(end)
		}
		i = end
	}
	return i, nil
}

func signedInt(magnitude uint64, negative bool) (Value, bool) {
	switch {
	case !negative && magnitude <= math.MaxInt64:
		return Int(int64(magnitude)), true
	case negative && magnitude <= 1<<63:
		return Int(int64(-magnitude)), true
	}
	return Null, false
}
