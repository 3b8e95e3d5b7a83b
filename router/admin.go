package router

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/fenec-go/fenecdb/internal/secret"
)

const (
	// maxAdminAnswer bounds a node's answer under /_admin/: the sizes of a
	// million tenants fit.
	maxAdminAnswer = 96 << 20
	// maxErrorAnswer bounds what is read of a node's error.
	maxErrorAnswer = 64 << 10
	// imageBuffer is how much of an image is on its way at once.
	imageBuffer = 256 << 10
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
			MaxIdleConnsPerHost: copyWorkers,
			WriteBufferSize:     imageBuffer,
			ReadBufferSize:      imageBuffer,
			IdleConnTimeout:     30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (a *admin) close() { a.client.CloseIdleConnections() }

// nodeStats are a node's statistics.
type nodeStats struct {
	Disk *int64 `json:"disk"` // bytes that the node's files take up
	Boot string `json:"boot"` // names the process; "" of a node that does not tell
}

func (a *admin) stats(ctx context.Context, n Node) (s nodeStats, err error) {
	err = a.get(ctx, n, "/_admin/stats", &s)
	if err == nil && s.Disk == nil {
		err = &NodeError{Node: n.Name, Err: errors.New("its statistics lack \"disk\"")}
	}
	return s, err
}

// disk returns how many bytes the node's files take up.
func (a *admin) disk(ctx context.Context, n Node) (int64, error) {
	s, err := a.stats(ctx, n)
	if err != nil {
		return 0, err
	}
	return *s.Disk, nil
}

// health asks the node whether it is there.
func (a *admin) health(ctx context.Context, n Node) error { return a.get(ctx, n, "/_health", nil) }

// sizes returns the bytes of each tenant on the node.
func (a *admin) sizes(ctx context.Context, n Node) (map[string]int64, error) {
	var sizes map[string]int64
	err := a.get(ctx, n, "/_admin/sizes", &sizes)
	return sizes, err
}

// createPrimary makes an empty tenant on the node that takes writes, whatever the node
// itself follows.
func (a *admin) createPrimary(ctx context.Context, n Node, tenant string) error {
	return a.do(ctx, n, http.MethodPut, tenantTarget(tenant, "?role=primary"), http.StatusCreated, nil)
}

// create makes an empty tenant on the node, which follows if the node does.
func (a *admin) create(ctx context.Context, n Node, tenant string) error {
	return a.do(ctx, n, http.MethodPut, tenantTarget(tenant, ""), http.StatusCreated, nil)
}

// remove deletes the tenant on the node, to the node's trash.
func (a *admin) remove(ctx context.Context, n Node, tenant string) error {
	return a.do(ctx, n, http.MethodDelete, tenantTarget(tenant, ""), http.StatusNoContent, nil)
}

// purge deletes the tenant on the node for good.
func (a *admin) purge(ctx context.Context, n Node, tenant string) error {
	return a.do(ctx, n, http.MethodDelete, tenantTarget(tenant, "?purge=1"), http.StatusNoContent, nil)
}

func tenantTarget(tenant, rest string) string { return "/_admin/tenants/" + tenant + rest }

// standing is how a tenant stands on a node.
type standing struct {
	Seq    uint64 `json:"seq"`
	Boot   string `json:"boot"`
	Frozen bool   `json:"frozen"`
	// Role is that of the copy in replication, "" of a node that does not tell.
	Role string `json:"role"`
	// Last is the sequence of the last write that the copy has, which Seq may be past.
	Last uint64 `json:"last"`
	// Incomplete tells of a copy that it has not caught up since it was told to follow.
	Incomplete bool `json:"incomplete"`
	// Follows is the URL of the node that a replica follows.
	Follows string `json:"follows"`
	// LagMs is for how long a replica has not known to have all that its primary has: -1 if
	// it never did since its node was started, and nil of a node that does not tell.
	LagMs *int64 `json:"lag_ms"`
}

// lacks reports whether the copy may lack more than what was written last: it does not
// follow, or has not caught up since it does.
func (s standing) lacks() bool { return s.Incomplete || s.Role == roleUnsettled }

// before orders copies by which is to take over: one that takes writes already is first,
// and then one that has come further.
func (s standing) before(other standing) int {
	return -cmp.Or(cmp.Compare(s.rank(), other.rank()), cmp.Compare(s.Last, other.Last), cmp.Compare(s.Seq, other.Seq))
}

func (s standing) rank() int {
	if s.Role == rolePrimary {
		return 1
	}
	return 0
}

// The roles of copies.
const (
	rolePrimary = "primary"
	roleReplica = "replica"
	// roleUnsettled is a file that its node found on a disk when it was made to follow
	// another node, and that is told neither to follow nor to take writes.
	roleUnsettled = "unsettled"
)

// standing asks how the tenant stands on the node.
func (a *admin) standing(ctx context.Context, n Node, tenant string) (s standing, err error) {
	err = a.get(ctx, n, tenantTarget(tenant, ""), &s)
	return s, err
}

// freeze makes the node refuse writes to the tenant, for d or, if that is 0, until
// they are thawed.
func (a *admin) freeze(ctx context.Context, n Node, tenant string, d time.Duration) (s standing, err error) {
	var body any
	if d > 0 {
		body = map[string]int64{"ms": d.Milliseconds()}
	}
	err = a.call(ctx, n, http.MethodPost, tenantTarget(tenant, "/freeze"), body, http.StatusOK, &s)
	return s, err
}

func (a *admin) thaw(ctx context.Context, n Node, tenant string) error {
	return a.do(ctx, n, http.MethodPost, tenantTarget(tenant, "/thaw"), http.StatusOK, nil)
}

func (a *admin) get(ctx context.Context, n Node, target string, into any) error {
	return a.do(ctx, n, http.MethodGet, target, http.StatusOK, into)
}

// do is call without a body.
func (a *admin) do(ctx context.Context, n Node, method, target string, want int, into any) error {
	return a.call(ctx, n, method, target, nil, want, into)
}

// call sends one request, with body as JSON unless it is nil, and decodes the answer.
// Any other status than want, and no answer within the timeout, is a *NodeError.
func (a *admin) call(ctx context.Context, n Node, method, target string, body any, want int, into any) error {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	req, err := newRequest(ctx, n, method, target, jsonBody(body))
	if err != nil {
		return err
	}
	resp, err := a.answer(req, n, want)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAdminAnswer)).Decode(into); err != nil {
		return &NodeError{Node: n.Name, Err: fmt.Errorf("its answer to %s: %w", target, err)}
	}
	return nil
}

func jsonBody(body any) io.Reader {
	if body == nil {
		return nil
	}
	return bytes.NewReader(encode(body))
}

func newRequest(ctx context.Context, n Node, method, target string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+n.Addr+target, body)
	if err != nil {
		return nil, &NodeError{Node: n.Name, Err: err}
	}
	req.Header.Set("Authorization", "Bearer "+secret.Reveal(n.Token))
	return req, nil
}

// answer sends the request and returns the answer, whose body the caller closes, if it
// has the status.
func (a *admin) answer(req *http.Request, n Node, want int) (*http.Response, error) {
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, &NodeError{Node: n.Name, Err: err}
	}
	if resp.StatusCode != want {
		defer resp.Body.Close()
		return nil, &NodeError{Node: n.Name, Status: resp.StatusCode, Text: errorText(resp.Body)}
	}
	return resp, nil
}

// isGone reports whether the node answered that it has no such tenant.
func isGone(err error) bool {
	var node *NodeError
	return errors.As(err, &node) && node.Status == http.StatusNotFound
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
