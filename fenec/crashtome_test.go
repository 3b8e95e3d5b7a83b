package fenec_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
)

// Tomes are documents that are searched for. Enough of them are nobody's for a
// graph to be walked.
const (
	crashTomes     = `create collection tomes (key text @hash, owner int, rev int, body text @text, v vector<3> @hnsw(l2, m=4, ef_construction=16, ef_search=12))`
	crashTomesIdle = 200
)

// tomeBody is the text of a tome; it follows from its key and revision.
func tomeBody(key string, rev int64) string {
	return fmt.Sprintf("%s rev%d%s", key, rev%7, strings.Repeat(" oak", int(rev%5)))
}

// tomeVector is the vector of a tome.
func tomeVector(key string, rev int64) []float32 {
	h := fnv.New64a()
	fmt.Fprint(h, key)
	return point(rand.New(rand.NewPCG(h.Sum64(), uint64(rev))), 3, false)
}

// idleTomes are the tomes that are nobody's.
func idleTomes() (docs []any) {
	for i := range int64(crashTomesIdle) {
		docs = append(docs, map[string]any{"key": "idle", "owner": -1, "rev": i, "body": tomeBody("idle", i), "v": tomeVector("idle", i)})
	}
	return docs
}

// readTomes returns the revisions of tomes by worker and key, and compares what
// searches find with the rows.
func readTomes(sn *fenec.Snapshot) ([]map[string]int64, error) {
	found := make([]map[string]int64, crashWorkers)
	for i := range found {
		found[i] = map[string]int64{}
	}
	res, err := sn.Query(ctx, `get tomes select id, key, owner, rev, body, v`)
	if err != nil {
		return nil, err
	}
	texts, vectors := map[int64]string{}, map[int64][]float32{}
	for res.Next() {
		var key, body string
		var id, owner, rev int64
		var v []float32
		if err := res.Scan(&id, &key, &owner, &rev, &body, &v); err != nil {
			return nil, err
		}
		if body != tomeBody(key, rev) || !slices.Equal(v, tomeVector(key, rev)) {
			return nil, fmt.Errorf("tome %q of revision %d holds %q and %v", key, rev, body, v)
		}
		texts[id], vectors[id] = body, v
		if owner < 0 {
			continue
		}
		if _, twice := found[owner][key]; twice {
			return nil, fmt.Errorf("tome %q is there twice", key)
		}
		found[owner][key] = rev
	}
	return found, searchTomes(sn, texts, vectors)
}

// searchTomes compares what searches find with what the rows hold.
func searchTomes(sn *fenec.Snapshot, texts map[int64]string, vectors map[int64][]float32) error {
	for _, query := range []string{"oak", "w1 rev3 oak", "idle rev5", "w2 7"} {
		got, err := findHits(sn, `get id from tomes match body $1 limit 20`, query)
		if err != nil {
			return err
		}
		if wrong := plainWords.match(texts, query).differs(got, false, 0, 20); wrong != "" {
			return fmt.Errorf("match %q: %s", query, wrong)
		}
	}
	for n := range int64(4) {
		v := tomeVector("sought", n)
		want := measure("l2", vectors, v)
		// With so many candidates all vectors of the graph are measured.
		got, err := findHits(sn, `get id from tomes near v $1 ef 200 limit 20`, v)
		if err != nil {
			return err
		}
		if wrong := want.differs(got, true, 0, 20); wrong != "" {
			return fmt.Errorf("near %v: %s", v, wrong)
		}
		if got, err = findHits(sn, `get id from tomes near v $1 limit 5`, v); err != nil {
			return err
		}
		if len(got) != 5 {
			return fmt.Errorf("near %v finds %d rows", v, len(got))
		}
		for _, h := range got {
			if score, ok := want[h.id]; !ok || !closeTo(score, h.score) {
				return fmt.Errorf("near %v: id %d scores %v, want %v (%t)", v, h.id, h.score, score, ok)
			}
		}
	}
	return nil
}
