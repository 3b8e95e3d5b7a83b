package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/blevesearch/bleve/v2/analysis/analyzer/standard"

	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
)

const (
	qualitySchema = "create collection d (body text @text, e vector<1024> @hnsw)"
	qualityInsert = "insert d {id: $1, body: $2, e: $3}"
	qualityNear   = "get id from d near e $1 exact limit 10"
	qualityFuse   = "get id from d match body $1 near e $2 fuse limit 10"

	// Many languages bend their words, which prefixes make up for.
	prefixSchema = "create collection p (body text @text(prefix=5))"
	prefixInsert = "insert p {id: $1, body: $2}"
	prefixMatch  = "get id from p match body $1 limit 10"
	prefixLength = 5

	// qualityGap is by how much an answer's quality may differ from what the
	// program computes, and fuseGap by how much fuse may fall behind the better of
	// its sides.
	qualityGap = 0.001
	fuseGap    = 0.005
)

// ranker is a way of answering, of fenec's or as the program computes it.
type ranker struct{ name, fenec, program string }

var (
	byMatch  = ranker{"match", "match", "match of the program"}
	byPrefix = ranker{"match with prefixes", "prefix", "prefix of the program"}
	byNear   = ranker{"near", "near", "near of the program"}
	byFuse   = ranker{"fuse", "fuse", "fuse of the program"}
)

// measureQuality asks the questions of XQuAD, each of which has one paragraph
// that answers it.
func measureQuality(ctx context.Context, e *env) error {
	for _, language := range languages {
		j, err := readXQuAD(e.xquad, language)
		if err != nil {
			e.note("%s is left out: %v", language, err)
			continue
		}
		if err := e.measureLanguage(ctx, language, j); err != nil {
			return fmt.Errorf("%s: %w", language, err)
		}
	}
	return nil
}

func (e *env) measureLanguage(ctx context.Context, language string, j *judged) error {
	q := &qualityBench{env: e, judged: j, language: language, got: figures{}}
	em := newEmbedder(j.texts)
	for _, t := range j.texts {
		q.textVectors = append(q.textVectors, em.embed(t))
	}
	for _, t := range j.questions {
		q.questionVectors = append(q.questionVectors, em.embed(t))
	}
	for _, side := range []func(context.Context) error{q.reference, q.fts, q.bleve, q.fenec} {
		if err := side(ctx); err != nil {
			return err
		}
	}
	q.report()
	return nil
}

// qualityBench is one language in every engine.
type qualityBench struct {
	*env
	*judged
	language                     string
	textVectors, questionVectors [][]float32
	got                          figures // nDCG@10
}

// side asks all questions and notes how good the answers are.
func (q *qualityBench) side(name string, ask func(i int) ([]int32, error)) error {
	v, err := q.quality(ask)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	q.got[name] = v
	return nil
}

func (q *qualityBench) fts(ctx context.Context) error {
	f, err := openFTS(ctx, q.path(q.language+".sqlite"))
	if err != nil {
		return err
	}
	err = f.fill(ctx, q.texts)
	if err == nil {
		err = q.side(ftsName, func(i int) ([]int32, error) { return f.ask(q.questions[i]) })
	}
	return errors.Join(err, f.close())
}

func (q *qualityBench) bleve(context.Context) error {
	b, err := openBleve("", standard.Name)
	if err != nil {
		return err
	}
	err = b.fill(q.texts)
	if err == nil {
		err = q.side(bleveName, func(i int) ([]int32, error) { return b.ask(q.questions[i]) })
	}
	return errors.Join(err, b.close())
}

func (q *qualityBench) fenec(ctx context.Context) error {
	if q.peersOnly {
		return nil
	}
	f, err := openFenec(q.path(q.language + ".fenec"))
	if err != nil {
		return err
	}
	err = errors.Join(f.run(ctx, qualitySchema), f.run(ctx, prefixSchema))
	if err == nil {
		err = f.fill(ctx, qualityInsert, len(q.texts), func(i int) []any {
			return []any{int64(i + 1), q.texts[i], q.textVectors[i]}
		})
	}
	if err == nil {
		err = f.fill(ctx, prefixInsert, len(q.texts), func(i int) []any { return []any{int64(i + 1), q.texts[i]} })
	}
	if err == nil {
		err = q.askFenec(ctx, f.db)
	}
	return errors.Join(err, f.close())
}

