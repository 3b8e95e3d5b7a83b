package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	// maxAdminAnswer bounds a node's answer under /_admin/: the sizes of a
	// million tenants fit.
	maxAdminAnswer = 96 << 20
	// maxErrorAnswer bounds what is read of a node's error.
	maxErrorAnswer = 64 << 10
)

// admin speaks to the nodes under /_admin/.
type admin struct {
	client  *http.Client
	timeout time.Duration // of one request and its answer
}

func newAdmin(timeout time.Duration) *admin {
	dialer := &net.Dialer{Timeout: timeout}
	return &admin{timeout: timeout, client: &http.Client{
		// No proxy from the environment and no redirect: the token goes
		// to the recorded address or nowhere.
		Transport: &http.Transport{
			DialContext:         dialer.DialContext,
			MaxIdleConnsPerHost: 2,
			IdleConnTimeout:     30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (a *admin) close() { a.client.CloseIdleConnections() }

// disk returns how many bytes the node's files take up.
func (a *admin) disk(ctx context.Context, n Node) (int64, error) {
	var stats struct {
		Disk *int64 `json:"disk"`
	}
	if err := a.get(ctx, n, "/_admin/stats", &stats); err != nil {
		return 0, err
	}
	if stats.Disk == nil {
		return 0, &NodeError{Node: n.Name, Err: errors.New("its statistics lack \"disk\"")}
	}
	return *stats.Disk, nil
}

// sizes returns the bytes of each tenant on the node.
func (a *admin) sizes(ctx context.Context, n Node) (map[string]int64, error) {
	var sizes map[string]int64
	err := a.get(ctx, n, "/_admin/sizes", &sizes)
	return sizes, err
}

// create makes an empty tenant on the node.
func (a *admin) create(ctx context.Context, n Node, tenant string) error {
	return a.do(ctx, n, http.MethodPut, "/_admin/tenants/"+tenant, http.StatusCreated, nil)
}

// remove deletes the tenant on the node, to the node's trash.
func (a *admin) remove(ctx context.Context, n Node, tenant string) error {
	return a.do(ctx, n, http.MethodDelete, "/_admin/tenants/"+tenant, http.StatusNoContent, nil)
}

// purge deletes the tenant on the node for good.
func (a *admin) purge(ctx context.Context, n Node, tenant string) error {
	return a.do(ctx, n, http.MethodDelete, "/_admin/tenants/"+tenant+"?purge=1", http.StatusNoContent, nil)
}

func (a *admin) get(ctx context.Context, n Node, target string, into any) error {
	return a.do(ctx, n, http.MethodGet, target, http.StatusOK, into)
}

// do sends one request and decodes the answer. Any other status than want, and
// no answer within the timeout, is a *NodeError.
func (a *admin) do(ctx context.Context, n Node, method, target string, want int, into any) error {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+n.Addr+target, nil)
	if err != nil {
		return &NodeError{Node: n.Name, Err: err}
	}
	req.Header.Set("Authorization", "Bearer "+n.Token.text())
	resp, err := a.client.Do(req)
	if err != nil {
		return &NodeError{Node: n.Name, Err: err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != want {
		return &NodeError{Node: n.Name, Status: resp.StatusCode, Text: errorText(resp.Body)}
	}
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAdminAnswer)).Decode(into); err != nil {
		return &NodeError{Node: n.Name, Err: fmt.Errorf("its answer to %s: %w", target, err)}
	}
	return nil
}

// errorText returns the text of an error answer, "" if it has another form.
func errorText(body io.Reader) string {
	var answer struct {
		Error string `json:"error"`
	}
	if json.NewDecoder(io.LimitReader(body, maxErrorAnswer)).Decode(&answer) != nil {
		return ""
	}
	return answer.Error
}
