// Package hnsw finds the nearest of many vectors in a graph that is held in
// memory: Malkov and Yashunin, Efficient and robust approximate nearest neighbor
// search using hierarchical navigable small world graphs, arXiv:1603.09320.
//
// # Basics
//
// A Graph holds vectors by id. Insert and Delete change it, a changed vector
// being deleted and inserted again; Search finds ids near a query, with scores
// good enough to choose candidates by:
//
//	g, err := hnsw.New(hnsw.Params{Dim: 128, Metric: vector.Cosine})
//	err = g.Insert(7, v)
//	hits, end, err := g.Search(ctx, hnsw.Query{Vector: q, K: 10, EF: 100}, nil)
//
// Repair, called from time to time, frees what was deleted and gives those that
// were linked to it new neighbours. Changes returns what has to be stored,
// and Load makes a graph of that.
//
// # Guarantees
//
// Any number of searches, inserts and deletes run at once, and a Repair beside
// them. Searches take no locks but a short one to begin and end; inserts lock a
// node only while its list changes, and never two. A search sees a node that
// is inserted or deleted meanwhile, or does not. What Insert has put in before a search begins
// is there to be found, though what an approximate search finds is never certain. End
// says whether a search was cut short. Once warm, a search does not allocate.
//
// Recall does not decay: after half of the vectors have been replaced, or deleted,
// it is at least 0.97 of that of a graph built anew, provided Repair is
// called. The more is deleted between its calls, the less it costs a node;
// a tenth of the graph is a good measure.
//
// Vectors are finite; the caller sees to that. Where vectors are kept as they were
// given, which floats under Cosine are only at length 1, hits have the scores of
// vector.Score to the last bit. Others are as kernels or codes tell, and the caller
// measures them again. Kernels are off by a little, of which there is a bound: hits
// are more than were wanted by those that may be as near.
//
// # Memory
//
// Nodes are numbers. Vectors, links and the rest lie in segments of some
// hundred nodes that hold no pointers, are never moved and never given back; a
// freed node's place is used again. Beside its vector, a node takes 8*M bytes of
// links, and about 30 more. Halves under Cosine have their length beside them.
//
// Vectors that are equal share a place in the graph, so that thousands of them do no
// harm. Zero vectors under Cosine, which are equally far from everything, are
// kept apart from it.
//
// # Codes
//
// With Storage Int8 or Bits, codes are kept instead of vectors. They are learnt
// from the first 2,048 vectors, which are kept whole until then.
//
// # What is stored
//
// A graph is stored as a header, as what its codes are made by, and as chunks of
// 16 nodes each, with links but without vectors, which are in rows elsewhere.
// What one call of Changes returns belongs together: with what was stored
// before, it is the graph as it was at one moment. Numbers are little endian.
//
// Header, 27 bytes:
//
//	version   1  1
//	metric    1  vector.Metric
//	storage   1  Storage
//	dim       4
//	m         4
//	nodes     4  count, free ones included; there is a chunk for every 16
//	lists     4  count of lists above level 0
//	entry     8  node in the low half, its level in the high half; all bits set if none
//
// Chunk:
//
//	version   1  1
//	width     1  bytes of a node number: 1 to 4
//	node         16 times, of numbers that follow one another
//
// Node:
//
//	state     1  0 for a free node, of which there is no more
//	             bits 0-3: its level; 4: always set; 5: its id is deleted; 7: it is a twin
//	id        8
//	list         for each level from 0 up to its own
//	               count    2
//	               node     width bytes each
//
// A twin, whatever its level, has one list: it holds the node with the same
// vector that is in the graph, and nothing if the vector is zero. A node of the
// graph may be deleted and still lead others on, until Repair.
//
// Codes: the dimension in 4 bytes, then what vector.ParseQuantizer reads.
//
// Load returns ErrCorrupt for what breaks these rules. Links to nodes that are
// not there, are twins, or do not reach up to a list's level are dropped.
package hnsw
