package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Claims are what a token says.
type Claims interface {
	// Get returns a claim by its name.
	Get(name string) (value.Value, bool)

	// HasRole reports whether the token has a role.
	HasRole(role string) bool
}

// File is a policy file. It does not change.
type File struct {
	rules      []*rule
	appendOnly []string // the collections, or every
	own        []string // the server's collections, which no rule opens

	claims []string // all that filters name, in order
	single []string // those that stand for one value: the policies' first parameters
	lists  []string // those that stand for their values

	mu       sync.Mutex               // guards the field below
	policies map[string]*fenec.Policy // by what makes them differ, see File.policy
}

// Parse reads a policy file. own are the collections that the server keeps for
// itself: no rule may name them, and none of "*" opens them. Errors name the line.
func Parse(text string, own ...string) (*File, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("not UTF-8")
	}
	f := &File{own: own, policies: map[string]*fenec.Policy{}}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		n++
		if err := f.parseLine(n, line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	for _, r := range f.rules {
		if r.collides(f.appendOnly) {
			return nil, fmt.Errorf("line %d: %s is append-only: its documents are neither updated nor deleted", r.line, r.collection)
		}
		f.note(r.filter)
	}
	// What one policy of all rules cannot hold, a token's might not either.
	if _, err := f.combine(f.rules, f.places(nil)); err != nil {
		return nil, err
	}
	return f, nil
}

// parseLine reads one line; n is its number.
func (f *File) parseLine(n int, line string) error {
	line, _, _ = strings.Cut(line, "#")
	line = strings.TrimSpace(line)
	if line == "" {
		return nil
	}
	name, rest := cutWord(line)
	switch {
	case name != every && !isName(name):
		return fmt.Errorf("%q is not the name of a collection", name)
	case slices.Contains(f.own, name):
		return fmt.Errorf("the collection %q is the server's own", name)
	case rest == "":
		return fmt.Errorf("nothing is granted on %s", name)
	}
	if word, more := cutWord(rest); word == "append-only" {
		if more != "" {
			return errors.New("append-only is for all documents and all tokens: nothing may follow it")
		}
		f.appendOnly = append(f.appendOnly, name)
		return nil
	}
	r := &rule{line: n, collection: name}
	if err := parseRule(r, rest); err != nil {
		return err
	}
	f.rules = append(f.rules, r)
	return nil
}

// note adds the claims of a filter to those of the file.
func (f *File) note(x *filter) {
	if x == nil {
		return
	}
	for _, g := range x.gaps {
		f.claims = addNew(f.claims, g.claim)
		if g.list {
			f.lists = addNew(f.lists, g.claim)
		} else {
			f.single = addNew(f.single, g.claim)
		}
	}
}

func addNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// onlyAppends reports whether a collection is append-only.
func (f *File) onlyAppends(collection string) bool {
	return slices.Contains(f.appendOnly, every) || slices.Contains(f.appendOnly, collection)
}
