package rules_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/rules"
)

// operation is what a person tries.
type operation struct {
	verb, collection string
	doc              doc // of put and set
	id               int // 0 for all rows
}

func newOperation(r *rand.Rand, rows int) operation {
	op := operation{verb: []string{"get", "put", "set", "del"}[r.IntN(4)], collection: []string{"docs", "more"}[r.IntN(2)]}
	op.doc = doc{}
	for _, field := range []string{"kind", "n", "owner"} {
		if values := fieldValues[field]; r.IntN(2) == 0 {
			op.doc[field] = values[r.IntN(len(values))]
		}
	}
	if len(op.doc) == 0 {
		op.doc["n"] = "1"
	}
	if r.IntN(3) > 0 {
		op.id = 1 + r.IntN(rows)
	}
	return op
}

var fieldValues = map[string][]string{"owner": {"", "ada", "bob"}, "kind": {"", "k", "l", "m"}, "n": {"", "1", "2"}}

func (op operation) text() string {
	where := ""
	if op.id != 0 {
		where = fmt.Sprintf(" where id = %d", op.id)
	}
	switch op.verb {
	case "put":
		return "put " + op.collection + " " + op.doc.text()
	case "set":
		return "set " + op.collection + " " + op.doc.text() + where
	}
	return op.verb + " " + op.collection + where
}

// everyDoc is a row of every kind there is.
func everyDoc() map[int]doc {
	out := map[int]doc{}
	for _, owner := range fieldValues["owner"] {
		for _, kind := range fieldValues["kind"] {
			for _, n := range fieldValues["n"] {
				out[len(out)+1] = doc{"owner": owner, "kind": kind, "n": n}
			}
		}
	}
	return out
}

// TestMatrix tries operations of persons under generated policies, on rows that are
// in and out of what they may see and do, before and after.
func TestMatrix(t *testing.T) {
	const tries = 24
	worlds := uint64(250)
	if testing.Short() {
		worlds = 60
	}
	ends := map[string]int{}
	for seed := range worlds {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(r)
		f, err := rules.Parse(w.text())
		if w.contradicts() {
			require.ErrorContains(t, err, "append-only", w.text())
			continue
		}
		require.NoError(t, err, w.text())
		db := database(t, "create collection docs (owner text @hash, kind text, n int)", "create collection more (owner text, kind text @hash, n int)")
		for range tries {
			rows := everyDoc()
			p, op := &persons[r.IntN(len(persons))], newOperation(r, len(rows))
			want := w.expect(p, op, rows)
			got := try(t, f, db, p, op, rows)
			about := fmt.Sprintf("seed %d\n%s%s %s\n%v", seed, w.text(), p.token, op.text(), got.err)
			require.ErrorIs(t, got.err, want.err, about)
			require.Equal(t, want.err == nil, got.err == nil, about)
			require.Equal(t, want.rows, got.rows, about)
			if op.verb == "get" && want.err == nil {
				require.Equal(t, want.read, got.read, about)
			}
			if (op.verb == "set" || op.verb == "del") && errors.Is(want.err, fenec.ErrDenied) && w.onlyAppends(op.collection) {
				require.ErrorContains(t, got.err, "append-only", about)
			}
			ends[fmt.Sprintf("%s %v %t", op.verb, want.err, maps.EqualFunc(want.rows, rows, maps.Equal))]++
		}
	}
	require.GreaterOrEqual(t, len(ends), 14, "all ways to end have come up: %v", ends)
}

// try runs an operation on rows that are put there before.
func try(t *testing.T, f *rules.File, db *fenec.DB, p *person, op operation, rows map[int]doc) outcome {
	t.Helper()
	ctx := context.Background()
	_, err := db.Exec(ctx, "drop collection "+op.collection)
	require.NoError(t, err)
	_, err = db.Exec(ctx, "create collection "+op.collection+" (owner text @hash, kind text @hash, n int)")
	require.NoError(t, err)
	var docs []string
	for id := range len(rows) {
		docs = append(docs, rows[id+1].text())
	}
	_, err = db.Exec(ctx, "put "+op.collection+" ["+strings.Join(docs, ", ")+"]")
	require.NoError(t, err)

	c := as(t, f, db, p.token)
	res, err := c.Query(ctx, op.text())
	out := outcome{err: c.Explain(err, op.text())}
	if op.verb == "get" && err == nil {
		out.read = docsOf(t, res)
	}
	all, err := db.Query(ctx, "get "+op.collection)
	require.NoError(t, err)
	out.rows = docsOf(t, all)
	return out
}

func docsOf(t *testing.T, res *fenec.Result) map[int]doc {
	t.Helper()
	out := map[int]doc{}
	for row := range res.All() {
		id, err := row.Int("id")
		require.NoError(t, err)
		d := doc{}
		for field := range fieldValues {
			v, err := row.Get(field)
			require.NoError(t, err)
			if d[field] = ""; v != nil {
				d[field] = fmt.Sprint(v)
			}
		}
		out[int(id)] = d
	}
	return out
}
