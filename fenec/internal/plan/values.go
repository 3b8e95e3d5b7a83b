package plan

import (
	"bytes"
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// fewRows is how many rows must on average have a value for counting the
// entries of an index to cost less than a scan: for each value a row is read.
const fewRows = 8

// CountValues counts the rows of each value of a field by the entries of its
// index, where that is possible and pays: without a filter, and if many rows
// share a value. It calls visit once for each value with the number of its rows,
// and makes the frame stand at one of them. When ok is false it has given up, and
// what was visited is not all.
func (p *Plan) CountValues(ctx context.Context, j Job, field int, visit func(rows int64) error) (ok bool, err error) {
	ix := p.col.Fields[field].Index
	if p.where != nil || j.Also != nil || ix == nil || !tellsApart(ix, p.col.Fields[field].Type) {
		return false, nil
	}
	c := valueCount{run: run{task: task{Plan: p, ctx: ctx, f: j.Frame, t: j.Table, trace: j.Trace}}, visit: visit}
	c.trace.begin()
	defer c.trace.end()
	ok, err = c.entries(ix)
	switch {
	case ok:
		c.trace.add("count of the entries of " + c.indexName(ix))
	case c.trace != nil:
		c.trace.runs-- // the run that comes instead will tell
	}
	return ok, err
}

// tellsApart reports whether entries of ix have one key only for values that are
// the same in form as well, as long as no key is cut.
func tellsApart(ix *catalog.Index, t value.Type) bool {
	if t.IsList() || !inOrder(ix) {
		return false
	}
	switch t.Base() {
	case value.BaseBool, value.BaseInt, value.BaseTimestamp, value.BaseText:
		return true
	}
	return false
}

// valueCount counts the entries of an index.
type valueCount struct {
	run
	visit  func(rows int64) error
	key    []byte // of the value at hand
	id     uint64 // of its first row
	rows   int64  // with it
	values int
	seen   int // entries
}

// entries counts all entries, unless it gives up.
func (c *valueCount) entries(ix *catalog.Index) (ok bool, err error) {
	s := c.t.Index(ix, nil, nil, false)
	defer s.Close()
	for s.Next() {
		if c.seen++; c.seen%checkEvery == 0 {
			if err := c.ctx.Err(); err != nil {
				return false, err
			}
			if c.values > c.seen/fewRows {
				return false, nil
			}
		}
		k := s.ValueKey()
		if c.rows > 0 && bytes.Equal(k, c.key) {
			c.rows++
			continue
		}
		if key.Cut(k) {
			return false, nil
		}
		if err := c.flush(); err != nil {
			return false, err
		}
		c.key, c.id, c.rows = append(c.key[:0], k...), s.ID(), 1
		c.values++
	}
	if err := s.Err(); err != nil {
		return false, err
	}
	return true, c.flush()
}

// flush visits the value at hand.
func (c *valueCount) flush() error {
	if c.rows == 0 {
		return nil
	}
	b, err := c.t.Get(c.id)
	if err != nil {
		return err
	}
	if err := c.f.Stand(c.id, b); err != nil {
		return c.located(c.id, err)
	}
	return c.visit(c.rows)
}
