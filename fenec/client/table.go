package client

import (
	"fmt"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// table gathers the rows of an answer. All have the columns of the first.
type table struct {
	lookup   *ql.Lookup // whose children are the last column; nil for none
	children *table     // of all rows
	given    exec.Given

	keys    []string // the columns' names as they are written
	members rawMembers
}

// mostColumns is how many columns an answer may have.
const mostColumns = 1 << 15

// add adds a row.
func (t *table) add(raw string) (err error) {
	if t.members, err = appendMembers(t.members[:0], raw); err != nil {
		return err
	}
	if t.keys == nil {
		if err := t.begin(); err != nil {
			return err
		}
	}
	if len(t.members) != len(t.keys) {
		return fmt.Errorf("a row with %d columns after one with %d", len(t.members), len(t.keys))
	}
	row := make([]value.Value, 0, len(t.keys))
	for i, m := range t.members {
		if m.key != t.keys[i] {
			return fmt.Errorf("a row with the column %s after one with %s", m.key, t.keys[i])
		}
		if t.lookup != nil && i == len(t.keys)-1 {
			if err := t.addChildren(m.value); err != nil {
				return err
			}
			continue
		}
		v, err := value.ParseJSONString(m.value)
		if err != nil {
			return err
		}
		row = append(row, v)
	}
	t.given.Rows = append(t.given.Rows, row)
	return nil
}

// begin takes the names of the columns from the first row.
func (t *table) begin() error {
	if len(t.members) > mostColumns || t.lookup != nil && len(t.members) == 0 {
		return fmt.Errorf("a row with %d columns", len(t.members))
	}
	t.keys = make([]string, len(t.members))
	t.given.Columns = make([]string, len(t.members))
	for i, m := range t.members {
		name, err := textOf(m.key)
		if err != nil {
			return err
		}
		t.keys[i], t.given.Columns[i] = strings.Clone(m.key), name
	}
	return nil
}

// addChildren adds the children of a row.
func (t *table) addChildren(raw string) error {
	if t.children == nil {
		t.children = &table{lookup: t.lookup.Lookup}
	}
	rest, err := eachElement(raw, t.children.add)
	if err == nil && rest != "" {
		err = errForm
	}
	t.given.UpTo = append(t.given.UpTo, len(t.children.given.Rows))
	return err
}

// result returns the rows.
func (t *table) result() *exec.Result {
	t.gather()
	return t.given.Result()
}

// gather gives the children of all levels their places.
func (t *table) gather() {
	if t.children != nil {
		t.children.gather()
		t.given.Children = &t.children.given
	}
}

// next returns an empty table for more rows of the same answer.
func (t *table) next() *table {
	return &table{lookup: t.lookup, keys: t.keys, given: exec.Given{Columns: t.given.Columns}, members: t.members}
}
