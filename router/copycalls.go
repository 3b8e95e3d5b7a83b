package router

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// isConflict reports whether a node has answered that something stands in the way.
func isConflict(err error) bool {
	var node *NodeError
	return errors.As(err, &node) && node.Status == http.StatusConflict
}

// isSilent reports whether a node has not answered.
func isSilent(err error) bool { return silentNode(err) != "" }

// silentNode returns the node that has not answered, "" if that is not what went wrong.
func silentNode(err error) string {
	var node *NodeError
	if !errors.As(err, &node) || node.Status != 0 {
		return ""
	}
	return node.Node
}

// ensure makes an empty tenant on the node unless there is one, and reports whether there
// was none.
func (a *admin) ensure(ctx context.Context, n Node, tenant string) (made bool, err error) {
	if err = a.create(ctx, n, tenant); isConflict(err) {
		return false, nil
	}
	return err == nil, err
}

// follow has the node's copy of the tenant follow the one at the address from, or, if
// that is empty, the one of the node that the node itself follows. One that is frozen is
// refused, unless thaw is set, with which it is not writable in between.
func (a *admin) follow(ctx context.Context, n Node, tenant, from string, thaw bool) error {
	of := map[string]any{}
	if from != "" {
		of["from"] = "http://" + from
	}
	if thaw {
		of["thaw"] = true
	}
	var body any
	if len(of) > 0 {
		body = of
	}
	return a.call(ctx, n, http.MethodPost, tenantTarget(tenant, "/follow"), body, http.StatusOK, nil)
}

// promote makes the node's copy of the tenant one that takes writes, and follows no other.
// One that does already is content. One that may lack what its primary had is refused,
// unless it is forced.
func (a *admin) promote(ctx context.Context, n Node, tenant string, force bool) error {
	rest := "/promote"
	if force {
		rest += "?force=1"
	}
	err := a.do(ctx, n, http.MethodPost, tenantTarget(tenant, rest), http.StatusOK, nil)
	var node *NodeError
	if errors.As(err, &node) && node.Status == http.StatusConflict && strings.Contains(node.Text, "not a replica") {
		return nil
	}
	return err
}

// held returns the names of the tenants that the node has a copy of.
func (a *admin) held(ctx context.Context, n Node) (names []string, err error) {
	err = a.get(ctx, n, "/_admin/tenants", &names)
	return names, err
}

// followState is a copy that follows, as its node tells of all that it has.
type followState struct {
	Name    string `json:"name"`
	Follows string `json:"follows"`
	LagMs   int64  `json:"lag_ms"`
}

// following returns the copies on the node that follow; nil of a node that does not tell.
func (a *admin) following(ctx context.Context, n Node) (map[string]followState, error) {
	var list []followState
	if err := a.get(ctx, n, "/_admin/following", &list); err != nil {
		return nil, gone(err)
	}
	all := make(map[string]followState, len(list))
	for _, f := range list {
		all[f.Name] = f
	}
	return all, nil
}
