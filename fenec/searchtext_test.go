package fenec_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/text"
)

// wordKinds are indexes of texts with different terms and formulas.
var wordKinds = []words{
	plainWords,
	{options: "(k1=1.2, b=0.75)", k1: 1.2, b: 0.75},
	{options: "(chars, k1=0)", analyzer: text.Analyzer{Chars: true, PrefixMin: 3}, b: 0.4},
	{options: "(prefix=4, prefix_min=2, b=1)", analyzer: text.Analyzer{Prefix: 4, PrefixMin: 2}, k1: 0.9, b: 1},
}

// shelf is a database whose collection docs has a field of texts, a vector and
// a sparse vector, and goes through everything that changes their indexes.
type shelf struct {
	*rand.Rand
	t      *testing.T
	db     *fenec.DB
	opts   fenec.Options
	now    time.Time
	words  words // the field of texts; "" if there is none
	ready  bool  // it has its index
	count  int   // names given out
	views  int   // open ones
	vector bool  // docs has its field v
}

// newShelf makes the collection.
func newShelf(t *testing.T, seed uint64) *shelf {
	s := &shelf{Rand: rand.New(rand.NewPCG(seed, 61)), t: t, now: time.UnixMilli(modelStart)}
	s.words, s.ready, s.vector = plainWords, true, true
	s.opts = fenec.Options{Clock: func() time.Time { return s.now }, SweepInterval: -1, Sync: fenec.SyncOff}
	var err error
	s.db, err = fenec.Open(filepath.Join(t.TempDir(), "docs.fenec"), s.opts)
	require.NoError(t, err)
	s.do(`create collection docs (body text @text, v vector<3> @hnsw, s sparse<9> @inverted, n int @hash, seen timestamp @ttl(1h))`)
	return s
}

func (s *shelf) do(statement string, args ...any) {
	s.t.Helper()
	_, err := s.db.Query(ctx, statement, args...)
	require.NoError(s.t, err, "%s %v", statement, args)
}

// step changes something.
func (s *shelf) step() {
	switch n := s.IntN(100); {
	case n < 45:
		s.put()
	case n < 62:
		s.set()
	case n < 70:
		s.do("del docs where n = $1", s.IntN(12))
	case n < 84:
		s.alter()
	case n < 87:
		s.now = s.now.Add(20 * time.Minute)
		_, err := s.db.Sweep(ctx)
		require.NoError(s.t, err)
	case n < 93:
		require.NoError(s.t, s.db.Checkpoint(ctx))
	case n < 94:
		s.do("compact")
	case n < 96 && s.views == 0:
		s.opts.NoCheckpoint = s.IntN(2) == 0
		s.db = reopened(s.t, s.db, s.opts)
	case n < 98 && s.views < 2:
		s.hold()
	default:
		s.doomed()
	}
}

// doc makes a document, with an id of one that is there at times.
func (s *shelf) doc() map[string]any {
	d := map[string]any{"n": s.IntN(12)}
	if s.words.field != "" && s.IntN(8) > 0 {
		d[s.words.field] = prose(s.Rand, 8)
	}
	if s.vector && s.IntN(6) > 0 {
		d["v"] = point(s.Rand, 3, true)
	}
	if s.IntN(6) > 0 {
		d["s"] = sparseText(s.Rand)
	}
	if s.IntN(4) == 0 {
		d["seen"] = s.now
	}
	if s.IntN(3) == 0 {
		d["id"] = 1 + s.IntN(60)
	}
	return d
}

// sparseText makes a sparse vector of dimension 9.
func sparseText(r *rand.Rand) string {
	var parts []string
	for i := 1; i <= 9; i++ {
		if r.IntN(3) == 0 {
			parts = append(parts, fmt.Sprintf("%d:%v", i, float64(r.IntN(9)-4)/2))
		}
	}
	return "{" + strings.Join(parts, ",") + "}/9"
}

