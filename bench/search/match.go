package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

const (
	// chunk is how many questions are asked in one round. All sides are asked the
	// same.
	chunk = 40

	// checked is how many answers of fenec's are held against those of the program.
	checked = 200

	floorName = "MaxScore in memory"
)

// measureMatch compares match with the peers and with the floor.
func measureMatch(ctx context.Context, e *env) error {
	questions := max((e.Rounds+1)*chunk, checked)
	corpora := []*corpus{documents(e.n, questions)}
	if c, err := e.glosses(ctx, e.n, questions); err != nil {
		e.note("WordNet is left out: %v", err)
	} else {
		corpora = append(corpora, c)
	}
	for _, c := range corpora {
		e.note("%d %s", len(c.texts), c.name)
		if err := e.measureCorpus(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// matchBench is a corpus in every engine.
type matchBench struct {
	*env
	*corpus
	floor *textIndex
	fenec *fenecDB // nil if it is left out
	bleve *bleveIndex
	fts   *ftsIndex
	built figures // nanoseconds to build an index
	puts  figures // and to put the texts into an index that is there
	sizes figures // bytes of an index
}

func (e *env) measureCorpus(ctx context.Context, c *corpus) (err error) {
	b := &matchBench{env: e, corpus: c, built: figures{}, puts: figures{}, sizes: figures{}}
	defer func() { err = errors.Join(err, b.close()) }()
	for _, build := range []func(context.Context) error{b.buildFloor, b.buildFenec, b.buildBleve, b.buildFTS} {
		if err := build(ctx); err != nil {
			return err
		}
	}
	if err := b.check(ctx); err != nil {
		return err
	}
	if err := b.compareLatency(ctx); err != nil {
		return err
	}
	b.line("building the index over rows, bleve", report.Duration, b.built, bleveName, peerOverOurs, report.AtLeast(5))
	b.line("  FTS5", report.Duration, b.built, ftsName, peerOverOurs, report.Goal{})
	b.puts[bleveName], b.puts[ftsName] = b.built[bleveName], b.built[ftsName]
	b.line("putting the documents too, bleve", report.Duration, b.puts, bleveName, peerOverOurs, report.Goal{})
	b.line("  FTS5", report.Duration, b.puts, ftsName, peerOverOurs, report.Goal{})
	b.line("size of the index, bleve", report.Size, b.sizes, bleveName, oursOverPeer, report.Goal{})
	b.line("  FTS5", report.Size, b.sizes, ftsName, oursOverPeer, report.Goal{})
	return nil
}

func (b *matchBench) buildFloor(context.Context) error {
	start := time.Now()
	b.floor = newTextIndex(b.texts, 0)
	b.note("postings in memory take %v to build", time.Since(start).Round(time.Millisecond))
	return nil
}

func (b *matchBench) buildFenec(ctx context.Context) error {
	if b.peersOnly {
		return nil
	}
	if err := b.putIndexed(ctx); err != nil {
		return err
	}
	f, err := openFenec(b.path(b.short + ".fenec"))
	if err != nil {
		return err
	}
	b.fenec = f
	if err := f.fillTexts(ctx, b.texts); err != nil {
		return err
	}
	bare, err := f.diskBytes(ctx)
	if err != nil {
		return err
	}
	sp, err := f.indexTexts(ctx)
	if err != nil {
		return err
	}
	b.built[fenecName] = float64(sp.wall)
	full, err := f.diskBytes(ctx)
	b.sizes[fenecName] = full - bare
	return err
}

// putIndexed puts the texts into a collection that has the index, in a database
// of its own.
func (b *matchBench) putIndexed(ctx context.Context) (err error) {
	path := b.path(b.short + ".put.fenec")
	f, err := openFenec(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close(), removeDatabase(path)) }()
	if err := errors.Join(f.run(ctx, documentSchema), f.run(ctx, documentIndex)); err != nil {
		return err
	}
	sp, err := spend(ctx, func() error { return f.putTexts(ctx, b.texts) })
	b.puts[fenecName] = float64(sp.wall)
	return err
}

// buildBleve counts until bleve has answered the last batch and not what it does
// afterwards.
func (b *matchBench) buildBleve(ctx context.Context) (err error) {
	path := b.path(b.short + ".bleve")
	if b.bleve, err = openBleve(path, plainAnalyzer); err != nil {
		return err
	}
	start := time.Now()
	if err := b.bleve.fill(b.texts); err != nil {
		return err
	}
	b.built[bleveName] = float64(time.Since(start))
	if _, err := quiet(ctx); err != nil {
		return err
	}
	b.sizes[bleveName], err = sizeOf(path)
	return err
}

func (b *matchBench) buildFTS(ctx context.Context) (err error) {
	path := b.path(b.short + ".sqlite")
	if b.fts, err = openFTS(ctx, path); err != nil {
		return err
	}
	start := time.Now()
	if err := b.fts.fill(ctx, b.texts); err != nil {
		return err
	}
	b.built[ftsName] = float64(time.Since(start))
	if err := b.fts.optimize(ctx); err != nil {
		return err
	}
	b.sizes[ftsName], err = sizeOf(path)
	return err
}

// sizeOf returns the bytes of a file, or of all the files of a directory.
func sizeOf(path string) (float64, error) {
	total := int64(0)
	err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return float64(total), err
}

// check holds fenec's scores against those of scoring every posting, and the
// floor's too.
func (b *matchBench) check(ctx context.Context) error {
	for _, q := range b.questions[:checked] {
		want := b.floor.all(q)
		want = want[:min(page, len(want))]
		if err := sameScores(b.floor.top(q, page), want); err != nil {
			return fmt.Errorf("%s: %q: %w", floorName, q, err)
		}
		if b.peersOnly {
			continue
		}
		got, err := b.askFenec(ctx, q)
		if err == nil {
			err = sameScores(got, want)
		}
		if err != nil {
			return fmt.Errorf("fenec: %q: %w", q, err)
		}
	}
	return nil
}

func (b *matchBench) askFenec(ctx context.Context, q string) ([]hit, error) {
	st, err := b.fenec.db.Prepare(matchText)
	if err != nil {
		return nil, err
	}
	return askHits(ctx, st, q)
}

// sameScores returns an error unless the hits have equal scores, of which the
// last digits may differ.
func sameScores(got, want []hit) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d rows are answered, want %d", len(got), len(want))
	}
	for i := range got {
		if math.Abs(got[i].score-want[i].score) > 1e-5*want[i].score {
			return fmt.Errorf("row %d has the score %v, want %v", i, got[i].score, want[i].score)
		}
	}
	return nil
}

