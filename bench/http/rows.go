package main

import "github.com/fenec-go/fenecdb/bench/internal/gen"

const (
	bodyBytes = 200 // of a document's text
	perKey    = 20  // documents of one k, half of each owner
	dim       = 128 // components of a vector
	top       = 10  // rows of a page and of a search
)

// world makes the rows that both sides hold.
type world struct {
	rows   int
	bodies gen.Bodies
	vecs   *gen.Clustered
}

func newWorld(rows int) *world {
	return &world{rows, gen.MakeBodies(4096, bodyBytes), gen.NewClustered(dim)}
}

// doc is a row of docs or notes.
type doc struct {
	ID    int64  `json:"id"`
	K     int64  `json:"k"`
	Owner string `json:"owner"`
	Body  string `json:"body"`
}

// doc returns document id, from 1 to rows.
func (w *world) doc(id int) doc {
	keys := max(w.rows/perKey, 1)
	return doc{int64(id), int64(id % keys), owners[id/keys%2], w.bodies.At(int64(id))}
}

// owners own the documents by turns.
var owners = [2]string{"ada", "bob"}

// shape is a row of shapes.
type shape struct {
	ID   int64
	K    int64
	Body string
	Vec  []float32
}

// shape returns shape id, from 1 to rows.
func (w *world) shape(id int) shape {
	v := make([]float32, dim)
	w.vecs.Fill(v, gen.StoredVector, id)
	d := w.doc(id)
	return shape{d.ID, d.K, d.Body, v}
}

// question returns the vector that is searched for.
func question() []float32 {
	v := make([]float32, dim)
	gen.NewClustered(dim).Fill(v, gen.QueryVector, 0)
	return v
}
