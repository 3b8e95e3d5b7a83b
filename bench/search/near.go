package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// efs are the numbers of candidates of the curve.
var efs = []int{20, 30, 50, 80, 120, 200, 300, 400}

// recalls are those at which indexes are compared.
var recalls = []float64{0.98, 0.99, 0.999}

// measureNear compares near with the peers. Both sides of a ratio have the same
// recall: each keeps as many candidates as it needs for it.
func measureNear(ctx context.Context, e *env) error {
	sets, err := e.vectorSets()
	if err != nil {
		return err
	}
	for _, s := range sets {
		e.note("%s, %d questions", s.name, len(s.asked))
		if err := e.measureSet(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// vectorSets returns the sets that are there.
func (e *env) vectorSets() ([]*vectorSet, error) {
	sets := []*vectorSet{e.clustered()}
	if e.mnist == "" {
		e.note("MNIST is left out: no directory is given")
		return sets, nil
	}
	digits, err := e.digits()
	if err != nil {
		return nil, err
	}
	return append(sets, digits), nil
}

func (e *env) measureSet(ctx context.Context, s *vectorSet) error {
	rivals, err := e.rivals(ctx, s)
	if err != nil {
		return err
	}
	if e.curves[s], err = e.traceCurves(ctx, rivals); err != nil {
		return err
	}
	e.printCurves(e.curves[s])
	for _, want := range recalls {
		if err := e.compareAt(ctx, rivals, want); err != nil {
			return err
		}
	}
	if err := e.compareExtras(ctx, s, rivals); err != nil {
		return err
	}
	if s != e.clustered() {
		return nil
	}
	return e.compareEmbedded(ctx, s, rivals)
}

// rivals are the graphs that are compared at each ef: fenec's first, if it is not
// left out, and those of Node.js. Building usearch's takes so long on wide vectors
// that it is left out there.
func (e *env) rivals(ctx context.Context, s *vectorSet) ([]*measured, error) {
	var out []*measured
	if !e.peersOnly {
		f, err := e.base(ctx, s)
		if err != nil {
			return nil, err
		}
		out = append(out, newMeasured(f.graph(s, nearText), s))
	}
	libraries := []string{hnswlibName}
	if s == e.clustered() {
		libraries = append(libraries, usearchName)
	}
	for _, library := range libraries {
		g, err := e.buildInNode(ctx, library, s)
		if err != nil {
			return nil, err
		}
		if g != nil {
			out = append(out, newMeasured(g, s))
		}
	}
	return out, nil
}

// compareAt compares the rivals with as many candidates as each needs for a
// recall.
func (e *env) compareAt(ctx context.Context, rivals []*measured, want float64) error {
	var cs []measure.Contender
	needs := map[string]int{}
	for _, m := range rivals {
		ef, err := m.least(ctx, want)
		if err != nil {
			return err
		}
		if ef == 0 {
			e.note("recall %g is not reached by %s with an ef up to %d", want, m.name(), mostEF)
			continue
		}
		needs[m.name()] = ef
		cs = append(cs, m.rate(ctx, ef, e.Slice))
	}
	got, err := e.inTurns(ctx, cs)
	if err != nil {
		return err
	}
	e.line(recallName(want, hnswlibName, needs), report.Rate, got, hnswlibName, oursOverPeer, report.AtLeast(1.1))
	e.line(recallName(want, usearchName, needs), report.Rate, got, usearchName, oursOverPeer, report.Goal{})
	return nil
}

func recallName(recall float64, peer string, needs map[string]int) string {
	if needs[fenecName] == 0 {
		return fmt.Sprintf("recall %g, %s (ef %d)", recall, peer, needs[peer])
	}
	return fmt.Sprintf("recall %g, %s (ef %d, %d)", recall, peer, needs[fenecName], needs[peer])
}

// compareExtras shows what belongs to the lowest of the recalls: fenec when it
// answers whole rows, and hnswlib without what it costs to call it from Node.js.
func (e *env) compareExtras(ctx context.Context, s *vectorSet, rivals []*measured) error {
	i := slices.IndexFunc(rivals, func(m *measured) bool { return m.name() == hnswlibName })
	if i < 0 {
		return nil
	}
	peer := rivals[i]
	ef, err := peer.least(ctx, recalls[0])
	if err != nil || ef == 0 {
		return err
	}
	call, err := peer.graph.(*nodeGraph).call(e.Slice)
	if err != nil {
		return err
	}
	e.note("a call of hnswlib from Node.js alone takes %s", report.Duration(call))
	if e.peersOnly {
		return nil
	}
	ours, err := rivals[0].least(ctx, recalls[0])
	if err != nil || ours == 0 {
		return err
	}
	rows := newMeasured(e.bases[s].graph(s, nearRowText), s)
	got, err := e.inTurns(ctx, []measure.Contender{rows.rate(ctx, ours, e.Slice), peer.rate(ctx, ef, e.Slice)})
	if err != nil {
		return err
	}
	e.line(fmt.Sprintf("  recall %g, answering vectors, hnswlib ids", recalls[0]), report.Rate, got, hnswlibName, oursOverPeer, report.Goal{})
	return nil
}

// compareEmbedded compares near with the indexes that are Go packages: with
// coder/hnsw at the best recall that reaches, and with chromem-go, which scans.
func (e *env) compareEmbedded(ctx context.Context, s *vectorSet, rivals []*measured) error {
	coder := newMeasured(newCoder(s), s)
	ef, best, err := bestRecall(ctx, coder)
	if err != nil {
		return err
	}
	e.note("the best recall of coder/hnsw is %.3f, with an ef of %d", best, ef)
	if err := e.compareEmbeddedOne(ctx, rivals, coder, ef, best, report.AtLeast(10)); err != nil {
		return err
	}
	scan, err := newChromem(ctx, s)
	if err != nil {
		return err
	}
	exact := newMeasured(scan, s)
	if r, err := exact.recall(ctx, page); err != nil || r < 0.999 {
		return fmt.Errorf("chromem-go has a recall of %v: %w", r, err)
	}
	return e.compareEmbeddedOne(ctx, rivals, exact, page, 0.999, report.AtLeast(50))
}

// bestRecall returns the smallest ef with which m has its best recall.
func bestRecall(ctx context.Context, m *measured) (ef int, best float64, err error) {
	for _, x := range efs {
		r, err := m.recall(ctx, x)
		if err != nil {
			return 0, 0, err
		}
		if r > best {
			ef, best = x, r
		}
	}
	return ef, best, nil
}

// compareEmbeddedOne compares fenec, as it has a recall, with a peer.
func (e *env) compareEmbeddedOne(ctx context.Context, rivals []*measured, peer *measured, ef int, recall float64, goal report.Goal) error {
	cs := []measure.Contender{peer.rate(ctx, ef, e.Slice)}
	needs := map[string]int{peer.name(): ef}
	if !e.peersOnly {
		ours, err := rivals[0].least(ctx, recall)
		if err != nil {
			return err
		}
		if ours == 0 {
			e.out.Miss(recallName(recall, peer.name(), needs), fmt.Sprintf("not reached with an ef up to %d", mostEF), goal)
			return nil
		}
		needs[fenecName] = ours
		cs = append(cs, rivals[0].rate(ctx, ours, e.Slice))
	}
	got, err := e.inTurns(ctx, cs)
	if err != nil {
		return err
	}
	e.line(recallName(recall, peer.name(), needs), report.Rate, got, peer.name(), oursOverPeer, goal)
	return nil
}
