package router

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/fenec-go/fenecdb/internal/secret"
	"github.com/fenec-go/fenecdb/quota"
)

// maxOutcome bounds a node's answer to a request with a body.
const maxOutcome = 4 << 20

// send sends a request with a JSON body and returns the answer, whatever its status.
// No answer within the timeout is a *NodeError.
func (a *admin) send(ctx context.Context, n Node, method, target string, body []byte) (status int, text []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+n.Addr+target, bytes.NewReader(body))
	if err != nil {
		return 0, nil, &NodeError{Node: n.Name, Err: err}
	}
	req.Header.Set("Authorization", "Bearer "+secret.Reveal(n.Token))
	req.Header.Set("Content-Type", jsonType)
	resp, err := a.client.Do(req)
	if err != nil {
		return 0, nil, &NodeError{Node: n.Name, Err: err}
	}
	defer resp.Body.Close()
	text, err = io.ReadAll(io.LimitReader(resp.Body, maxOutcome+1))
	if err == nil && len(text) > maxOutcome {
		err = errors.New("its answer is too long")
	}
	if err != nil {
		return 0, nil, &NodeError{Node: n.Name, Err: err}
	}
	return resp.StatusCode, text, nil
}

// quota returns the limits that the node holds the tenant to.
func (a *admin) quota(ctx context.Context, n Node, tenant string) (quota.Limits, error) {
	var kept quota.Limits
	err := a.get(ctx, n, "/_admin/tenants/"+tenant+"/quota", &kept)
	return kept, err
}

// setQuota has the node hold the tenant to the limits, to none if all are zero.
func (a *admin) setQuota(ctx context.Context, n Node, tenant string, to quota.Limits) error {
	status, text, err := a.send(ctx, n, http.MethodPut, "/_admin/tenants/"+tenant+"/quota", encode(to))
	if err == nil && status != http.StatusOK {
		err = &NodeError{Node: n.Name, Status: status, Text: errorText(bytes.NewReader(text))}
	}
	return err
}

// undelete has the node take the tenant that was deleted last out of its trash.
func (a *admin) undelete(ctx context.Context, n Node, tenant string) error {
	return a.do(ctx, n, http.MethodPost, tenantTarget(tenant, "/undelete"), http.StatusOK, nil)
}

// usage returns what the node says that the tenant uses, as JSON.
func (a *admin) usage(ctx context.Context, n Node, tenant string) (json.RawMessage, error) {
	var used json.RawMessage
	err := a.get(ctx, n, "/_admin/tenants/"+tenant+"/usage", &used)
	return used, err
}

// applySchema has the node bring the tenant to the schema and returns the outcome, as
// JSON. What the node refuses of the schema is a *schemaRefusal.
func (a *admin) applySchema(ctx context.Context, n Node, tenant string, schema []byte) (json.RawMessage, error) {
	status, text, err := a.send(ctx, n, http.MethodPost, "/_admin/tenants/"+tenant+"/schema", schema)
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusOK && json.Valid(text):
		return text, nil
	case status >= 400 && status < 500 && json.Valid(text):
		return nil, &schemaRefusal{status, text}
	}
	return nil, &NodeError{Node: n.Name, Status: status, Text: errorText(bytes.NewReader(text))}
}

// schemaRefusal is a node's answer to a schema that it does not take.
type schemaRefusal struct {
	status int
	body   json.RawMessage
}

func (e *schemaRefusal) Error() string { return "the schema is refused: " + string(e.body) }
