package collation

import (
	"bytes"
	"strings"
)

// Collation is an order of texts. The zero Collation is None.
type Collation uint8

// The collations. Their numbers are part of stored files.
const (
	None Collation = 0 // by bytes, which is the order of code points
	Und  Collation = 1 // the root collation
	TR   Collation = 2 // Turkish
)

var names = [...]string{None: "", Und: "und", TR: "tr"}

// Parse returns the collation that the language calls name: "und", "tr", or ""
// for None.
func Parse(name string) (c Collation, ok bool) {
	for c, n := range names {
		if n == name {
			return Collation(c), true
		}
	}
	return None, false
}

// Valid reports whether c is one of the collations.
func (c Collation) Valid() bool { return int(c) < len(names) }

// String returns the name that Parse takes.
func (c Collation) String() string {
	if !c.Valid() {
		return "unknown"
	}
	return names[c]
}

// Compare returns -1, 0 or 1 as a comes before, with or after b. It is 0 only
// when they are the same. Both must be valid UTF-8, and c Valid.
func (c Collation) Compare(a, b string) int {
	if c == None || a == b {
		return strings.Compare(a, b)
	}
	var bufA, bufB [keyRoom]byte
	return bytes.Compare(c.AppendKey(bufA[:0], a), c.AppendKey(bufB[:0], b))
}

// keyRoom is the memory on the stack for a key that is made to compare.
const keyRoom = 128
