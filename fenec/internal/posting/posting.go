package posting

import (
	"cmp"
	"math"
)

// Kind is what the postings of an index say about a document.
type Kind uint8

// The kinds of postings.
const (
	Text    Kind = iota // the frequency of a term and the length of the document
	Weights             // the component of a sparse vector
)

// MaxID is the highest id of a document.
const MaxID = math.MaxInt64

// End is the id at which a List stands past its last posting.
const End = math.MaxUint64

// Posting says that a document has a term, or that it no longer has it.
type Posting struct {
	ID     uint64  // of the document, at most MaxID
	TF     uint32  // of a text: how often the document has the term, at least 1
	Length uint32  // of a text: all its terms, counted as often as they occur
	Weight float32 // of a sparse vector: finite and not zero
	Gone   bool    // the document does not have the term; among changes only
}

// byID compares a posting with an id.
func byID(p Posting, id uint64) int { return cmp.Compare(p.ID, id) }
