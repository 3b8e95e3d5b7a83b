package mirror

import (
	"net/http"
	"time"

	"github.com/fenec-go/fenecdb/internal/http1"
)

const (
	// sendTimeout is how long a replica may take to accept a piece of a stream.
	sendTimeout = 10 * time.Second
	// sendPiece is how much of it, in bytes.
	sendPiece = 64 << 10
)

// sink is where a stream goes: an answer whose reader must go on reading.
type sink struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// newSink sends the head of a stream.
func newSink(w http.ResponseWriter, r *http.Request, contentType string) *sink {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	if r.ProtoMajor == 1 {
		h.Set("Connection", "close")
	}
	w.WriteHeader(http.StatusOK)
	http1.Detach(w)
	return &sink{w: w, control: http.NewResponseController(w)}
}

// Write writes p, each piece in the time that one may take.
func (s *sink) Write(p []byte) (n int, err error) {
	for len(p) > n {
		s.hurry()
		m, err := s.w.Write(p[n:min(len(p), n+sendPiece)])
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// flush sends what is buffered.
func (s *sink) flush() error {
	s.hurry()
	return s.control.Flush()
}

// hurry sets the deadline of what is written next. A writer that has none waits forever.
func (s *sink) hurry() { _ = s.control.SetWriteDeadline(time.Now().Add(sendTimeout)) }
