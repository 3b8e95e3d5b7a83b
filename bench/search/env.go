package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// env is what the parts share: the flags, the report, a directory, and what takes
// long to make, which is made when first asked for.
type env struct {
	config
	dir     string
	out     *report.Report
	sets    map[string]*vectorSet
	bases   map[*vectorSet]*fenecDB
	curves  map[*vectorSet][]curve
	modules *nodeModules
}

func newEnv(cfg config, dir string, out *report.Report) *env {
	return &env{
		config:  cfg,
		dir:     dir,
		out:     out,
		sets:    map[string]*vectorSet{},
		bases:   map[*vectorSet]*fenecDB{},
		curves:  map[*vectorSet][]curve{},
		modules: &nodeModules{dir: cfg.node},
	}
}

func (e *env) path(name string) string { return filepath.Join(e.dir, name) }

func (e *env) note(format string, args ...any) { e.out.Note(fmt.Sprintf(format, args...)) }

func (e *env) close() error {
	var err error
	for _, f := range e.bases {
		err = errors.Join(err, f.close())
	}
	return errors.Join(err, e.modules.close())
}

// base returns a database of the vectors of s with their index, which no part
// writes to.
func (e *env) base(ctx context.Context, s *vectorSet) (*fenecDB, error) {
	if f := e.bases[s]; f != nil {
		return f, nil
	}
	f, err := openFenec(e.path(s.short + ".fenec"))
	if err != nil {
		return nil, err
	}
	err = f.fillVectors(ctx, s)
	if err == nil {
		_, err = f.indexVectors(ctx, s)
	}
	if err != nil {
		return nil, errors.Join(err, f.close(), removeDatabase(f.path))
	}
	e.bases[s] = f
	return f, nil
}

// figures are what was measured, by the names of the sides.
type figures map[string]float64

// inTurns lets the contenders work in turns.
func (e *env) inTurns(ctx context.Context, cs []measure.Contender) (figures, error) {
	got, err := measure.Interleave(ctx, e.Rounds, cs)
	if err != nil {
		return nil, err
	}
	out := figures{}
	for i, c := range cs {
		out[c.Name] = got[i]
	}
	return out, nil
}

// line prints fenec's figure against a peer's. Without fenec's it prints the
// peer's alone, without the peer's nothing: whoever left it out has said so.
func (e *env) line(name string, u report.Unit, got figures, peer string, ratio func(ours, peer float64) float64, g report.Goal) {
	theirs, ok := got[peer]
	if !ok {
		return
	}
	ours, ok := got[fenecName]
	if !ok {
		e.note("%-50s %12s %12s", name, "", u(theirs))
		return
	}
	e.out.Line(name, u, ours, theirs, ratio(ours, theirs), g)
}

// bound prints fenec's figure against a bound it should not pass.
func (e *env) bound(name string, u report.Unit, ours, most float64) {
	e.out.Line(name, u, ours, most, ours/most, report.AtMost(1))
}

func oursOverPeer(ours, peer float64) float64 { return ours / peer }
func peerOverOurs(ours, peer float64) float64 { return peer / ours }