func (b *matchBench) close() error {
	var err error
	if b.fenec != nil {
		err = b.fenec.close()
	}
	if b.bleve != nil {
		err = errors.Join(err, b.bleve.close())
	}
	if b.fts != nil {
		err = errors.Join(err, b.fts.close())
	}
	return err
}

// compareLatency lets all sides answer the same questions, in turns.
func (b *matchBench) compareLatency(ctx context.Context) error {
	sides := []*asker{
		{title: bleveName, ask: func(q string) error { _, err := b.bleve.ask(q); return err }},
		{title: ftsName, ask: func(q string) error { _, err := b.fts.ask(q); return err }},
		{title: floorName, ask: func(q string) error { b.floor.top(q, page); return nil }},
	}
	if !b.peersOnly {
		st, err := b.fenec.db.Prepare(matchText)
		if err != nil {
			return err
		}
		sides = append(sides, &asker{title: fenecName, ask: func(q string) error {
			_, err := askIDs(ctx, st, q)
			return err
		}})
	}
	var cs []measure.Contender
	for _, s := range sides {
		cs = append(cs, measure.Contender{Name: s.title, Slice: func() (float64, error) { return s.round(b.questions, b.Slice) }})
	}
	if _, err := measure.Interleave(ctx, b.Rounds, cs); err != nil {
		return err
	}
	for _, p := range []float64{0.5, 0.95} {
		got := figures{}
		for _, s := range sides {
			got[s.title] = measure.Percentile(s.took, p)
		}
		name := fmt.Sprintf("p%g, ", p*100)
		b.line(name+bleveName, report.Duration, got, bleveName, peerOverOurs, report.AtLeast(10))
		b.line(name+ftsName, report.Duration, got, ftsName, peerOverOurs, report.AtLeast(50))
		b.line(name+floorName, report.Duration, got, floorName, oursOverPeer, report.AtMost(3))
	}
	return nil
}
