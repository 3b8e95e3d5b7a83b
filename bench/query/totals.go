package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/measure"
)

// total is the number of rows and the sum of quantities of one kind.
type total struct{ count, sum int64 }

func measureGroup(ctx context.Context, e *env) error {
	p, err := e.itemPair(ctx)
	if err != nil {
		return err
	}
	want := p.items.totals()
	var cs []measure.Contender
	for _, en := range p.engines() {
		st, err := en.prepare(text{
			"get item select kind, count(*), sum(qty) group kind",
			"select kind, count(*), sum(qty) from item group by kind",
		})
		if err != nil {
			return err
		}
		cs = append(cs, e.contender(en, func() error { return askTotals(ctx, st, want) }))
	}
	return e.compare(ctx, fmt.Sprintf("%d groups of a text field without an index", itemKinds), cs, fasterBy)
}

func (d *items) totals() map[string]total {
	out := map[string]total{}
	for _, f := range d.facts {
		t := out[d.kinds[f.kind]]
		t.count++
		t.sum += int64(f.qty)
		out[d.kinds[f.kind]] = t
	}
	return out
}

func askTotals(ctx context.Context, st statement, want map[string]total) error {
	groups := 0
	err := st.rows(ctx, nil, func(scan scan) error {
		var (
			kind string
			got  total
		)
		if err := scan(&kind, &got.count, &got.sum); err != nil {
			return err
		}
		groups++
		if got != want[kind] {
			return fmt.Errorf("group %q is %v, want %v", kind, got, want[kind])
		}
		return nil
	})
	if err == nil && groups != len(want) {
		err = fmt.Errorf("got %d groups, want %d", groups, len(want))
	}
	return err
}

// tally is a count of rows with a filter.
type tally struct {
	name string
	text text
	n    int64
	ask  func(i int64) (args []any, want int)
}

func measureCounts(ctx context.Context, e *env) error {
	p, err := e.itemPair(ctx)
	if err != nil {
		return err
	}
	d := p.items
	prices := d.byPrice.values()
	for _, t := range []tally{
		{
			name: "a predicate without an index",
			text: text{"get item where qty < $1 count", "select count(*) from item where qty < ?"},
			n:    itemQtys,
			ask:  func(i int64) ([]any, int) { return []any{i}, len(d.byQty.between(0, int(i))) },
		},
		{
			name: "a range of a tenth of an index",
			text: text{"get item where price >= $1 and price < $2 count", "select count(*) from item where price >= ? and price < ?"},
			n:    int64(prices - prices/10),
			ask: func(i int64) ([]any, int) {
				hi := int(i) + prices/10
				return []any{i, int64(hi)}, len(d.byPrice.between(int(i), hi))
			},
		},
	} {
		if err := e.compareCounts(ctx, p, t); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) compareCounts(ctx context.Context, p *itemPair, t tally) error {
	var cs []measure.Contender
	for _, en := range p.engines() {
		st, err := en.prepare(t.text)
		if err != nil {
			return err
		}
		pick := gen.NewSpread(t.n)
		cs = append(cs, e.contender(en, func() error {
			args, want := t.ask(pick.Take())
			got, err := askCount(ctx, st, args)
			if err == nil && got != want {
				err = fmt.Errorf("%v: counted %d, want %d", args, got, want)
			}
			return err
		}))
	}
	return e.compare(ctx, t.name, cs, fasterBy)
}

// askCount runs a statement whose answer is one number.
func askCount(ctx context.Context, st statement, args []any) (int, error) {
	n := -1
	err := st.rows(ctx, args, func(scan scan) error { return scan(&n) })
	if err == nil && n < 0 {
		err = errors.New("nothing was answered")
	}
	return n, err
}