func (s *shelf) put() {
	var docs []any
	for range 1 + s.IntN(6) {
		docs = append(docs, s.doc())
	}
	s.do("put docs $1", docs)
}

func (s *shelf) set() {
	switch {
	case s.IntN(4) == 0:
		s.do("set docs {n: $1} where n = $2", s.IntN(12), s.IntN(12))
	case s.words.field == "" || s.IntN(3) == 0:
		s.do("set docs {s: $1} where n = $2", sparseText(s.Rand), s.IntN(12))
	case s.IntN(6) == 0:
		s.do("set docs {"+s.words.field+": null} where n = $1", s.IntN(12))
	default:
		s.do("set docs {"+s.words.field+": $1} where n = $2", prose(s.Rand, 6), s.IntN(12))
	}
	if s.vector {
		s.do("set docs {v: $1} where n = $2", point(s.Rand, 3, true), s.IntN(12))
	}
}

// alter drops, adds, renames or indexes a field.
func (s *shelf) alter() {
	if s.IntN(4) == 0 {
		if s.vector = !s.vector; s.vector {
			s.do("alter collection docs add v vector<3> @hnsw")
		} else {
			s.do("alter collection docs drop v")
		}
		return
	}
	switch {
	case s.words.field == "":
		s.count++
		s.words = wordKinds[s.IntN(len(wordKinds))]
		s.words.field = fmt.Sprint("body", s.count)
		if s.ready = s.IntN(2) == 0; s.ready {
			s.do("alter collection docs add " + s.words.field + " text @text" + s.words.options)
			return
		}
		s.do("alter collection docs add " + s.words.field + " text")
	case !s.ready:
		s.do("create index on docs (" + s.words.field + ") @text" + s.words.options)
		s.ready = true
	case s.IntN(2) == 0:
		s.do("alter collection docs drop " + s.words.field)
		s.words, s.ready = words{}, false
	default:
		s.count++
		name := fmt.Sprint("body", s.count)
		s.do("alter collection docs rename " + s.words.field + " to " + name)
		s.words.field = name
	}
}

// doomed runs a batch that changes rows and then fails.
func (s *shelf) doomed() {
	var batch []fenec.Statement
	for range 1 + s.IntN(4) {
		batch = append(batch, fenec.Statement{Text: "put docs $1", Args: []any{s.doc()}})
	}
	batch = append(batch, fenec.Statement{Text: "del docs where n < 4"}, fenec.Statement{Text: "put docs {id: 0}"})
	_, err := s.db.Batch(ctx, batch)
	require.ErrorIs(s.t, err, fenec.ErrType)
}

// hold opens a snapshot, changes much, and looks whether searches in it still
// answer what they did.
func (s *shelf) hold() {
	s.views++
	require.NoError(s.t, s.db.View(ctx, func(sn *fenec.Snapshot) error {
		then := *s
		before := s.answers(sn)
		for range 1 + s.IntN(30) {
			s.step()
		}
		now := s.now
		s.now = then.now // which a snapshot does not hold still
		require.Equal(s.t, before, then.answers(sn))
		then.compare(sn)
		s.now = now
		return nil
	}))
	s.views--
}

// queries are the texts that are searched for.
func (s *shelf) queries() []string {
	return []string{"oak", "oak PINE oak", "işık şal yew", "京都 fir", prose(s.Rand, 4), "nothing"}
}

// answers returns what some searches answer, score bits included.
func (s *shelf) answers(q querier) (out []string) {
	for _, text := range s.searches() {
		out = append(out, text+": "+told(s.t, q, text))
	}
	return out
}

