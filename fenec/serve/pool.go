package serve

import (
	"context"
	"sync"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/inside"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

// memory is what answering a request needs of memory. It serves one request and
// then others, so nothing of it may be kept beyond the request: neither its body
// nor the body of its answer.
type memory struct {
	body  []byte             // of the request
	out   []byte             // the body of its answer
	shown []byte             // its shape
	alone [1]fenec.Statement // its statement, if it has only one
	args  []any              // of that
	pairs []target.Pair      // of the request's query string
	asked *fenec.Result      // what ask has returned, or nil
}

const (
	firstAnswer = 512      // of the memory for an answer, in bytes
	keptMemory  = 64 << 10 // the most that is kept of either body, in bytes
	keptItems   = 64       // the most arguments or pairs whose room is kept
)

var calls = sync.Pool{New: func() any {
	return &call{memory: memory{out: make([]byte, 0, firstAnswer)}}
}}

// release lets the call serve another request.
func (c *call) release() {
	m := c.memory
	m.body, m.out, m.shown = kept(m.body), kept(m.out), m.shown[:0]
	m.args, m.pairs = emptied(m.args), emptied(m.pairs)
	m.alone[0] = fenec.Statement{}
	if m.asked != nil {
		inside.Recycle(m.asked)
	}
	*c = call{memory: m}
	calls.Put(c)
}

// ask runs a statement. Its rows are good until the call asks again, or is released.
func (c *call) ask(ctx context.Context, of view, st fenec.Statement) (*fenec.Result, error) {
	res, err := inside.Query(ctx, of, c.asked, st.Text, st.Args)
	if err != nil {
		return nil, err
	}
	c.asked = res.(*fenec.Result)
	return c.asked, nil
}

// kept returns the memory of b to be used again, nil if it is too much to keep.
func kept(b []byte) []byte {
	if cap(b) > keptMemory {
		return nil
	}
	return b[:0]
}

// emptied returns the room of list, which refers to nothing any more; nil if it is
// too much to keep.
func emptied[T any](list []T) []T {
	if cap(list) > keptItems {
		return nil
	}
	clear(list[:cap(list)]) // some may have been appended in vain
	return list[:0]
}
