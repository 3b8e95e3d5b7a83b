package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// rule is a line of the file that grants something.
type rule struct {
	line       int
	collection string // or every
	grants     grants
	named      grants   // those of grants that the line names one by one, and not as write
	fields     []string // those that an update may change; nil for all
	filter     *filter  // nil for every row
	role       string   // "" for any token
}

const (
	every = "*"
	id    = "id" // the field that no rule writes to
)

// grants are some of what a rule may grant.
type grants uint8

const (
	read grants = 1 << iota
	insert
	update
	remove
	expired

	write   = insert | update | remove
	changes = update | remove // what is not done where all is append-only
)

// grantNames has the grants in the order in which they are shown.
var grantNames = []struct {
	grant grants
	name  string
}{{read, "read"}, {insert, "insert"}, {update, "update"}, {remove, "delete"}, {expired, "expired"}}

// grantOf returns what a word grants.
func grantOf(word string) (grants, bool) {
	for _, g := range grantNames {
		if g.name == word {
			return g.grant, true
		}
	}
	return write, word == "write"
}

// parseRule reads what follows the collection's name in a line.
func parseRule(r *rule, rest string) error {
	list, rest := cutGrants(rest)
	if err := r.parseGrants(list); err != nil {
		return err
	}
	rest, err := r.cutRole(rest)
	if err != nil || rest == "" {
		return err
	}
	word, condition := cutWord(rest)
	switch {
	case word != "where":
		return fmt.Errorf(`%q follows the grants: "where", a filter, "for" and a role may`, word)
	case condition == "":
		return fmt.Errorf(`nothing follows "where"`)
	}
	r.filter, err = parseFilter(condition)
	return err
}

// cutGrants returns the list of grants that text begins with, which ends at a blank
// outside of parentheses, and what follows.
func cutGrants(text string) (list, rest string) {
	within := false
	for i, c := range text {
		switch {
		case c == '(':
			within = true
		case c == ')':
			within = false
		case !within && blank(c):
			return text[:i], strings.TrimSpace(text[i:])
		}
	}
	return text, ""
}

func blank(c rune) bool { return c == ' ' || c == '\t' }

func cutWord(text string) (word, rest string) {
	if i := strings.IndexFunc(text, blank); i >= 0 {
		return text[:i], strings.TrimSpace(text[i:])
	}
	return text, ""
}

// cutRole takes "for" and a role off the end of text: the word before the last one
// tells.
func (r *rule) cutRole(text string) (rest string, err error) {
	words := strings.Fields(text)
	switch n := len(words); {
	case n > 1 && words[n-2] == "for":
		r.role = words[n-1]
	case n > 0 && words[n-1] == "for":
		return "", fmt.Errorf(`a role is missing after "for"`)
	default:
		return text, nil
	}
	text = strings.TrimSpace(strings.TrimSuffix(text, r.role))
	return strings.TrimSpace(strings.TrimSuffix(text, "for")), nil
}

// parseGrants reads grants between commas.
func (r *rule) parseGrants(list string) error {
	lifted := false // update of all fields is granted
	for rest := list; ; {
		word, fields, after, err := cutGrant(rest)
		if err != nil {
			return err
		}
		g, ok := grantOf(word)
		if !ok {
			return fmt.Errorf("%q is no grant: read, insert, update, delete, write and expired are", word)
		}
		if fields != nil && g != update {
			return fmt.Errorf("%s takes no fields", word)
		}
		r.grants |= g
		if g != write {
			r.named |= g
		}
		r.fields = append(r.fields, fields...)
		lifted = lifted || g&update != 0 && fields == nil
		if after == "" {
			break
		}
		if rest = strings.TrimPrefix(after, ","); rest == after {
			return fmt.Errorf("a comma is missing before %q", after)
		}
	}
	if lifted {
		r.fields = nil
	}
	return nil
}

// cutGrant takes a grant off a list of them: its word and the fields in
// parentheses after it, nil for none.
func cutGrant(list string) (word string, fields []string, after string, err error) {
	end := strings.IndexAny(list, ",(")
	if end < 0 {
		return list, nil, "", nil
	}
	word, after = list[:end], list[end:]
	if after[0] == ',' {
		return word, nil, after, nil
	}
	inside, after, ok := strings.Cut(after[1:], ")")
	if !ok {
		return "", nil, "", fmt.Errorf("a closing parenthesis is missing after %s", list)
	}
	fields, err = parseFields(inside)
	return word, fields, after, err
}

func parseFields(list string) ([]string, error) {
	var fields []string
	for field := range strings.SplitSeq(list, ",") {
		field = strings.TrimSpace(field)
		switch {
		case field == id:
			return nil, fmt.Errorf("the field %q cannot be changed", id)
		case !isName(field):
			return nil, fmt.Errorf("%q is not the name of a field", field)
		}
		fields = append(fields, field)
	}
	return fields, nil
}

// isName reports whether s is an identifier of the language, by asking for one.
func isName(s string) bool {
	tree, err := ql.Parse("describe " + s)
	if err != nil {
		return false
	}
	d, ok := tree.(*ql.Describe)
	return ok && d.Name.Text == s
}

// applies reports whether r applies to a token with those claims.
func (r *rule) applies(c Claims) bool {
	if r.role != "" && !c.HasRole(r.role) {
		return false
	}
	return !slices.ContainsFunc(r.filter.claims(), func(name string) bool {
		v, ok := c.Get(name)
		return !ok || v.IsNull()
	})
}

// collides reports whether r names a change of a collection that is append-only,
// those being named. Write and "*" mean insert there.
func (r *rule) collides(appendOnly []string) bool {
	return r.named&changes != 0 &&
		(slices.Contains(appendOnly, every) || slices.Contains(appendOnly, r.collection))
}
