package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
)

// items is a table of rows of about 200 bytes, and what is known about it: the
// customer, a price and a tag inside a JSON field are indexed, a quantity and
// a kind are not.
type items struct {
	rows  int
	pool  gen.Bodies
	kinds []string
	tags  []string // by tag
	facts []facts  // of the row with id i+1

	byCustomer, byPrice, byTag, byKind, byQty posting
}

// facts are what a row holds, in one place, so that checking a row costs one
// access to memory and little beside what is measured.
type facts struct{ customer, price, tag, kind, qty int32 }

const (
	itemKinds  = 20
	itemQtys   = 100
	rowsAValue = 15 // that an equality answers, on average
	itemBody   = 128
)

var (
	itemSchema = map[string][]string{
		"fenec": {
			"create collection item (customer int @hash, price int @sorted, qty int, kind text, meta json, body text)",
			"create index on item (meta.tag) @hash",
		},
		"SQLite": {
			"create table item (id integer primary key, customer integer, price integer, qty integer, kind text, meta text, body text)",
			"create index item_customer on item (customer)",
			"create index item_price on item (price)",
			"create index item_tag on item (json_extract(meta, '$.tag'))",
		},
	}
	itemInsert = text{
		"insert item {id: $1, customer: $2, price: $3, qty: $4, kind: $5, meta: $6, body: $7}",
		"insert into item (id, customer, price, qty, kind, meta, body) values (?, ?, ?, ?, ?, ?, ?)",
	}
)

func newItems(rows int) *items {
	d := &items{rows: rows, pool: gen.MakeBodies(256, itemBody)}
	values := max(rows/rowsAValue, 1)
	d.facts = make([]facts, rows)
	rng := rand.New(rand.NewPCG(3, 4))
	column := func(n int, of func(*facts) *int32) posting {
		v := make([]int32, rows)
		for i := range v {
			v[i] = int32(rng.IntN(n))
			*of(&d.facts[i]) = v[i]
		}
		return newPosting(v, n)
	}
	d.byCustomer = column(values, func(f *facts) *int32 { return &f.customer })
	d.byPrice = column(max(rows/10, 10), func(f *facts) *int32 { return &f.price })
	d.byTag = column(values, func(f *facts) *int32 { return &f.tag })
	d.byKind = column(itemKinds, func(f *facts) *int32 { return &f.kind })
	d.byQty = column(itemQtys, func(f *facts) *int32 { return &f.qty })
	for k := range itemKinds {
		d.kinds = append(d.kinds, fmt.Sprintf("kind %02d", k))
	}
	for t := range values {
		d.tags = append(d.tags, fmt.Sprintf("tag%d", t))
	}
	return d
}

// appendMeta appends the JSON field of rows with that tag.
func appendMeta(dst []byte, tag int32) []byte {
	dst = strconv.AppendInt(append(dst, `{"size":`...), int64(tag%90), 10)
	dst = strconv.AppendInt(append(dst, `,"tag":"tag`...), int64(tag), 10)
	return append(dst, `"}`...)
}

// load makes the table and its indexes in e, which is empty.
func (d *items) load(ctx context.Context, e engine) error {
	schema := itemSchema[e.name()]
	if err := e.run(ctx, schema[0]); err != nil {
		return err
	}
	err := e.fill(ctx, itemInsert, d.rows, func(i int) []any {
		f := d.facts[i]
		return []any{int64(i + 1), int64(f.customer), int64(f.price), int64(f.qty),
			d.kinds[f.kind], e.json(string(appendMeta(nil, f.tag))), d.pool.At(int64(i))}
	})
	if err != nil {
		return err
	}
	return errors.Join(e.run(ctx, schema[1:]...), e.settle(ctx))
}

// answer is which rows a question must be answered with.
type answer struct {
	ids     []int32
	ordered bool // in the order of ids
}

// itemReader reads rows of items and checks them, for one goroutine.
type itemReader struct {
	d    *items
	want answer
	n    int
	sum  int64 // of the ids wanted, less those that came

	id, customer, price, qty int64
	kind, body               string
	meta                     jsonCell
	wantMeta                 []byte
	dest                     []any
}

func newItemReader(d *items, e engine) *itemReader {
	r := &itemReader{d: d}
	r.dest = []any{&r.id, &r.customer, &r.price, &r.qty, &r.kind, e.jsonDest(&r.meta), &r.body}
	return r
}

// ask runs st and returns an error unless it answers the rows of want, each with
// all its columns.
func (r *itemReader) ask(ctx context.Context, st statement, args []any, want answer) error {
	r.want, r.n, r.sum = want, 0, 0
	for _, id := range want.ids {
		r.sum += int64(id)
	}
	if err := st.rows(ctx, args, r.row); err != nil {
		return err
	}
	if r.n != len(want.ids) || r.sum != 0 {
		return fmt.Errorf("%v answers %d rows whose ids miss the right sum by %d, want %d rows", args, r.n, r.sum, len(want.ids))
	}
	return nil
}

func (r *itemReader) row(scan scan) error {
	if err := scan(r.dest...); err != nil {
		return err
	}
	if r.want.ordered && (r.n >= len(r.want.ids) || int64(r.want.ids[r.n]) != r.id) {
		return fmt.Errorf("row %d of the answer has id %d", r.n, r.id)
	}
	r.n++
	r.sum -= r.id
	return r.check()
}

// check compares the scanned row with what was put.
func (r *itemReader) check() error {
	if r.id < 1 || r.id > int64(r.d.rows) {
		return fmt.Errorf("there is no row with id %d", r.id)
	}
	f := &r.d.facts[r.id-1]
	r.wantMeta = appendMeta(r.wantMeta[:0], f.tag)
	if r.customer != int64(f.customer) || r.price != int64(f.price) || r.qty != int64(f.qty) ||
		r.kind != r.d.kinds[f.kind] || r.body != r.d.pool.At(r.id-1) || !r.meta.holds(r.wantMeta) {
		return fmt.Errorf("row %d is not as it was put: %v", r.id,
			[]any{r.customer, r.price, r.qty, r.kind, r.meta.text + string(r.meta.raw), r.body})
	}
	return nil
}