func (s *shelf) searches() (out []string) {
	if s.ready {
		for _, query := range []string{"oak", "oak PINE oak", "işık şal yew", "京都 fir"} {
			out = append(out, fmt.Sprintf("get id from docs match %s %q", s.words.field, query))
		}
		out = append(out, "get id from docs match "+s.words.field+` "oak elm" where n < 6 limit 3 offset 1`)
	}
	if s.vector {
		out = append(out, "get id from docs near v [1, 0, -1]", "get id from docs near v [1, 2, 0] where n > 3 limit 4")
	}
	if s.vector && s.ready {
		out = append(out, "get id from docs match "+s.words.field+` "oak elm" rerank v [1, 1, 1] limit 5`,
			"get id from docs match "+s.words.field+` "fir" near v [0, 1, 1] fuse limit 9`)
	}
	return append(out, `get id from docs near s "{1:1,5:-2,7:0.5}/9"`, `get id from docs near s "{2:1,3:1}/9" exact where n < 6 limit 3`)
}

// compare compares searches with plain loops over the rows.
func (s *shelf) compare(q querier) {
	t := s.t
	t.Helper()
	if s.ready {
		texts := textsOf(t, q, "docs", s.words.field)
		small := passing(t, q, "docs", "n < 6")
		for _, query := range s.queries() {
			want := s.words.match(texts, query)
			get := "get id from docs match " + s.words.field + " $1"
			want.require(t, hitsOf(t, q, get, query), false, 0, 10_000, get, query)
			want.require(t, hitsOf(t, q, get+" limit 3 offset 2", query), false, 2, 3, get, query)
			want.only(small).require(t, hitsOf(t, q, get+" where n < 6", query), false, 0, 10_000, get, query)
		}
	}
	if s.vector {
		query := point(s.Rand, 3, true)
		want := measure("cosine", vectorsOf(t, q, "docs", "v"), query)
		want.require(t, hitsOf(t, q, "get id from docs near v $1", query), false, 0, 10_000, "near", query)
		want.require(t, hitsOf(t, q, "get id from docs near v $1 limit 5", query), false, 0, 5, "near", query)
	}
	query := sparseText(s.Rand)
	want := hitsOf(t, q, "get id from docs near s $1 exact", query)
	require.Equal(t, want, hitsOf(t, q, "get id from docs near s $1", query))
	require.Equal(t, want[:min(3, len(want))], hitsOf(t, q, "get id from docs near s $1 limit 3", query))
}

// compareFresh compares searches with those of a database that has got the same
// rows in one go.
func (s *shelf) compareFresh() {
	t := s.t
	_, err := s.db.Sweep(ctx)
	require.NoError(t, err)
	fresh, err := fenec.OpenMemory(s.opts)
	require.NoError(t, err)
	fields, names := "n int @hash, s sparse<9> @inverted", "id, n, s"
	if s.ready {
		fields += ", " + s.words.field + " text @text" + s.words.options
		names += ", " + s.words.field
	}
	if s.vector {
		fields += ", v vector<3> @hnsw"
		names += ", v"
	}
	runAll(t, fresh, "create collection docs ("+fields+")")
	res := query(t, s.db, "get "+names+" from docs")
	for row := range res.All() {
		d := map[string]any{}
		for i, name := range res.Columns() {
			d[name], err = row.Value(i)
			require.NoError(t, err)
			if v, ok := d[name].(fmt.Stringer); ok && name == "s" {
				d[name] = v.String()
			}
		}
		query(t, fresh, "put docs $1", d)
	}
	require.Equal(t, s.answers(fresh), s.answers(s.db))
	require.NoError(t, fresh.Close())
}

// Whatever has been done to a database, its searches answer what plain loops over
// its rows do, and to the bit what they would if its rows had come just now.
func TestSearchModel(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			s := newShelf(t, seed)
			for i := range 160 {
				s.step()
				if i%4 == 0 {
					_, err := s.db.Sweep(ctx) // what is expired counts in scores until then
					require.NoError(t, err)
					s.compare(s.db)
				}
				if i%40 == 39 {
					s.compareFresh()
				}
			}
			s.opts.NoCheckpoint = false
			s.db = reopened(t, s.db, s.opts)
			s.compareFresh()
			require.NoError(t, s.db.Close())
			require.NoError(t, fenec.Check(s.db.Path()))
		})
	}
}
