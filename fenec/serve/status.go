package serve

import (
	"context"
	"errors"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec"
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
	{fenec.ErrReplica, http.StatusForbidden},
	{fenec.ErrOverLimit, http.StatusRequestEntityTooLarge},
	{fenec.ErrBlockTooLarge, http.StatusRequestEntityTooLarge},
	{errTooLong, http.StatusRequestEntityTooLarge},
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
