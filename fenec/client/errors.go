package client

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// ErrNoAnswer is returned when the connection could not be made, or broke before
// the whole answer had come. A write that fails so may have happened.
var ErrNoAnswer = errors.New("no answer from the server")

// ErrAnswerGone is returned for a write that has happened, whose answer was lost on
// the way, and was too long for the server to keep.
var ErrAnswerGone = errors.New("the write has happened, but its answer was too long to be kept")

// Error is what a server refuses a request with. It matches the error of package
// fenec that it stands for.
type Error struct {
	Status  int    // of HTTP; 0 for one that ended a subscription without a status
	Message string // the server's words

	err   error         // of package fenec, or nil
	pause time.Duration // that the server asks for before the next try
}

// Error returns the server's words, which say what kind of error it is.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the error of package fenec that it stands for, if it is one of
// those.
func (e *Error) Unwrap() error { return e.err }

// passing reports whether the same request may be answered later.
func (e *Error) passing() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable:
		return true
	}
	return false
}

// told are the errors whose text a server's message begins with.
var told = []error{
	fenec.ErrQuery, fenec.ErrType, fenec.ErrNotFound, fenec.ErrExists, fenec.ErrDuplicate, fenec.ErrUnmet, fenec.ErrReadOnly,
	fenec.ErrDenied, fenec.ErrOverLimit, fenec.ErrPlugin, fenec.ErrBlockTooLarge, fenec.ErrMemory, fenec.ErrFailed,
}

// byStatus is what a status stands for where the message does not tell.
var byStatus = map[int]error{
	http.StatusBadRequest:            fenec.ErrQuery,
	http.StatusUnauthorized:          fenec.ErrDenied,
	http.StatusForbidden:             fenec.ErrDenied,
	http.StatusNotFound:              fenec.ErrNotFound,
	http.StatusConflict:              fenec.ErrDuplicate,
	http.StatusGone:                  fenec.ErrHistoryGone,
	http.StatusPreconditionFailed:    fenec.ErrUnmet,
	http.StatusRequestEntityTooLarge: fenec.ErrOverLimit,
	http.StatusInsufficientStorage:   fenec.ErrMemory,
}

// kindOf returns the error of package fenec that a server tells of, or nil.
func kindOf(status int, message string) error {
	for _, err := range told {
		if rest, ok := strings.CutPrefix(message, strings.TrimSuffix(err.Error(), ": ")); ok && (rest == "" || rest[0] == ':') {
			return err
		}
	}
	return byStatus[status]
}

// refusal is the body of an error.
type refusal struct {
	message             string
	at, completed       uint64 // of a batch
	inBatch             bool
	seq, since          uint64 // of a cursor
	pastSeq, belowSince bool
}

func parseRefusal(body string) (r refusal) {
	v, err := value.ParseJSONString(body)
	if err != nil || v.Kind() != value.KindObject {
		return r // a proxy's, perhaps
	}
	if m, _ := v.Get("error"); m.Kind() == value.KindText {
		r.message = m.AsText()
	}
	r.at, r.inBatch = member(v, "at")
	r.completed, _ = member(v, "completed")
	r.seq, r.pastSeq = member(v, "seq")
	r.since, r.belowSince = member(v, "since")
	return r
}

// member returns a member of an object that is a whole number, not negative.
func member(object value.Value, key string) (n uint64, ok bool) {
	if object.Kind() != value.KindObject {
		return 0, false
	}
	v, _ := object.Get(key)
	if v.Kind() != value.KindInt || v.AsInt() < 0 {
		return 0, false
	}
	return uint64(v.AsInt()), true
}

// refused returns the error that an answer tells of.
func refused(status int, h http.Header, body string) error {
	r := parseRefusal(body)
	if r.message == "" {
		r.message = "the server answers " + strconv.Itoa(status) + " " + http.StatusText(status)
	}
	e := &Error{Status: status, Message: r.message, err: kindOf(status, r.message)}
	if seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 32); err == nil {
		e.pause = time.Duration(seconds) * time.Second
	}
	switch {
	case r.inBatch:
		return &fenec.BatchError{At: int(r.at), Completed: int(r.completed), Err: e}
	case status == http.StatusGone && r.belowSince, status == http.StatusConflict && r.pastSeq:
		e.err = &fenec.CursorError{First: r.since, Last: r.seq}
	}
	return e
}
