package node

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// code is what a refusal is answered with: a status, and for some a word for programs
// and the seconds to wait before another try.
type code struct {
	err    error
	status int
	word   string // "" for none
}

// codes are the refusals of tenants. A 503 asks to wait a second.
var codes = []code{
	{tenant.ErrName, http.StatusBadRequest, ""},
	{tenant.ErrNotFound, http.StatusNotFound, "unknown-tenant"},
	{tenant.ErrExists, http.StatusConflict, ""},
	{tenant.ErrTooLarge, http.StatusRequestEntityTooLarge, ""},
	{tenant.ErrFrozen, http.StatusServiceUnavailable, "tenant-frozen"},
	{tenant.ErrDegraded, http.StatusServiceUnavailable, "tenant-degraded"},
	{tenant.ErrProvisioning, http.StatusServiceUnavailable, "tenant-provisioning"},
	{tenant.ErrBusy, http.StatusServiceUnavailable, ""},
	{tenant.ErrEnded, http.StatusServiceUnavailable, ""},
	{tenant.ErrReleased, http.StatusServiceUnavailable, ""},
	{tenant.ErrClosed, http.StatusServiceUnavailable, ""},
	{fenec.ErrImage, http.StatusBadRequest, ""},
}

// failure returns the answer for an error of the manager or of a quota.
func failure(err error) serve.Answer {
	if a, ok := refuse(err); ok {
		return a
	}
	return serve.Error(err)
}

// refuse answers the errors that the surface of a database does not know.
func refuse(err error) (serve.Answer, bool) {
	var limit *quota.Refusal
	if errors.As(err, &limit) {
		return refuseLimit(limit), true
	}
	for _, c := range codes {
		if !errors.Is(err, c.err) {
			continue
		}
		a := serve.Fail(c.status, told(err))
		if errors.Is(err, tenant.ErrDegraded) {
			a.Err = err
		}
		if c.word != "" {
			a.Body = append(a.Body[:len(a.Body)-1], `,"code":"`+c.word+`"}`...)
		}
		return a, true
	}
	return serve.Answer{}, false
}

// told returns what clients are told of an error: why a database does not open may
// name files, and is for the log.
func told(err error) string {
	if errors.Is(err, tenant.ErrDegraded) {
		return tenant.ErrDegraded.Error() + "; the node's log says why"
	}
	return err.Error()
}

// refuseLimit answers with the limit that was met, and when to try again where that
// helps. It does not say what the tenant holds.
func refuseLimit(l *quota.Refusal) serve.Answer {
	status := http.StatusRequestEntityTooLarge
	if !l.Ceiling() {
		status = http.StatusTooManyRequests
	}
	a := serve.Fail(status, l.Error())
	tail := fmt.Sprintf(`,"quota":%q,"limit":%d`, l.Key, l.Limit)
	if !l.Ceiling() {
		wait := max(l.Wait, 1)
		tail += `,"retry_after":` + strconv.FormatInt(wait, 10)
		a.Header = http.Header{"Retry-After": {strconv.FormatInt(wait, 10)}}
	}
	a.Body = append(append(a.Body[:len(a.Body)-1], tail...), '}')
	return a
}
