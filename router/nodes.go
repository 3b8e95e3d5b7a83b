package router

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/fenec-go/fenecdb/internal/secret"
)

// listedNode is a node as answers have it, never with its token. Attributes that say
// nothing are left out.
type listedNode struct {
	Name       string            `json:"name"`
	Addr       string            `json:"addr"`
	Role       Role              `json:"role,omitempty"`
	MaxTenants int               `json:"max_tenants,omitempty"`
	MaxBytes   int64             `json:"max_bytes,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Draining   bool              `json:"draining,omitempty"`
	Standby    string            `json:"standby,omitempty"`
}

func (rt *Router) listed(n Node) listedNode {
	a := rt.directory.Attrs(n.Name)
	if a.Role == RoleShared {
		a.Role = ""
	}
	standby, _ := rt.directory.Standby(n.Name)
	return listedNode{n.Name, n.Addr, a.Role, a.MaxTenants, a.MaxBytes, a.Labels, a.Draining, standby}
}

func (rt *Router) listNodes() (answer, error) {
	list := []listedNode{}
	for _, n := range rt.directory.Nodes() {
		list = append(list, rt.listed(n))
	}
	return answer{http.StatusOK, list}, nil
}

func (rt *Router) putNode(ctx context.Context, r *http.Request, name string) (answer, error) {
	n, standby, err := readNode(r, name)
	if err != nil {
		return answer{}, err
	}
	if err := rt.checkStandby(name, standby); err != nil {
		return answer{}, err
	}
	stats, err := rt.admin.stats(ctx, n)
	if err != nil {
		return answer{}, refusing(http.StatusBadGateway, err.Error())
	}
	if same := rt.sameServer(ctx, n, stats.Boot); same != "" {
		return answer{}, fmt.Errorf("node %s: %w: node %s", name, ErrSameServer, same)
	}
	if err := rt.keepNode(n); err != nil {
		return answer{}, fmt.Errorf("node %s: %w", name, err)
	}
	unreplicated := []string{}
	if standby != nil {
		if unreplicated, err = rt.pair(ctx, n, *standby); err != nil {
			return answer{}, fmt.Errorf("node %s: %w", name, err)
		}
	}
	return answer{http.StatusCreated, struct {
		Node         string   `json:"node"`
		Unreplicated []string `json:"unreplicated"`
	}{name, unreplicated}}, nil
}

// readNode reads the node that a request is about, and its standby: nil to leave that as
// it is, "" for none.
func readNode(r *http.Request, name string) (n Node, standby *string, err error) {
	var addr, token, stands string
	body, err := readBody(r)
	if err != nil {
		return n, nil, err
	}
	known := members{"addr": textTo(&addr), "token": textTo(&token), "standby": textTo(&stands)}
	if err := known.readBody(body); err != nil {
		return n, nil, err
	}
	if hasMember(body, "standby") {
		standby = &stands
	}
	n = Node{Name: name, Addr: addr, Token: NewToken(token)}
	return n, standby, checkNode(n)
}

// keepNode records a node. Replicas that have to be told its new address are, in the
// background.
func (rt *Router) keepNode(n Node) error {
	before, known := rt.directory.Node(n.Name)
	if err := rt.directory.PutNode(n); err != nil {
		return err
	}
	if known && before.Addr != n.Addr {
		rt.forwarder.Forget(before.Addr)
		rt.reconciler.kick()
	}
	return nil
}

// sameServer returns the name of another node that is the same server, "" if there is
// none. A tenant that moved between the two would be removed where it is.
func (rt *Router) sameServer(ctx context.Context, n Node, boot string) string {
	others := slices.DeleteFunc(rt.directory.Nodes(), func(o Node) bool { return o.Name == n.Name })
	ctx, cancel := context.WithTimeout(ctx, min(chooseTimeout, rt.opts.UpstreamTimeout))
	defer cancel()
	for _, said := range ask(others, func(o Node) (nodeStats, error) { return rt.admin.stats(ctx, o) }) {
		if said.err == nil && boot != "" && said.value.Boot == boot {
			return said.node.Name
		}
	}
	return ""
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
	case !validToken(secret.Reveal(n.Token)):
		wrong = "\"token\" must be printable ASCII without blanks"
	default:
		return nil
	}
	return refusing(http.StatusBadRequest, wrong)
}

func (rt *Router) deleteNode(name string) (answer, error) {
	n, err := rt.knownNode(name)
	if err != nil {
		return answer{}, err
	}
	if err := rt.directory.DeleteNode(name); err != nil {
		return answer{}, fmt.Errorf("node %s: %w", name, err)
	}
	rt.fleet.endDrain(name)
	rt.forwarder.Forget(n.Addr)
	return answer{status: http.StatusNoContent}, nil
}

// knownNode returns the node that a path names.
func (rt *Router) knownNode(name string) (Node, error) {
	if !ValidName(name) {
		return Node{}, ErrName
	}
	n, ok := rt.directory.Node(name)
	if !ok {
		return Node{}, fmt.Errorf("node %s: %w", name, ErrUnknownNode)
	}
	return n, nil
}

// putAttrs replaces what the placing of tenants goes by. Whether the node is being
// drained has routes of its own and stays as it is.
func (rt *Router) putAttrs(r *http.Request, name string) (answer, error) {
	n, err := rt.knownNode(name)
	if err != nil {
		return answer{}, err
	}
	var a Attrs
	var role string
	var maxTenants int64
	err = readMembers(r, members{
		"role":        textTo(&role),
		"max_tenants": countTo(&maxTenants),
		"max_bytes":   countTo(&a.MaxBytes),
		"labels":      textsTo(&a.Labels),
	})
	if err != nil {
		return answer{}, err
	}
	a.Role, a.MaxTenants = Role(role), int(maxTenants)
	_, err = rt.changeAttrs(name, func(before Attrs) Attrs {
		a.Draining = before.Draining
		return a
	})
	if err != nil {
		return answer{}, fmt.Errorf("node %s: %w", name, err)
	}
	return answer{http.StatusOK, rt.listed(n)}, nil
}

// changeAttrs changes a node's attributes, one change at a time, and returns them.
func (rt *Router) changeAttrs(node string, change func(Attrs) Attrs) (Attrs, error) {
	rt.fleet.attrs.Lock()
	defer rt.fleet.attrs.Unlock()
	err := rt.directory.SetAttrs(node, change(rt.directory.Attrs(node)))
	return rt.directory.Attrs(node), err
}
