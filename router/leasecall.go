package router

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/fenec-go/fenecdb/internal/problem"
	"github.com/fenec-go/fenecdb/replication"
)

// grantLease makes a grant to a node. The error is nil, or one of those of grants that
// the node has refused, or any other, which tells nothing of the node's lease.
func (a *admin) grantLease(ctx context.Context, n Node, g replication.Grant) (st replication.State, err error) {
	status, text, err := a.send(ctx, n, http.MethodPost, "/_admin/lease", encode(g))
	if err != nil {
		return st, err
	}
	refusal := refusalOfGrant(n, status, text)
	if err := json.Unmarshal(text, &st); err != nil && refusal == nil {
		return st, &NodeError{Node: n.Name, Err: fmt.Errorf("its answer to a grant: %w", err)}
	}
	return st, refusal
}

// refusalOfGrant returns why a node did not take a grant, by what it has answered.
func refusalOfGrant(n Node, status int, text []byte) error {
	switch status {
	case http.StatusOK:
		return nil
	case http.StatusPreconditionFailed:
		return replication.ErrMismatch
	case http.StatusConflict:
		if codeOf(text) == problem.LeaseSuperseded.Code {
			return replication.ErrSuperseded
		}
		return replication.ErrUnfenced
	case http.StatusNotFound:
		return replication.ErrUnfenced
	}
	return &NodeError{Node: n.Name, Status: status, Text: errorText(bytes.NewReader(text))}
}

// codeOf returns the code of an error answer, "" if it has none.
func codeOf(text []byte) string {
	var answer struct {
		Code string `json:"code"`
	}
	if json.Unmarshal(text, &answer) != nil {
		return ""
	}
	return answer.Code
}
