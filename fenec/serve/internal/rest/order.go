package rest

import (
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// sorter reads the keys of an order: fields, paths or aggregates, with modifiers
// behind dots.
type sorter struct {
	b   *builder
	c   *Collection
	key string // as errors name it

	groups  bool        // what is sorted are groups
	columns []ql.Column // by whose names groups can be sorted
}

func (s *sorter) keys(text string) ([]ql.Key, error) {
	var keys []ql.Key
	for text != "" {
		var item string
		item, text = cutItem(text)
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		k, err := s.sortKey(item)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, fault.New(fault.Query, "%s: nothing is named", s.key)
	}
	return keys, nil
}

// cutItem cuts a list at its first comma outside of parentheses.
func cutItem(list string) (item, rest string) {
	open := 0
	for i := range len(list) {
		switch c := list[i]; {
		case c == '(':
			open++
		case c == ')':
			open--
		case c == ',' && open <= 0:
			return list[:i], list[i+1:]
		}
	}
	return list, ""
}

func (s *sorter) sortKey(item string) (ql.Key, error) {
	if end := strings.LastIndexByte(item, ')'); end >= 0 {
		c, err := s.b.aggregate(s.key, item[:end+1])
		if err != nil {
			return ql.Key{}, err
		}
		return s.modified(ql.Key{Call: c}, item[end+1:])
	}
	name, _, _ := strings.Cut(item, ".")
	rest := item[len(name):]
	if s.groups && s.names(name) {
		return s.modified(ql.Key{Path: ql.Path{Field: name}}, rest)
	}
	f, err := s.c.field(name)
	switch {
	case err != nil:
		return ql.Key{}, err
	case f.typ.Is(value.BaseJSON):
		return s.pathKey(item)
	}
	k, err := s.modified(ql.Key{Path: *f.path}, rest)
	if err == nil && k.Collate != "" && f.typ.Base() != value.BaseText {
		err = fault.New(fault.Query, "%s: %s is no text, which alone has a collation", s.key, name)
	}
	return k, err
}

// names reports whether a column is called so.
func (s *sorter) names(name string) bool {
	return slices.ContainsFunc(s.columns, func(c ql.Column) bool { return c.As.Text == name })
}

// modified returns k with its modifiers, before each of which is a dot.
func (s *sorter) modified(k ql.Key, rest string) (ql.Key, error) {
	if rest == "" {
		return k, nil
	}
	var m modifiers
	for word := range strings.SplitSeq(strings.TrimPrefix(rest, "."), ".") {
		if rest[0] != '.' || !m.add(word) {
			return k, fault.New(fault.Query, "%s: unknown modifier %.80q", s.key, word)
		}
	}
	k.Collate, k.Desc = m.collate, m.desc
	return k, nil
}

// pathKey reads a json field, or a path into it, and its modifiers. These are the
// last words that can be some: of two directions, the first is a key of the path.
func (s *sorter) pathKey(item string) (ql.Key, error) {
	var m modifiers
	dot := strings.LastIndexByte(item, '.')
	for dot >= 0 && m.add(item[dot+1:]) {
		item = item[:dot]
		dot = strings.LastIndexByte(item, '.')
	}
	x, err := s.c.operand(item)
	if err != nil {
		return ql.Key{}, err
	}
	return ql.Key{Path: *x.path, Collate: m.collate, Desc: m.desc}, nil
}

// modifiers are what stands behind a key to sort by.
type modifiers struct {
	directed, desc bool
	collate        string
}

// add adds a word, and reports whether it is a modifier of a kind that is not
// there yet.
func (m *modifiers) add(word string) bool {
	switch {
	case (word == "asc" || word == "desc") && !m.directed:
		m.directed, m.desc = true, word == "desc"
	case (word == "und" || word == "tr") && m.collate == "":
		m.collate = word
	default:
		return false
	}
	return true
}
