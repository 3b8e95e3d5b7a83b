package trace

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
)

// ids are those of a span and its trace.
type ids struct {
	trace   [16]byte
	span    [8]byte
	parent  [8]byte // zero for none
	sampled bool
	state   string // tracestate, passed on as it came
}

// parseParent reads a traceparent (W3C Trace Context, section 3.2). ok is false if
// it is none.
func parseParent(text string) (id ids, ok bool) {
	// version 2, trace 32, span 16, flags 2 hexadecimal digits, with dashes between
	if len(text) < 55 || text[2] != '-' || text[35] != '-' || text[52] != '-' || strings.HasPrefix(text, "ff") {
		return id, false
	}
	if len(text) > 55 && (text[55] != '-' || strings.HasPrefix(text, "00")) {
		return id, false
	}
	var version, flags [1]byte
	for _, part := range []struct {
		to   []byte
		from string
	}{{version[:], text[:2]}, {id.trace[:], text[3:35]}, {id.parent[:], text[36:52]}, {flags[:], text[53:55]}} {
		if strings.ToLower(part.from) != part.from {
			return id, false
		}
		if _, err := hex.Decode(part.to, []byte(part.from)); err != nil {
			return id, false
		}
	}
	id.sampled = flags[0]&1 != 0
	return id, id.trace != [16]byte{} && id.parent != [8]byte{}
}

// newTrace returns the ids of a trace that begins here.
func newTrace() (id ids) {
	fill(id.trace[:])
	return id
}

// fill draws an id, which is not all zero.
func fill(b []byte) {
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	b[0] |= 1
}
