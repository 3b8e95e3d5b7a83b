package serve

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/internal/problem"
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

	sentBytes int64          // of its body, before they are compressed
	left      <-chan outcome // of a write of it that still goes on; nil if none does
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

// FailAs returns an answer that tells of an error, with the word by which programs know
// it.
func FailAs(p problem.Problem, message string) Answer {
	a := Fail(p.Status, message)
	if p.Code != "" {
		a.Body = append(a.Body[:len(a.Body)-1], `,"code":"`+p.Code+`"}`...)
	}
	return a
}

var (
	retryMember = `,"retry_after":` + strconv.Itoa(problem.Wait)
	retryHeader = []string{strconv.Itoa(problem.Wait)}
)

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

// NotFound answers that there is nothing at the request's path.
func NotFound(r *http.Request) Answer {
	return Fail(http.StatusNotFound, "nothing at "+r.Method+" "+r.URL.Path)
}

// Unauthorized answers that the request carries no token that opens its path.
func Unauthorized() Answer { return Fail(http.StatusUnauthorized, "a bearer token is needed") }

// Write sends the answer.
func (a Answer) Write(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	a.describe(h)
	switch a.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		h["Retry-After"] = retryHeader
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

// describe says in a head what has nothing to do with the body.
func (a *Answer) describe(h http.Header) {
	maps.Copy(h, a.Header)
	if a.Ran {
		h["X-Fenecdb-Version"] = versionHeader
	}
	if a.Seq != 0 {
		h["Fenec-Seq"] = []string{strconv.FormatUint(a.Seq, 10)}
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
	for chunk := range slices.Chunk(body, part) {
		if _, err := (inTime{w, patience}).Write(chunk); err != nil {
			return
		}
	}
}

// patience is how long a client may take to accept a part of an answer.
const patience = time.Minute

// inTime writes what a client must accept within some time.
type inTime struct {
	w http.ResponseWriter
	d time.Duration
}

func (o inTime) Write(b []byte) (int, error) {
	defer within(http.NewResponseController(o.w), o.d)()
	return o.w.Write(b)
}

// within has the client accept within d what is written until over is called. There
// is no deadline behind that: one that passes ends an answer of HTTP/2, also while
// nothing is written. Where there are no deadlines, the server's own must do.
func within(control *http.ResponseController, d time.Duration) (over func()) {
	_ = control.SetWriteDeadline(time.Now().Add(d))
	return func() { _ = control.SetWriteDeadline(time.Time{}) }
}

var (
	jsonType      = []string{"application/json; charset=utf-8"}
	versionHeader = []string{fenec.Version}
)
