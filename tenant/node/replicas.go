package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/replication"
	"github.com/fenec-go/fenecdb/replication/mirror"
	"github.com/fenec-go/fenecdb/tenant"
)

// replicates refuses who does not carry the replication token.
func (n *Node) replicates(w http.ResponseWriter, r *http.Request) bool {
	if n.replicator != nil && n.opts.ReplicationToken.Opens(serve.Bearer(r.Header)) {
		return true
	}
	n.server.Refused(w, r)
	serve.Unauthorized().Write(w, r)
	return false
}

// serveReplication answers a request below /t/<name>/_replication.
func (n *Node) serveReplication(w http.ResponseWriter, r *http.Request, name string, path []string) {
	if !n.replicates(w, r) {
		return
	}
	var source *mirror.Source
	err := tenant.CheckName(name)
	if err == nil && n.replicator.ended.Load() {
		err = tenant.ErrClosed
	}
	if err == nil {
		// The source outlives the use: it tells who comes too late.
		err = n.replicator.withOpened(r.Context(), name, func(o *opened) error {
			source = o.source
			if len(path) == 0 {
				n.replicator.feeds(o)
			}
			return nil
		})
	}
	if err != nil {
		n.server.Send(w, r, failure(err))
		return
	}
	if len(path) == 1 && path[0] == "status" {
		n.replicator.followers.stir(name)
	}
	answer := func(w http.ResponseWriter, r *http.Request) { source.Serve(w, r, path) }
	if len(path) == 1 && path[0] == "promote" {
		n.server.Administers(w, r, answer)
		return
	}
	answer(w, r)
}

// serveBell answers GET /_replication/changed.
func (n *Node) serveBell(w http.ResponseWriter, r *http.Request) {
	if n.replicates(w, r) {
		n.replicator.bell.ServeHTTP(w, r)
	}
}

// position answers with where a tenant stands.
func (n *Node) position(name string, p tenant.Position) serve.Answer {
	role := "primary"
	o, _ := n.open.of(name)
	switch {
	case p.History.Following:
		role = "replica"
	case o != nil && o.unsettled.Load():
		role = "unsettled"
	}
	from, lag := "", (*int64)(nil)
	if p.History.Following {
		var err error
		if from, _, err = n.upstream(name); err != nil {
			return failure(err)
		}
		ms := n.replicator.lag(name)
		lag = &ms
	}
	return jsonAnswer(http.StatusOK, struct {
		Tenant     string         `json:"tenant"`
		Seq        uint64         `json:"seq"`
		Last       uint64         `json:"last"`
		Boot       string         `json:"boot"`
		Frozen     bool           `json:"frozen"`
		Role       string         `json:"role"`
		History    replication.ID `json:"history"`
		Incomplete bool           `json:"incomplete,omitempty"`
		Follows    string         `json:"follows,omitempty"`
		LagMs      *int64         `json:"lag_ms,omitempty"` // of one that follows; -1 if it is not known
	}{name, p.Seq, p.Last, p.Boot, p.Frozen, role, p.History.Lineage.Current(), p.History.Incomplete, from, lag})
}

// follow answers POST /_admin/tenants/<t>/follow.
func (n *Node) follow(r *http.Request, name string) serve.Answer {
	body, refusal := smallBody(r, 4<<10)
	if refusal != nil {
		return *refusal
	}
	from, thaw, err := followed(body)
	if err != nil {
		return serve.Fail(http.StatusBadRequest, err.Error())
	}
	err = n.Follow(r.Context(), name, from, thaw)
	if errors.Is(err, tenant.ErrFrozen) || errors.Is(err, tenant.ErrBusy) {
		return serve.Fail(http.StatusConflict, err.Error())
	}
	return answer(http.StatusOK, map[string]string{"following": name}, err)
}

// followed reads the body of a follow: whom, "" for the node's own, and whether a freeze
// ends with it.
func followed(body []byte) (from string, thaw bool, err error) {
	if len(body) == 0 {
		return "", false, nil
	}
	list, err := members(body)
	for key, value := range list {
		var into any
		switch key {
		case "from":
			into = &from
		case "thaw":
			into = &thaw
		default:
			return "", false, fmt.Errorf("%.64q is not known", key)
		}
		if err := json.Unmarshal(value, into); err != nil || string(value) == "null" {
			return "", false, errors.New(`want no body, or {"from": "http://host:port", "thaw": true}, of which either may be left out`)
		}
	}
	if err == nil && list["from"] != nil {
		from, err = mirror.ParsePrimary(from)
	}
	return from, thaw, err
}

// promote answers POST /_admin/tenants/<t>/promote.
func (n *Node) promote(r *http.Request, name string) serve.Answer {
	force := r.URL.Query().Get("force")
	if force != "" && force != "1" {
		return serve.Fail(http.StatusBadRequest, "force is 1, or left out")
	}
	h, err := n.Promote(r.Context(), name, force == "1")
	if err != nil {
		return failure(err)
	}
	return jsonAnswer(http.StatusOK, struct {
		Promoted string         `json:"promoted"`
		Seq      uint64         `json:"seq"`
		History  replication.ID `json:"history"`
	}{name, h.Lineage[len(h.Lineage)-1].From, h.Lineage.Current()})
}
