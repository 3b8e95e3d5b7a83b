package fenec_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// TestModelKept runs short sequences of statements, most of which something was
// once wrong with, and compares what they answer. "+1h" moves the clock, and "checkpoint" is one.
func TestModelKept(t *testing.T) {
	tests := []struct {
		name  string
		steps []string // a statement and what it answers, by turns
	}{
		{"a unique index takes expired rows for gone", []string{
			`create collection c (s text, x timestamp @ttl(1h))`, `message`,
			`put c [{s: "a", x: now()}, {s: "b", x: now()}, {s: "c"}]`, `{"affected":3}`,
			`+1h`, ``,
			`put c {s: "a"}`, `{"affected":1}`,
			`create index on c (s) @unique`, `message`,
			`get c where expired() count`, `[{"count":0}]`,
			`get s from c`, `[{"s":"c"},{"s":"a"}]`,
			`put c {s: "a"}`, `duplicate: `,
			`alter collection c alter x @sorted`, `message`,
			`get s from c`, `[{"s":"c"},{"s":"a"}]`,
		}},
		{"a set that loses a row it has picked", []string{
			`create collection c (s text @unique, x timestamp @ttl(1h))`, `message`,
			`put c [{s: "a", x: now()}, {s: "b", x: now()}]`, `{"affected":2}`,
			`+1h`, ``,
			`set c {s: "b"} where expired()`, `{"affected":1}`,
			`get id, s from c where expired()`, `[{"id":1,"s":"b"}]`,
		}},
		{"a point is one value of a facet", []string{
			`create collection c (p geo)`, `message`,
			`put c [{p: [1, 2]}, {p: [1, 2]}, {p: [2, 1]}, {}]`, `{"affected":4}`,
			`get c limit 0 facet p`, `{"rows":[],"facets":{"p":[{"value":[1,2],"count":2},{"value":null,"count":1},{"value":[2,1],"count":1}]}}`,
		}},
		{"a get within a filter is looked up even over no rows", []string{
			`create collection c (n int @hash)`, `message`,
			`get c where n in (get n from d)`, `not found: `,
			`create collection d (n int @hash)`, `message`,
			`get c lookup d on n where n in (get nope from c)`, `not found: `,
			`get c lookup d on n = n where n in (get n from c order nope)`, `not found: `,
		}},
		{"rows that were folded and written again, from the last to the first", []string{
			`create collection c (n int)`, `message`,
			`put c [{n: 1}, {n: 2}, {n: 3}, {n: 4}, {n: 5}]`, `{"affected":5}`,
			`checkpoint`, ``,
			`set c {n: n * 10} where id in [2, 3]`, `{"affected":2}`,
			`get c order id desc`, `[{"id":5,"n":5},{"id":4,"n":4},{"id":3,"n":30},{"id":2,"n":20},{"id":1,"n":1}]`,
			`get n from c where id > 1 order id desc limit 2 offset 1`, `[{"n":4},{"n":30}]`,
		}},
		{"minus zero is zero", []string{
			`create collection c (f float, j json)`, `message`,
			`put c [{f: 0, j: {a: 0.0}}, {f: -0.0, j: {a: -0.0}}]`, `{"affected":2}`,
			`set c {f: f * -1}`, `{"affected":2}`,
			`get f, count(*) from c group f`, `[{"f":0,"count":2}]`,
			`get j.a, count(*) from c group j.a`, `[{"j.a":0,"count":2}]`,
			`create index on c (f) @unique`, `duplicate: `,
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			now := time.UnixMilli(modelStart)
			db, err := fenec.OpenMemory(fenec.Options{Clock: func() time.Time { return now }, SweepInterval: -1})
			require.NoError(t, err)
			for i := 0; i < len(test.steps); i += 2 {
				text, want := test.steps[i], test.steps[i+1]
				if period, ok := strings.CutPrefix(text, "+"); ok {
					d, err := time.ParseDuration(period)
					require.NoError(t, err)
					now = now.Add(d)
					continue
				}
				if text == "checkpoint" {
					require.NoError(t, db.Checkpoint(ctx))
					continue
				}
				require.Equal(t, want, keptAnswer(db, text), text)
			}
			require.NoError(t, db.Close())
		})
	}
}

// keptAnswer returns an answer as text: "message" for any message, and the kind
// of an error.
func keptAnswer(db *fenec.DB, text string) string {
	res, err := db.Query(ctx, text)
	if err != nil {
		for _, kind := range kinds {
			if sameKind(err, kind) {
				return kind.Error()
			}
		}
		return fmt.Sprint("an error of no kind: ", err)
	}
	if res.Kind() == fenec.KindMessage {
		return "message"
	}
	b, err := res.AppendJSON(nil)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
