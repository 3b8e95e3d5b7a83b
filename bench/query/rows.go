package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// fasterBy is how much faster than SQLite a query is meant to be.
var fasterBy = report.AtLeast(3)

const (
	pageRows = 50 // of an ordered page
	inValues = 1_000
	inLists  = 32 // different lists of an in
)

// question is one kind of query over items: its text, and how its i-th run is
// asked.
type question struct {
	name string
	text text
	n    int64 // how many different runs there are
	ask  func(i int64) ([]any, answer)
}

const itemColumns = "select id, customer, price, qty, kind, meta, body from item "

func measureEquality(ctx context.Context, e *env) error {
	return e.compareRows(ctx, func(d *items) question {
		return question{
			name: fmt.Sprintf("all columns of about %d rows", rowsAValue),
			text: text{"get item where customer = $1", itemColumns + "where customer = ?"},
			n:    int64(d.byCustomer.values()),
			ask: func(i int64) ([]any, answer) {
				return []any{i}, answer{ids: d.byCustomer.of(int(i))}
			},
		}
	})
}

func measurePage(ctx context.Context, e *env) error {
	return e.compareRows(ctx, func(d *items) question {
		prices := d.byPrice.values()
		return question{
			name: fmt.Sprintf("the first %d rows of about a thousand", pageRows),
			text: text{
				fmt.Sprintf("get item where price >= $1 and price < $2 order price limit %d", pageRows),
				fmt.Sprintf(itemColumns+"where price >= ? and price < ? order by price, id limit %d", pageRows),
			},
			n: int64(prices),
			ask: func(i int64) ([]any, answer) {
				hi := min(int(i)+100, prices)
				ids := d.byPrice.between(int(i), hi)
				return []any{i, int64(hi)}, answer{ids[:min(len(ids), pageRows)], true}
			},
		}
	})
}

func measureIn(ctx context.Context, e *env) error {
	return e.compareRows(ctx, func(d *items) question {
		lists := d.inLists()
		return question{
			name: fmt.Sprintf("%d values, all columns of about %d rows", inValues, inValues*rowsAValue),
			text: text{
				"get item where customer in [" + placeholders("$%d", inValues) + "]",
				itemColumns + "where customer in (" + placeholders("?%d", inValues) + ")",
			},
			n:   inLists,
			ask: func(i int64) ([]any, answer) { return lists[i].args, lists[i].want },
		}
	})
}

func measureJSON(ctx context.Context, e *env) error {
	return e.compareRows(ctx, func(d *items) question {
		return question{
			name: fmt.Sprintf("all columns of about %d rows", rowsAValue),
			text: text{"get item where meta.tag = $1", itemColumns + "where json_extract(meta, '$.tag') = ?"},
			n:    int64(d.byTag.values()),
			ask: func(i int64) ([]any, answer) {
				return []any{d.tags[i]}, answer{ids: d.byTag.of(int(i))}
			},
		}
	})
}

// compareRows measures a question on both sides.
func (e *env) compareRows(ctx context.Context, make func(*items) question) error {
	p, err := e.itemPair(ctx)
	if err != nil {
		return err
	}
	q := make(p.items)
	var cs []measure.Contender
	for _, en := range p.engines() {
		st, err := en.prepare(q.text)
		if err != nil {
			return err
		}
		r, pick := newItemReader(p.items, en), gen.NewSpread(q.n)
		cs = append(cs, e.contender(en, func() error {
			args, want := q.ask(pick.Take())
			return r.ask(ctx, st, args, want)
		}))
	}
	return e.compare(ctx, q.name, cs, fasterBy)
}

// contender is an engine that does op, one after the other.
func (e *env) contender(en engine, op func() error) measure.Contender {
	return measure.Contender{Name: en.name(), Slice: func() (float64, error) {
		ns, err := measure.PerOp(e.Slice, op)
		if err != nil {
			err = fmt.Errorf("%s: %w", en.name(), err)
		}
		return ns, err
	}}
}

// compare measures fenec's contender against the peer's and prints the line.
func (e *env) compare(ctx context.Context, name string, cs []measure.Contender, g report.Goal) error {
	got, err := measure.Interleave(ctx, e.Rounds, cs)
	if err != nil {
		return err
	}
	e.out.Line(name, report.Duration, got[0], got[1], got[1]/got[0], g)
	return nil
}

// inList is the arguments of an in with what they must be answered with.
type inList struct {
	args []any
	want answer
}

func (d *items) inLists() []inList {
	lists := make([]inList, inLists)
	pick := gen.NewSpread(int64(d.byCustomer.values()))
	for i := range lists {
		taken := map[int64]bool{}
		for range inValues {
			v := pick.Take()
			lists[i].args = append(lists[i].args, v)
			if !taken[v] {
				taken[v] = true
				lists[i].want.ids = append(lists[i].want.ids, d.byCustomer.of(int(v))...)
			}
		}
	}
	return lists
}

// placeholders returns n numbered placeholders.
func placeholders(form string, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(form, i+1)
	}
	return strings.Join(out, ", ")
}
