package router

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// serveShard answers what lies under /_shard/; path is what follows it.
func (rt *Router) serveShard(w http.ResponseWriter, r *http.Request, path []string) {
	answer, err := rt.shard(r, path)
	if err != nil {
		refuse(err).write(w)
		return
	}
	if answer.body == nil {
		w.WriteHeader(answer.status)
		return
	}
	writeJSON(w, answer.status, answer.body)
}

// answer is what a route under /_shard/ has done. A nil body is none.
type answer struct {
	status int
	body   any
}

func (rt *Router) shard(r *http.Request, path []string) (answer, error) {
	if !rt.opts.Token.IsZero() && !rt.opts.Token.Matches(bearer(r)) {
		return answer{}, refusing(http.StatusUnauthorized, "the router's token is required")
	}
	// Whoever asked may stop waiting; what was begun is finished.
	ctx := context.WithoutCancel(r.Context())
	switch route(r.Method, path) {
	case "GET nodes":
		return rt.listNodes()
	case "PUT nodes/":
		return rt.putNode(ctx, r, path[1])
	case "DELETE nodes/":
		return rt.deleteNode(path[1])
	case "GET tenants":
		return rt.listTenants(ctx, r)
	case "PUT tenants/":
		return rt.createTenant(ctx, r, path[1])
	case "DELETE tenants/":
		return rt.deleteTenant(ctx, path[1])
	}
	return answer{}, errNotFound
}

var errNotFound = refusing(http.StatusNotFound, "not found")

// route names the route of a request: the method, the collection, and a slash if
// a name follows.
func route(method string, path []string) string {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	switch len(path) {
	case 1:
		return method + " " + path[0]
	case 2:
		return method + " " + path[0] + "/"
	}
	return ""
}

// bearer returns the token that a request carries.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func (rt *Router) listNodes() (answer, error) {
	type node struct {
		Name string `json:"name"`
		Addr string `json:"addr"`
	}
	list := []node{}
	for _, n := range rt.directory.Nodes() {
		list = append(list, node{n.Name, n.Addr})
	}
	return answer{http.StatusOK, list}, nil
}

func (rt *Router) putNode(ctx context.Context, r *http.Request, name string) (answer, error) {
	fields, err := readObject(r, "addr", "token")
	if err != nil {
		return answer{}, err
	}
	n := Node{Name: name, Addr: fields["addr"], Token: NewToken(fields["token"])}
	if err := checkNode(n); err != nil {
		return answer{}, err
	}
	if _, err := rt.admin.disk(ctx, n); err != nil {
		return answer{}, refusing(http.StatusBadGateway, err.Error())
	}
	before, known := rt.directory.Node(name)
	if err := rt.directory.PutNode(n); err != nil {
		return answer{}, fmt.Errorf("node %s: %w", name, err)
	}
	if known && before.Addr != n.Addr {
		rt.forwarder.Forget(before.Addr)
	}
	return answer{http.StatusCreated, struct {
		Node         string   `json:"node"`
		Unreplicated []string `json:"unreplicated"`
	}{name, []string{}}}, nil
}

// checkNode says what is wrong with a node's record.
func checkNode(n Node) error {
	wrong := ""
	switch {
	case !ValidName(n.Name):
		return ErrName
	case n.Addr == "" || n.Token.IsZero():
		wrong = "\"addr\" and \"token\" are required"
	case !validAddr(n.Addr):
		wrong = "\"addr\" must be host:port"
	case !validToken(n.Token.text()):
		wrong = "\"token\" must be printable ASCII without blanks"
	default:
		return nil
	}
	return refusing(http.StatusBadRequest, wrong)
}

func (rt *Router) deleteNode(name string) (answer, error) {
	if !ValidName(name) {
		return answer{}, ErrName
	}
	n, _ := rt.directory.Node(name)
	if err := rt.directory.DeleteNode(name); err != nil {
		return answer{}, fmt.Errorf("node %s: %w", name, err)
	}
	rt.forwarder.Forget(n.Addr)
	return answer{status: http.StatusNoContent}, nil
}

