package node

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/problem"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/replication"
	"github.com/fenec-go/fenecdb/replication/mirror"
	"github.com/fenec-go/fenecdb/tenant"
)

// errNotServed is the refusal of a request that names nothing a tenant could be at.
var errNotServed = errors.New("no tenant is served here")

// refusals are the answers to errors of tenants.
var refusals = []struct {
	err     error
	problem problem.Problem
}{
	{replication.ErrNoLease, problem.NoLease},
	{replication.ErrLapsed, problem.NoLease},
	{replication.ErrElsewhere, problem.NoLease},
	{fenec.ErrReplica, problem.TenantReplica},
	{errUnsettled, problem.TenantReplica},
	{tenant.ErrNotFound, problem.UnknownTenant},
	{tenant.ErrFrozen, problem.TenantFrozen},
	{tenant.ErrDegraded, problem.TenantDegraded},
	{tenant.ErrProvisioning, problem.TenantProvisioning},
	{tenant.ErrName, plain(http.StatusBadRequest)},
	{tenant.ErrExists, plain(http.StatusConflict)},
	{tenant.ErrFollows, plain(http.StatusConflict)},
	{fenec.ErrNotReplica, plain(http.StatusConflict)},
	{fenec.ErrIncomplete, plain(http.StatusConflict)},
	{errNowhere, plain(http.StatusConflict)},
	{errNoToken, plain(http.StatusConflict)},
	{mirror.ErrNoReports, plain(http.StatusConflict)},
	{tenant.ErrTooLarge, plain(http.StatusRequestEntityTooLarge)},
	{tenant.ErrBusy, plain(http.StatusServiceUnavailable)},
	{tenant.ErrEnded, plain(http.StatusServiceUnavailable)},
	{tenant.ErrReleased, plain(http.StatusServiceUnavailable)},
	{tenant.ErrClosed, plain(http.StatusServiceUnavailable)},
	{fenec.ErrImage, plain(http.StatusBadRequest)},
	{errNotServed, plain(http.StatusMisdirectedRequest)},
}

// plain is a refusal without a word for programs.
func plain(status int) problem.Problem { return problem.Problem{Status: status} }

// Error answers a request with an error of a tenant, of its database or of its quota, as
// a node does: with the status, the word for programs in "code" where there is one, and
// Retry-After where another try may do. It is for handlers of other programs.
//
//	404 unknown-tenant       tenant.ErrNotFound
//	503 tenant-frozen        tenant.ErrFrozen: the write has not run
//	503 tenant-degraded      tenant.ErrDegraded
//	503 tenant-provisioning  tenant.ErrProvisioning
//	503 no-lease             the node's lease does not allow the write, which has not run
//	503 outcome-unknown      a *fenec.UnconfirmedError: the write has run, and may be lost
//	403 tenant-replica       fenec.ErrReplica
//	504 not-replicated       a *mirror.HeldError: the write has run and stands
//	400, 409, 413, 503       the other errors of package tenant
//	413, 429                 a *quota.Refusal, with the limit
//
// Of all else serve.StatusOf tells the status. What went wrong on our side is told in full
// to the ErrorLog of the http.Server alone. The answer has an X-Request-Id: what its head
// has already, else the client's, else a new one.
func Error(w http.ResponseWriter, r *http.Request, err error) {
	if w.Header().Get("X-Request-Id") == "" && !serve.Begin(w, r) {
		return
	}
	a := failure(err)
	if a.Err != nil {
		id := w.Header().Get("X-Request-Id")
		errorLog(r).Printf("%s %s%s: %v request_id=%s", r.Method, r.Host, r.URL.EscapedPath(), a.Err, id)
	}
	a.Write(w, r)
}

// errorLog returns the log of the server that a request came to.
func errorLog(r *http.Request) *log.Logger {
	if srv, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && srv.ErrorLog != nil {
		return srv.ErrorLog
	}
	return log.Default()
}

// failure returns the answer for an error of the manager or of a quota.
func failure(err error) serve.Answer {
	if a, ok := Refuse(err); ok {
		return a
	}
	return serve.Error(err)
}

// Refuse answers the errors that the surface of a database does not know, and reports whether
// err is one, for a serve.Use of a database beside a node's.
func Refuse(err error) (serve.Answer, bool) {
	var limit *quota.Refusal
	if errors.As(err, &limit) {
		return refuseLimit(limit), true
	}
	var held *mirror.HeldError
	if errors.As(err, &held) {
		return refuseHeld(held), true
	}
	var unconfirmed *fenec.UnconfirmedError
	if errors.As(err, &unconfirmed) {
		return serve.FailAs(problem.OutcomeUnknown, "it is not known whether the write stands: "+unconfirmed.Err.Error()), true
	}
	for _, known := range refusals {
		if !errors.Is(err, known.err) {
			continue
		}
		a := serve.FailAs(known.problem, told(err))
		if errors.Is(err, tenant.ErrDegraded) {
			a.Err = err
		}
		return a, true
	}
	return serve.Answer{}, false
}

// told returns what clients are told of an error: why a database does not open may
// name files, and is for the log. What is before the word for a bad image does, too.
func told(err error) string {
	if errors.Is(err, tenant.ErrDegraded) {
		return tenant.ErrDegraded.Error() + "; the node's log says why"
	}
	for _, known := range []error{fenec.ErrImage, tenant.ErrTooLarge} {
		if _, what, ok := strings.Cut(err.Error(), known.Error()); ok && errors.Is(err, known) {
			what, _, _ = strings.Cut(what, "\n")
			return known.Error() + what
		}
	}
	return err.Error()
}

// refuseHeld answers a write that stands with where, and how many replicas have it.
func refuseHeld(h *mirror.HeldError) serve.Answer {
	a := serve.FailAs(problem.NotReplicated, h.Error())
	a.Body = append(a.Body[:len(a.Body)-1], fmt.Sprintf(`,"seq":%d,"held":%d}`, h.Seq, h.Have)...)
	return a
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