func (q *qualityBench) askFenec(ctx context.Context, db *fenec.DB) error {
	for _, s := range []struct {
		name, text string
		args       func(i int) []any
	}{
		{byMatch.fenec, matchText, func(i int) []any { return []any{q.questions[i]} }},
		{byPrefix.fenec, prefixMatch, func(i int) []any { return []any{q.questions[i]} }},
		{byNear.fenec, qualityNear, func(i int) []any { return []any{q.questionVectors[i]} }},
		{byFuse.fenec, qualityFuse, func(i int) []any { return []any{q.questions[i], q.questionVectors[i]} }},
	} {
		st, err := db.Prepare(s.text)
		if err != nil {
			return err
		}
		if err := q.side(s.name, func(i int) ([]int32, error) { return askIDs(ctx, st, s.args(i)...) }); err != nil {
			return err
		}
	}
	return nil
}

// reference asks the program's own BM25, and fuses it with its own scan of the
// vectors.
func (q *qualityBench) reference(context.Context) error {
	plain, prefixed := newTextIndex(q.texts, 0), newTextIndex(q.texts, prefixLength)
	match, near := make([][]int32, len(q.questions)), make([][]int32, len(q.questions))
	for i, question := range q.questions {
		match[i], near[i] = idsOf(plain.all(question)), q.rankByCosine(q.questionVectors[i])
	}
	return errors.Join(
		q.side(byMatch.program, func(i int) ([]int32, error) { return match[i], nil }),
		q.side(byPrefix.program, func(i int) ([]int32, error) { return idsOf(prefixed.all(q.questions[i])), nil }),
		q.side(byNear.program, func(i int) ([]int32, error) { return near[i], nil }),
		q.side(byFuse.program, func(i int) ([]int32, error) { return fuse(match[i], near[i]), nil }),
	)
}

func idsOf(hits []hit) []int32 {
	ids := make([]int32, len(hits))
	for i, h := range hits {
		ids[i] = h.id
	}
	return ids
}

// rankByCosine returns the texts with the likest vectors, as many as fuse takes.
func (q *qualityBench) rankByCosine(v []float32) []int32 {
	var ranked []hit
	for i, t := range q.textVectors {
		dot := 0.0
		for k := range t {
			dot += float64(t[k]) * float64(v[k])
		}
		ranked = insertHit(ranked, hit{int32(i), dot}, fuseDepth)
	}
	return idsOf(ranked)
}

const (
	fuseK     = 60 // of reciprocal rank fusion (Cormack et al. 2009), fenec's default
	fuseDepth = 20 // of the rows that each side ranks, too
)

// fuse ranks what is among the first of one side or both.
func fuse(sides ...[]int32) []int32 {
	scores := map[int32]float64{}
	for _, side := range sides {
		for rank, id := range side[:min(fuseDepth, len(side))] {
			scores[id] += 1 / float64(fuseK+rank+1)
		}
	}
	var ranked []hit
	for id, score := range scores {
		ranked = append(ranked, hit{id, score})
	}
	slices.SortFunc(ranked, better)
	return idsOf(ranked)
}

func (q *qualityBench) report() {
	g := q.got
	q.note("%s: FTS5 %.4f, bleve %.4f; as the program computes them: match %.4f, with prefixes %.4f, near %.4f, fuse %.4f", q.language,
		g[ftsName], g[bleveName], g[byMatch.program], g[byPrefix.program], g[byNear.program], g[byFuse.program])
	if q.peersOnly {
		return
	}
	for _, r := range []ranker{byMatch, byPrefix, byNear, byFuse} {
		q.bound(q.language+" "+r.name+", difference from the program's", report.Count, math.Abs(g[r.fenec]-g[r.program]), qualityGap)
	}
	peer := max(g[ftsName], g[bleveName])
	for _, r := range []ranker{byMatch, byPrefix} {
		q.atLeast(r.name+", the better of FTS5 and bleve", g[r.fenec], peer)
	}
	q.atLeast(fmt.Sprintf("fuse, the better side less %g", fuseGap), g[byFuse.fenec], max(g[byMatch.fenec], g[byNear.fenec])-fuseGap)
}

func (q *qualityBench) atLeast(name string, ours, least float64) {
	q.out.Line(q.language+" "+name, report.Count, ours, least, ours/least, report.AtLeast(1))
}
