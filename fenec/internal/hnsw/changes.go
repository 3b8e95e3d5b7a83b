package hnsw

import "sync/atomic"

// Changes are what has to be stored of a graph. With what was stored before, it is
// the whole graph as it was at one moment.
type Changes struct {
	Header []byte  // replaces the header
	Codes  []byte  // replaces the codes' description; nil if that is unchanged
	Chunks []Chunk // replace those of the same numbers, which ascend
}

// Chunk is a stored piece of a graph.
type Chunk struct {
	Number uint32 // counted from 0, without a gap
	Data   []byte
}

// Dirty returns how many chunks Changes would return.
func (g *Graph) Dirty() int {
	count := 0
	for _, nodes := range g.view.Load().nodes {
		for i := range nodes.dirty {
			if atomic.LoadUint32(&nodes.dirty[i]) != 0 {
				count++
			}
		}
	}
	return count
}

// Changes returns what has changed since the last call. Every Insert and Delete
// that has returned is in it; those that are going on are waited for, and new ones
// wait, which takes about a microsecond a chunk. Unless all of it gets stored, the caller
// passes it to Undo. Only one goroutine at a time calls these two.
func (g *Graph) Changes() *Changes {
	g.cut.Lock()
	defer g.cut.Unlock()
	g.alloc.mu.Lock()
	count := g.alloc.count
	g.alloc.mu.Unlock()
	v, c := g.view.Load(), &Changes{}
	places := uint32(0)
	for n := range count {
		if state := atomic.LoadUint32(v.state(n)); state&(used|twin) == used {
			places += state & levelMask
		}
	}
	h := header{params: g.params, count: count, places: places, entry: entry(g.entry.Load())}
	c.Header = h.append(nil)
	if g.codesChanged {
		c.Codes = appendCodes(nil, v.rows.codes, g.params.Dim)
		g.codesChanged = false
	}
	size := v.chunkSize(bytesFor(count))
	for first := uint32(0); first < count; first += chunkNodes {
		if word := v.dirty(first); *word != 0 {
			*word = 0
			c.Chunks = append(c.Chunks, Chunk{Number: first / chunkNodes, Data: v.appendChunk(make([]byte, 0, size), first, count)})
		}
	}
	return c
}

// Undo makes the next Changes return what c holds too, as it is then.
func (g *Graph) Undo(c *Changes) {
	g.cut.Lock()
	defer g.cut.Unlock()
	g.codesChanged = g.codesChanged || c.Codes != nil
	v := g.view.Load()
	for _, chunk := range c.Chunks {
		v.mark(chunk.Number * chunkNodes)
	}
}
