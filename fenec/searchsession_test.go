package fenec_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// What a session finds, and how it scores, is what it would be in a database that
// holds nothing else than the rows the session may read.
func TestSearchSession(t *testing.T) {
	const schema = `create collection docs (body text @text, v vector<3> @hnsw(l2), s sparse<9> @inverted, owner text @hash, n int)`
	r := rand.New(rand.NewPCG(13, 66))
	all, alone := file(t, fenec.Options{}, schema), map[string]*fenec.DB{}
	owners := []string{"ada", "bob", "eve"}
	for _, owner := range owners {
		alone[owner] = memory(t, schema)
	}
	policy, err := fenec.NewPolicy(fenec.Access{Others: fenec.Grants{Read: "owner = $1 or n = 0"}})
	require.NoError(t, err)
	for step := range 120 {
		doc := map[string]any{
			"id": 1 + r.IntN(90), "body": prose(r, 6), "v": point(r, 3, true), "s": sparseText(r),
			"owner": owners[min(r.IntN(3), r.IntN(3))], "n": r.IntN(12),
		}
		query(t, all, "put docs $1", doc)
		for owner, db := range alone {
			query(t, db, "del docs where id = $1", doc["id"])
			if doc["owner"] == owner || doc["n"] == 0 {
				query(t, db, "put docs $1", doc)
			}
		}
		if step%10 == 0 {
			require.NoError(t, all.Checkpoint(ctx))
		}
		if step%8 != 7 {
			continue
		}
		for owner, db := range alone {
			shared, err := all.Session(policy, owner)
			require.NoError(t, err)
			lone, err := db.Session(policy, owner)
			require.NoError(t, err)
			for _, text := range sessionSearches {
				want := told(t, lone, text)
				require.Equal(t, want, told(t, shared, text), "%s: %s", owner, text)
				if want != "query error" { // a session meets all errors of a filter
					require.Equal(t, want, told(t, db, text), "%s: %s", owner, text)
				}
			}
		}
	}
}

var sessionSearches = []string{
	`get id from docs match body "oak"`, `get id from docs match body "oak elm şal" limit 3`,
	`get id from docs match body "oak elm şal" where n > 3`, `get id from docs match body "oak fir" where 12 / (n - 5) > 1`,
	`get id from docs match body "oak fir" where 12 / n > 1 limit 2`, `get id from docs match body "京都" facet owner, n top 3`,
	`get id from docs match body "oak pine" where n < 8 facet n disjunctive`,
	`get id from docs match body "oak elm" rerank v [1, 0, 1] limit 4`, `get id from docs near v [1, 0, 2]`,
	`get id from docs near v [1, 0, 2] where n > 4 limit 3`, `get id from docs near v [1, 0, 2] exact where 12 / (n - 5) > 1 limit 3`,
	`get id from docs match body "oak" near v [0, 1, 1] fuse`, `get id from docs near s "{1:1,2:-1}/9" limit 5`,
	`get id from docs near s "{1:1,2:-1}/9" where 12 / (n - 5) > 1`, `get id, highlight(body, "<", ">") from docs match body "oak işik"`,
	`get id from docs where id in (get id from docs match body "fir" limit 2)`,
}

var scoreMember = regexp.MustCompile(`,"_score":[^}]*`)

// Rows that are expired are gone for searches whether they have been swept or
// not. Until then the statistics of scores count them, but for a policy's.
func TestSearchExpired(t *testing.T) {
	now := time.UnixMilli(modelStart)
	db, err := fenec.OpenMemory(fenec.Options{Clock: func() time.Time { return now }, SweepInterval: -1})
	require.NoError(t, err)
	runAll(t, db, `create collection docs (body text @text, v vector<1> @hnsw, s sparse<3> @inverted, seen timestamp @ttl(1h))`,
		`put docs [{body: "oak", v: [1], s: "{1:2}/3", seen: now()}, {body: "elm oak", v: [1], s: "{1:1}/3"}, {body: "fir"}]`)
	now = now.Add(time.Hour)
	every := session(t, db, fenec.Access{Others: fenec.Grants{Read: fenec.EveryRow}})
	some := session(t, db, fenec.Access{Others: fenec.Grants{Read: "id > 0"}})
	searches := []string{
		`get id from docs match body "oak"`, `get id from docs match body "elm"`, `get id from docs match body "fir" where expired()`,
		`get id from docs near v [1]`, `get id from docs near s "{1:1}/3"`, `get id from docs match body "oak" facet seen`,
	}
	var before [][]string
	for _, swept := range []bool{false, true} {
		if swept {
			n, err := db.Sweep(ctx)
			require.NoError(t, err)
			require.Equal(t, 1, n)
		}
		var answers []string
		for _, q := range []querier{db, every, some} {
			for _, text := range searches {
				answer := told(t, q, text)
				if q != querier(some) && strings.Contains(text, "match") {
					answer = scoreMember.ReplaceAllString(answer, "")
				}
				answers = append(answers, answer)
			}
		}
		before = append(before, answers)
	}
	require.NoError(t, db.Close())
	require.Equal(t, before[1], before[0])
}

// A batch sees what it has written so far, in scores too.
func TestSearchInBatch(t *testing.T) {
	db := memory(t, `create collection docs (body text @text, v vector<2> @hnsw, s sparse<3> @inverted)`,
		`put docs [{body: "oak"}, {body: "elm oak", v: [1, 0]}]`)
	searches := []string{
		`get id from docs match body "oak"`, `get id from docs match body "fir"`, `get id from docs near v [1, 1]`,
		`get id from docs near s "{2:1}/3"`, `get id from docs match body "oak fir" near v [1, 1] fuse`,
	}
	var batch []fenec.Statement
	for _, text := range slices.Concat(
		[]string{`put docs [{body: "oak pine", v: [0, 2], s: "{2:3}/3"}, {body: "fir fir fir"}]`, `del docs where id = 1`, `set docs {v: [3, 4]} where id = 2`}, searches) {
		batch = append(batch, fenec.Statement{Text: text})
	}
	results, err := db.Batch(ctx, batch)
	require.NoError(t, err)
	for i, text := range searches {
		b, err := results[len(results)-len(searches)+i].AppendJSON(nil)
		require.NoError(t, err)
		require.Equal(t, told(t, db, text), string(b), fmt.Sprint(text, " in the batch"))
	}
}
