package hnsw

import (
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

var (
	// ErrExists is returned when an id is inserted that the graph has already.
	ErrExists = errors.New("hnsw: id is in the graph")

	// ErrDimension is returned for a vector of another length than Params.Dim.
	ErrDimension = errors.New("hnsw: wrong dimension")

	// ErrFull is returned when a graph has as many nodes as can be numbered.
	ErrFull = errors.New("hnsw: graph is full")

	// ErrCorrupt is returned for a stored graph whose bytes make no sense, or that
	// was made with other parameters.
	ErrCorrupt = errors.New("hnsw: stored graph is damaged")
)

// Defaults of Params, those of the language.
const (
	DefaultM              = 16
	DefaultEFConstruction = 200
)

// Bounds of Params.
const (
	maxM   = 1 << 12
	maxDim = 1 << 20
)

// Params say what a graph holds and how it is built. They never change.
type Params struct {
	Dim    int // components of a vector, at least 1
	Metric vector.Metric

	// M is how many neighbours a node is given on each level, and may have on
	// all but the lowest, where it may have 2*M. 0 means DefaultM.
	M int

	// EFConstruction is among how many candidates the neighbours of a new node
	// are chosen. 0 means DefaultEFConstruction.
	EFConstruction int

	// Storage is how vectors are kept in memory.
	Storage Storage

	// Seed decides, with its id, on how many levels a node is.
	Seed uint64
}

// Storage is a way to keep vectors.
type Storage uint8

const (
	Float32 Storage = iota // as they are, under Cosine at length 1
	Float16                // rounded to 16 bits
	Int8                   // as codes of a byte a component
	Bits                   // as codes of a bit a component, for Cosine alone
)

// complete returns p with its defaults filled in, or an error that names what
// cannot be.
func (p Params) complete() (Params, error) {
	if p.M == 0 {
		p.M = DefaultM
	}
	if p.EFConstruction == 0 {
		p.EFConstruction = DefaultEFConstruction
	}
	switch {
	case p.Dim < 1 || p.Dim > maxDim:
		return p, fmt.Errorf("hnsw: dimension %d", p.Dim)
	case p.Metric > vector.Dot:
		return p, fmt.Errorf("hnsw: metric %d", p.Metric)
	case p.M < 2 || p.M > maxM:
		return p, fmt.Errorf("hnsw: m = %d", p.M)
	case p.EFConstruction < 1:
		return p, fmt.Errorf("hnsw: ef_construction = %d", p.EFConstruction)
	case p.Storage > Bits || p.Storage == Bits && p.Metric != vector.Cosine:
		return p, fmt.Errorf("hnsw: storage %d", p.Storage)
	}
	return p, nil
}

// width returns how many neighbours a node may have on a level.
func (p *Params) width(level int) int {
	if level == 0 {
		return 2 * p.M
	}
	return p.M
}
