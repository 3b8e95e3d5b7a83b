package main

import (
	"context"
	"time"
)

// nodeGraph is an index of one of the libraries of Node.js.
type nodeGraph struct {
	process *nodeProcess
	library string
	took    float64 // nanoseconds to build it
	cpu     float64 // nanoseconds of CPU time
	memory  float64 // bytes the process grew by
}

const (
	hnswlibName = "hnswlib"
	usearchName = "usearch"
)

// nodeModule is the module that a library is in.
var nodeModule = map[string]string{hnswlibName: "hnswlib-node", usearchName: "usearch"}

// buildInNode builds an index of s. It returns nil, and prints why, if the
// library cannot be had.
func (e *env) buildInNode(ctx context.Context, library string, s *vectorSet) (*nodeGraph, error) {
	if _, err := e.modules.module(ctx, nodeModule[library]); err != nil {
		e.note("%s is left out: %v", library, err)
		return nil, ctx.Err()
	}
	p, err := e.modules.node(ctx, e.dir)
	if err != nil {
		e.note("%s is left out: %v", library, err)
		return nil, ctx.Err()
	}
	if err := p.load(s, e.dir); err != nil {
		return nil, err
	}
	r, err := p.do(command{Op: "build", Library: library, M: graphM, Construction: graphConstruction, File: e.path(library + ".index")})
	if err != nil {
		e.note("%s is left out: %v", library, err)
		return nil, ctx.Err()
	}
	return &nodeGraph{process: p, library: library, took: r.Took, cpu: r.CPU, memory: r.Memory}, nil
}

func (g *nodeGraph) name() string { return g.library }

func (g *nodeGraph) answers(_ context.Context, ef int) ([][]int32, error) {
	r, err := g.process.do(command{Op: "answers", Library: g.library, EF: ef})
	return r.IDs, err
}

func (g *nodeGraph) pace(_ context.Context, ef int, d time.Duration) (float64, error) {
	r, err := g.process.do(command{Op: "pace", Library: g.library, EF: ef, Duration: int64(d)})
	return r.Took, err
}

// call returns the nanoseconds of a call of hnswlib that has next to nothing to
// search.
func (g *nodeGraph) call(d time.Duration) (float64, error) {
	r, err := g.process.do(command{Op: "call", Duration: int64(d)})
	return r.Took, err
}
