package main

import (
	"context"
	"fmt"
	"os"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// curve is what a graph has to give for its recall.
type curve struct {
	name   string
	points []point
}

// point is a graph with one ef.
type point struct {
	ef      int
	recall  float64
	latency float64 // nanoseconds a question
}

// traceCurves measures the rivals at each ef, in turns.
func (e *env) traceCurves(ctx context.Context, rivals []*measured) ([]curve, error) {
	out := make([]curve, len(rivals))
	for i, m := range rivals {
		out[i].name = m.name()
	}
	for _, ef := range efs {
		var cs []measure.Contender
		for _, m := range rivals {
			cs = append(cs, m.rate(ctx, ef, e.Slice))
		}
		got, err := e.inTurns(ctx, cs)
		if err != nil {
			return nil, err
		}
		for i, m := range rivals {
			r, err := m.recall(ctx, ef)
			if err != nil {
				return nil, err
			}
			out[i].points = append(out[i].points, point{ef, r, 1e9 / got[m.name()]})
		}
	}
	return out, nil
}

// printCurves prints the peers' points beside fenec's with the same ef.
func (e *env) printCurves(curves []curve) {
	for k, ef := range efs {
		got, have := figures{}, map[string]float64{}
		for _, c := range curves {
			got[c.name], have[c.name] = 1e9/c.points[k].latency, c.points[k].recall
		}
		for _, c := range curves {
			if c.name == fenecName {
				continue
			}
			name := fmt.Sprintf("  ef %d, %s, recall %.4f", ef, c.name, have[c.name])
			if ours, ok := have[fenecName]; ok {
				name = fmt.Sprintf("  ef %d, %s, recall %.4f and %.4f", ef, c.name, ours, have[c.name])
			}
			e.line(name, report.Rate, got, c.name, oursOverPeer, report.Goal{})
		}
	}
}

// drawCurves draws what part a has measured of the generated vectors, and
// measures it first if part a has not run.
func drawCurves(ctx context.Context, e *env) error {
	if e.svg == "" {
		e.note("not drawn: no file is given")
		return nil
	}
	s := e.clustered()
	if e.curves[s] == nil {
		rivals, err := e.rivals(ctx, s)
		if err != nil {
			return err
		}
		if e.curves[s], err = e.traceCurves(ctx, rivals); err != nil {
			return err
		}
	}
	if len(e.curves[s]) == 0 {
		e.note("not drawn: there is no curve")
		return nil
	}
	title := fmt.Sprintf("%s vectors, the first 10, one goroutine", s.name)
	if err := os.WriteFile(e.svg, drawSVG(title, e.curves[s]), 0o644); err != nil {
		return err
	}
	e.note("drawn to %s", e.svg)
	return nil
}