func (rt *Router) listTenants(ctx context.Context, r *http.Request) (answer, error) {
	type tenant struct {
		Name  string `json:"name"`
		Node  string `json:"node"`
		State State  `json:"state"`
		Bytes *int64 `json:"bytes,omitempty"`
	}
	sizes := map[string]map[string]int64{}
	if r.URL.Query().Has("bytes") {
		for _, said := range ask(rt.directory.Nodes(), func(n Node) (map[string]int64, error) { return rt.admin.sizes(ctx, n) }) {
			sizes[said.node.Name] = said.value
		}
	}
	list := []tenant{}
	for _, t := range rt.directory.Tenants() {
		entry := tenant{t.Name, t.Node, t.State, nil}
		if bytes, ok := sizes[t.Node][t.Name]; ok {
			entry.Bytes = &bytes
		}
		list = append(list, entry)
	}
	return answer{http.StatusOK, list}, nil
}

func (rt *Router) createTenant(ctx context.Context, r *http.Request, name string) (answer, error) {
	if !ValidName(name) {
		return answer{}, ErrName
	}
	fields, err := readObject(r, "node")
	if err != nil {
		return answer{}, err
	}
	node, err := rt.create(ctx, name, fields["node"])
	if err != nil {
		return answer{}, fmt.Errorf("tenant %s: %w", name, err)
	}
	return answer{http.StatusCreated, struct {
		Tenant string `json:"tenant"`
		Node   string `json:"node"`
	}{name, node}}, nil
}

// create makes a tenant on the given node, or on the one that has the most room
// if none is given, and returns the node's name.
//
// A node that does not answer may have made the tenant's file all the same. It
// stays, as the router cannot tell it from one that was there before; making the
// tenant again on that node then is 409.
func (rt *Router) create(ctx context.Context, tenant, node string) (string, error) {
	release, err := rt.directory.Claim(tenant)
	if err != nil {
		return "", err
	}
	defer release()
	if _, ok := rt.directory.Tenant(tenant); ok {
		return "", ErrTenantExists
	}
	n, err := rt.nodeFor(ctx, node)
	if err != nil {
		return "", err
	}
	if err := rt.admin.create(ctx, n, tenant); err != nil {
		return "", err
	}
	if err := rt.directory.Place(tenant, n); err != nil {
		if undo := rt.admin.purge(ctx, n, tenant); undo != nil {
			rt.logf("tenant %s: its file is left on the node: %v", tenant, undo)
		}
		return "", err
	}
	return n.Name, nil
}

func (rt *Router) nodeFor(ctx context.Context, name string) (Node, error) {
	if name == "" {
		return rt.choose(ctx)
	}
	if n, ok := rt.directory.Node(name); ok {
		return n, nil
	}
	return Node{}, ErrUnknownNode
}

func (rt *Router) deleteTenant(ctx context.Context, name string) (answer, error) {
	if !ValidName(name) {
		return answer{}, ErrName
	}
	if err := rt.remove(ctx, name); err != nil {
		return answer{}, fmt.Errorf("tenant %s: %w", name, err)
	}
	return answer{status: http.StatusNoContent}, nil
}

// remove deletes a tenant on its node and forgets its place. A node that has no
// such tenant any more is content; any other refusal is passed on as it is, and
// nothing is forgotten.
func (rt *Router) remove(ctx context.Context, tenant string) error {
	release, err := rt.directory.Claim(tenant)
	if err != nil {
		return err
	}
	defer release()
	n, ok := rt.directory.Lookup([]byte(tenant))
	if !ok {
		return ErrUnknownTenant
	}
	err = rt.admin.remove(ctx, n, tenant)
	var refused *NodeError
	switch {
	case err == nil:
	case !errors.As(err, &refused) || refused.Status < 400:
		return err
	case refused.Status != http.StatusNotFound:
		return refusing(refused.Status, refused.Error())
	}
	return rt.directory.Forget(tenant)
}
