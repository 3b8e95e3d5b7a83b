package rest

import (
	"strings"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/ql"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

// translations keeps what reads of a collection translate to. Those whose keys,
// operators and clauses are the same differ in the values of their filters alone,
// which are arguments.
type translations struct {
	mu   sync.RWMutex // guards kept
	kept map[string]*Statement
}

const (
	mostTranslations = 32  // before all are forgotten
	longestForm      = 256 // of a query string whose translation is kept, in bytes
)

// get returns the translation of reads of a form, without arguments, or nil.
func (t *translations) get(form []byte) *Statement {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.kept[string(form)]
}

func (t *translations) add(form []byte, st *Statement) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept == nil || len(t.kept) >= mostTranslations {
		t.kept = map[string]*Statement{}
	}
	t.kept[string(form)] = &Statement{Text: st.Text, Answer: st.Answer}
}

// The kinds of pairs in a form. None of them occurs in UTF-8.
const (
	formFilter = 0xfe
	formClause = 0xff
)

// appendForm appends the form of a read: the keys of its filters with their
// operators, and its clauses as they are. filters counts the former. ok is false if
// the read has anything else.
func (c *Collection) appendForm(dst []byte, query []target.Pair) (form []byte, filters int, ok bool) {
	for i := range query {
		p := &query[i]
		switch readClauses[p.Key] {
		case noClause:
			op, _ := comparison(p.Value)
			if op == 0 || c.fields[p.Key] == nil {
				return nil, 0, false
			}
			dst = append(append(append(dst, p.Key...), formFilter), byte(op))
			filters++
		case clauseWhere, clauseLookup:
			return nil, 0, false
		default:
			dst = append(append(dst, p.Key...), formClause)
			dst = append(append(dst, p.Value...), formClause)
		}
		if len(dst) > longestForm {
			return nil, 0, false
		}
	}
	return dst, filters, true
}

// comparison takes the text of a filter apart that compares with one value. op is
// 0 for any other.
func comparison(text string) (op ql.Op, operand string) {
	word, rest, ok := strings.Cut(text, ".")
	switch {
	case !ok:
		return ql.OpEq, text
	case word == "not", word == "in", word == "is":
		return 0, ""
	}
	if op := comparisons[word]; op != 0 {
		return op, rest
	}
	return ql.OpEq, text
}

// appendValues appends the values that the filters of a read compare with, all of
// which are comparisons.
func (c *Collection) appendValues(values []any, query []target.Pair) ([]any, error) {
	for i := range query {
		p := &query[i]
		if readClauses[p.Key] != noClause {
			continue
		}
		op, operand := comparison(p.Value)
		v, err := compared(p.Key, c.fields[p.Key].typ, op, operand)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}
