package serve

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// worthCompressing is the shortest answer that is compressed, in bytes: a shorter
// one fits into one packet as it is.
const worthCompressing = 1400

// coding is how an answer is compressed.
type coding uint8

const (
	plain coding = iota
	gzipped
	zstandard
)

func (c coding) String() string { return [...]string{"identity", "gzip", "zstd"}[c] }

// codingFor returns the coding that the client likes best of those we have
// (RFC 9110, section 12.5.3). Of equals it is Zstandard.
func codingFor(h http.Header) coding {
	best, bestQ := plain, "0"
	for _, line := range h["Accept-Encoding"] {
		for item := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(item, ";")
			q := quality(params)
			if c := codingNamed(strings.TrimSpace(name)); c != plain && (q > bestQ || q == bestQ && c > best && q > "0") {
				best, bestQ = c, q
			}
		}
	}
	return best
}

// quality returns the weight in the parameters of a coding as text that sorts by
// it: "1", or "0." and digits. What is no weight weighs nothing.
func quality(params string) string {
	value, ok := strings.CutPrefix(strings.TrimSpace(params), "q=")
	switch {
	case strings.TrimSpace(params) == "" || ok && strings.HasPrefix(value, "1"):
		return "1"
	case ok && strings.HasPrefix(value, "0"):
		if value = strings.TrimRight(value, "0."); value == "" {
			return "0"
		}
		return value
	}
	return "0"
}

func codingNamed(name string) coding {
	switch {
	case strings.EqualFold(name, "zstd"):
		return zstandard
	case strings.EqualFold(name, "gzip"):
		return gzipped
	}
	return plain
}

var (
	gzips = sync.Pool{New: func() any {
		w, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
		if err != nil {
			panic(err) // the level is one of gzip's own
		}
		return w
	}}
	zstds = sync.Pool{New: func() any {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // the options are right
		}
		return w
	}}
)

// zstdWindow bounds an encoder's memory, in bytes.
const zstdWindow = 256 << 10

// resetWriter is a compressor that can be used again.
type resetWriter interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
}

// compressor returns one that writes to w, and a function that gives it back.
func (c coding) compressor(w io.Writer) (z resetWriter, release func()) {
	pool := &gzips
	if c == zstandard {
		pool = &zstds
	}
	z = pool.Get().(resetWriter)
	z.Reset(w)
	return z, func() {
		z.Reset(nil)
		pool.Put(z)
	}
}

// compress returns body in the coding.
func (c coding) compress(body []byte) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(body) / 4)
	z, release := c.compressor(&out)
	defer release()
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	err := z.Close()
	return out.Bytes(), err
}

// encode compresses the answer's body if the client takes that and it is worth
// it. The head then says so.
func (a *Answer) encode(h http.Header, r *http.Request) {
	if len(a.Body) < worthCompressing {
		return
	}
	h.Add("Vary", "Accept-Encoding")
	c := codingFor(r.Header)
	if c == plain {
		return
	}
	if body, err := c.compress(a.Body); err == nil {
		a.Body = body
		c.describe(h)
	}
}

// describe says in a head that the body is in the coding.
func (c coding) describe(h http.Header) {
	h["Content-Encoding"] = []string{c.String()}
	if tag := h.Get("Etag"); tag != "" {
		h["Etag"] = []string{"W/" + tag} // the same answer, in other bytes
	}
}
