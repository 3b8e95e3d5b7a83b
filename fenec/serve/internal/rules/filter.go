package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// filter is a rule's condition. Its text has gaps, where the parameters come that
// stand for claims: those of lists are as many as a token has values.
type filter struct {
	written string // as the file has it
	start   string // what comes before the first gap
	gaps    []gap
	pins    []pin
}

// gap is where a claim stands, and what follows it.
type gap struct {
	claim string
	list  bool   // among the items after "in"
	comma bool   // another item follows: a comma comes before it, unless there are no values
	then  string // what follows
}

// pin is a value that a filter requires of a field.
type pin struct {
	field string
	claim string // the value, or "" for
	text  string // a constant
}

// parseFilter reads a condition with claims.
func parseFilter(written string) (*filter, error) {
	text, claims, err := numbered(written)
	if err != nil {
		return nil, err
	}
	tree, err := ql.ParseExpr(text)
	if err != nil {
		return nil, plain(err)
	}
	if ql.HasAggregate(tree) {
		return nil, errors.New("a filter holds no aggregate")
	}
	printed := ql.PrintExpr(tree)
	if _, err := fenec.NewPolicy(fenec.Access{Others: fenec.Grants{Read: fenec.Rows(printed)}}); err != nil {
		return nil, plain(err)
	}
	f := &filter{written: written, pins: pinsOf(tree, claims)}
	f.cut(printed, claims, listed(tree))
	return f, nil
}

// plain returns an error of the engine without the place in a text that the file
// does not have.
func plain(err error) error {
	var at *ql.Error
	if errors.As(err, &at) {
		return errors.New(at.Msg)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "query error: "))
}

const mark = "$jwt."

// numbered returns a condition with numbered parameters for its claims, and the
// claim of each. After "in" they get the brackets that the language asks for.
func numbered(written string) (text string, claims []string, err error) {
	var b strings.Builder
	for rest := written; rest != ""; {
		n := quoted(rest)
		if n == 0 && rest[0] == '$' {
			claim, err := claimAt(rest)
			if err != nil {
				return "", nil, err
			}
			claims = append(claims, claim)
			param := "$" + strconv.Itoa(len(claims))
			if endsWithIn(b.String()) {
				param = "[" + param + "]"
			}
			b.WriteString(param)
			rest = rest[len(mark)+len(claim):]
			continue
		}
		n = max(n, 1)
		b.WriteString(rest[:n])
		rest = rest[n:]
	}
	return b.String(), claims, nil
}

// quoted returns the length of the string literal that s begins with, 0 for none.
func quoted(s string) int {
	if s[0] != '"' && s[0] != '\'' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}

// claimAt returns the name of the claim that s begins with.
func claimAt(s string) (string, error) {
	rest, ok := strings.CutPrefix(s, mark)
	if !ok {
		return "", errors.New("parameters are not known here: a claim of the token is written $jwt.<claim>")
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !wordRune(r) })
	if end < 0 {
		end = len(rest)
	}
	if end == 0 || unicode.IsDigit(rune(rest[0])) {
		return "", errors.New("$jwt. is without the name of a claim")
	}
	if strings.HasPrefix(rest[end:], ".") {
		return "", fmt.Errorf("$jwt.%s.…: a claim has one name", rest[:end])
	}
	return rest[:end], nil
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// endsWithIn reports whether s ends with "in", as no other word does that can stand
// before a value.
func endsWithIn(s string) bool {
	s = strings.TrimRight(s, " \t")
	return len(s) >= 2 && strings.EqualFold(s[len(s)-2:], "in")
}

// listed returns the numbers of the parameters that are items after "in".
func listed(tree ql.Expr) map[int]bool {
	out := map[int]bool{}
	ql.Walk(tree, func(e ql.Expr) bool {
		if in, ok := e.(*ql.In); ok {
			for _, item := range in.List {
				if p, ok := item.(*ql.Param); ok {
					out[p.N] = true
				}
			}
		}
		return true
	})
	return out
}

// cut fills the start and the gaps of f from a condition as it prints.
func (f *filter) cut(printed string, claims []string, listed map[int]bool) {
	texts, numbers := apart(printed)
	f.start = texts[0]
	for i, n := range numbers {
		g := gap{claim: claims[n-1], list: listed[n], then: texts[i+1]}
		if g.list {
			g.then, g.comma = strings.CutPrefix(g.then, ", ")
		}
		f.gaps = append(f.gaps, g)
	}
}

// apart returns the numbers of the parameters in a condition, and the texts before,
// between and after them.
func apart(printed string) (texts []string, numbers []int) {
	from := 0
	for i := 0; i < len(printed); {
		if n := quoted(printed[i:]); n > 0 {
			i += n
			continue
		}
		if printed[i] != '$' {
			i++
			continue
		}
		texts = append(texts, printed[from:i])
		number := 0
		for i++; i < len(printed) && printed[i] >= '0' && printed[i] <= '9'; i++ {
			number = 10*number + int(printed[i]-'0')
		}
		numbers, from = append(numbers, number), i
	}
	return append(texts, printed[from:]), numbers
}

// claims returns the names of the claims that f needs.
func (f *filter) claims() []string {
	var out []string
	if f == nil {
		return nil
	}
	for _, g := range f.gaps {
		if !slices.Contains(out, g.claim) {
			out = append(out, g.claim)
		}
	}
	return out
}

// text returns the condition with its parameters where places has them.
func (f *filter) text(places *places) string {
	b := []byte(f.start)
	for _, g := range f.gaps {
		if !g.list {
			b = append(places.appendOne(b, g.claim), g.then...)
			continue
		}
		before := len(b)
		b = places.appendList(b, g.claim)
		if g.comma && len(b) > before {
			b = append(b, ", "...)
		}
		b = append(b, g.then...)
	}
	return string(b)
}
