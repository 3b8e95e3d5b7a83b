package serve

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Answer is what a request gets.
type Answer struct {
	Status int
	Body   []byte      // JSON; empty for none
	Header http.Header // what else its head says; may be nil
	Seq    uint64      // for the header Fenec-Seq; 0 leaves it out
	Ran    bool        // a statement ran: the version is told
	Err    error       // what went wrong on our side, for the log; nil otherwise

	cause error // what it tells of, if it was one

	rows    int  // answered or written
	wrote   bool // it was a write
	nothing bool // a write that wrote nothing, or whose requirement was not met
	sent    bool // it has been sent already
	cut     bool // but not to its end
}

// OK returns a successful answer.
func OK(body []byte) Answer { return Answer{Status: http.StatusOK, Body: body} }

// Fail returns an answer that tells of an error.
func Fail(status int, message string) Answer {
	body := appendError(nil, message)
	if status == http.StatusServiceUnavailable {
		body = append(body, retryMember...)
	}
	return Answer{Status: status, Body: append(body, '}')}
}

const retryMember = `,"retry_after":1`

func appendError(dst []byte, message string) []byte {
	return value.AppendJSONString(append(dst, `{"error":`...), message)
}

// Error returns an answer that tells of err. What went wrong on our side is told
// in full to the log only: it may name files.
func Error(err error) Answer {
	a := Fail(StatusOf(err), told(err))
	a.cause = err
	if ours(err) {
		a.Err = err
	}
	return a
}

// ours reports whether err is no fault of the request.
func ours(err error) bool { return StatusOf(err) == http.StatusInternalServerError }

// told returns what clients are told of err.
func told(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "the statement took too long"
	case !ours(err):
		return err.Error()
	case errors.Is(err, fenec.ErrFailed):
		return fenec.ErrFailed.Error()
	case errors.Is(err, fenec.ErrCorrupt):
		return "the database is damaged"
	case errors.Is(err, fenec.ErrPlugin):
		return "plugin error; the server's log says which"
	}
	return "something went wrong; the server's log says what"
}

// NotFound answers that there is nothing at the request's path.
func NotFound(r *http.Request) Answer {
	return Fail(http.StatusNotFound, "nothing at "+r.Method+" "+r.URL.Path)
}

// Unauthorized answers that the request carries no token that opens its path.
func Unauthorized() Answer { return Fail(http.StatusUnauthorized, "a bearer token is needed") }

// Write sends the answer.
func (a Answer) Write(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	for name, values := range a.Header {
		h[name] = values
	}
	if a.Ran {
		h["X-Fenecdb-Version"] = versionHeader
	}
	if a.Seq != 0 {
		h["Fenec-Seq"] = []string{strconv.FormatUint(a.Seq, 10)}
	}
	switch a.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	case http.StatusNoContent, http.StatusNotModified:
		w.WriteHeader(a.Status)
		return
	}
	if h["Content-Type"] == nil {
		h["Content-Type"] = jsonType
	}
	a.encode(h, r)
	if len(a.Body) > counted || r.Method == http.MethodHead {
		h["Content-Length"] = []string{strconv.Itoa(len(a.Body))}
	}
	w.WriteHeader(a.Status)
	if r.Method != http.MethodHead {
		send(w, a.Body)
	}
}

// counted is how long a body may be for a server to tell its length by itself, in
// bytes: as long as it has the whole of it before it sends the head.
const counted = 2 << 10

// part is how much of an answer a client must accept within patience, in bytes.
const part = 1 << 20

// send writes a body. A client that went away, or does not read, is not to be
// told.
func send(w http.ResponseWriter, body []byte) {
	if len(body) <= part {
		_, _ = w.Write(body)
		return
	}
	control := http.NewResponseController(w)
	for chunk := range slices.Chunk(body, part) {
		// Where there are no deadlines, the server's own must do.
		_ = control.SetWriteDeadline(time.Now().Add(patience))
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
	_ = control.SetWriteDeadline(time.Time{})
}

var (
	jsonType      = []string{"application/json; charset=utf-8"}
	versionHeader = []string{fenec.Version}
)

// statuses are the HTTP statuses of errors.
var statuses = []struct {
	err    error
	status int
}{
	{fenec.ErrQuery, http.StatusBadRequest},
	{fenec.ErrType, http.StatusBadRequest},
	{fenec.ErrNotFound, http.StatusNotFound},
	{fenec.ErrExists, http.StatusConflict},
	{fenec.ErrDuplicate, http.StatusConflict},
	{fenec.ErrUnmet, http.StatusPreconditionFailed},
	{fenec.ErrReadOnly, http.StatusForbidden},
	{fenec.ErrDenied, http.StatusForbidden},
	{fenec.ErrOverLimit, http.StatusRequestEntityTooLarge},
	{fenec.ErrBlockTooLarge, http.StatusRequestEntityTooLarge},
	{errLongBatch, http.StatusRequestEntityTooLarge},
	{fenec.ErrMemory, http.StatusInsufficientStorage},
	{fenec.ErrClosed, http.StatusServiceUnavailable},
	{fenec.ErrSnapshotTooOld, http.StatusServiceUnavailable},
	{context.DeadlineExceeded, http.StatusGatewayTimeout},
	{context.Canceled, http.StatusServiceUnavailable},
}

// StatusOf returns the HTTP status that tells of err: 400 for a statement or
// value that is wrong, 404 for a name there is not, 409 for one that is taken,
// 412 for a requirement that is not met, 403 and 413 for refusals, 503 for what
// passes, 504 for a deadline that did, 507 for want of memory, else 500.
func StatusOf(err error) int {
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return s.status
		}
	}
	return http.StatusInternalServerError
}
