package router

import (
	"errors"
	"net/http"

	"github.com/fenec-go/fenecdb/internal/http1"
	"github.com/fenec-go/fenecdb/internal/problem"
	"github.com/fenec-go/fenecdb/replication"
)

// statuses are the answers to the directory's errors.
var statuses = []struct {
	err    error
	status int
	code   string
}{
	{ErrName, http.StatusBadRequest, ""},
	{ErrNode, http.StatusBadRequest, ""},
	{ErrAttrs, http.StatusBadRequest, ""},
	{ErrUnknownNode, http.StatusNotFound, ""},
	{ErrUnknownTenant, http.StatusNotFound, problem.UnknownTenant.Code},
	{ErrTenantExists, http.StatusConflict, ""},
	{ErrNodeInUse, http.StatusConflict, ""},
	{ErrNodeChanged, http.StatusConflict, ""},
	{ErrAlreadyThere, http.StatusConflict, ""},
	{ErrSameServer, http.StatusConflict, ""},
	{ErrMoveBroken, http.StatusConflict, ""},
	{ErrInProgress, http.StatusConflict, ""},
	{ErrNoCopy, http.StatusNotFound, ""},
	{ErrNoTrash, http.StatusNotFound, ""},
	{ErrStray, http.StatusConflict, ""},
	{ErrNotLost, http.StatusConflict, ""},
	{ErrNodesSilent, http.StatusServiceUnavailable, ""},
	{ErrNoNodes, http.StatusConflict, ""},
	{ErrNoCapacity, problem.NoCapacity.Status, problem.NoCapacity.Code},
	{ErrDraining, http.StatusConflict, ""},
	{ErrOwnStandby, http.StatusBadRequest, ""},
	{ErrStandby, http.StatusConflict, ""},
	{ErrNoStandby, http.StatusConflict, ""},
	{ErrLeaseRunning, problem.LeaseRunning.Status, problem.LeaseRunning.Code},
	{ErrSuperseded, problem.LeaseSuperseded.Status, problem.LeaseSuperseded.Code},
	{ErrFollows, problem.RouterFollows.Status, problem.RouterFollows.Code},
	{replication.ErrInProgress, http.StatusConflict, ""},
	{ErrNoneAnswers, http.StatusServiceUnavailable, ""},
	{ErrClosed, http.StatusServiceUnavailable, ""},
	{ErrDirectory, http.StatusInternalServerError, ""},
}

// refuse returns the refusal that an error stands for.
func refuse(err error) *refusal {
	var ready *refusal
	if errors.As(err, &ready) {
		return ready
	}
	for _, known := range statuses {
		if errors.Is(err, known.err) {
			r := refusing(known.status, err.Error())
			r.code = known.code
			return r
		}
	}
	var node *NodeError
	if errors.As(err, &node) {
		return refusing(nodeStatus(node), err.Error())
	}
	var parse *http1.Error
	if errors.As(err, &parse) {
		return refusing(parse.Status, parse.Text)
	}
	return refusing(http.StatusInternalServerError, err.Error())
}

// refusing returns a refusal with the wait that belongs to its status.
func refusing(status int, text string) *refusal {
	r := &refusal{status: status, text: text}
	if status == http.StatusServiceUnavailable {
		r.retry = problem.Wait
	}
	return r
}

// badGateway is what the clients of a tenant are told when its node fails: which
// node it is, but not where or why.
func badGateway(n Node) *refusal {
	return refusing(http.StatusBadGateway, (&NodeError{Node: n.Name}).Error())
}

// nodeStatus passes a node's refusal on. That a node does not answer, fails or
// answers something else than it was asked for is a bad gateway.
func nodeStatus(e *NodeError) int {
	if e.Status < 400 || e.Status >= 500 {
		return http.StatusBadGateway
	}
	return e.Status
}
