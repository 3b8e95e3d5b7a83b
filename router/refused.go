package router

import (
	"encoding/json"

	"github.com/fenec-go/fenecdb/internal/eventlog"
	"github.com/fenec-go/fenecdb/internal/http1"
)

// refused notes a request that was refused for want of a valid token, by the router or
// by a tenant's node, and waits for as long as its answer has to. A client that has not
// waited gets none: who could have the answer at once by closing half of a connection
// would not have to wait at all. The error is errAborted then.
func (rt *Router) refused(w waiter, in *incoming, tenant []byte) error {
	if rt.audit != nil {
		e := rt.audit.Begin("refused", "warn", in.origin(tenant))
		e.Text("method", in.Method.String())
		e.Text("path", in.plainPath())
		rt.audit.End(e)
	}
	if !rt.wait(w, rt.delays.Refused(in.remote), nil) && !rt.isStopping() {
		return errAborted
	}
	return nil
}

// accepted forgets the refusals of whoever sent a request that a node has let in for its
// token. Only an answer to a request for data says so: others are given to anybody.
func (rt *Router) accepted(in *incoming, d *destination, status int) {
	if status/100 != 2 || !rt.delays.Any() || !dataRoute(in.Method, d.target) {
		return
	}
	if _, ok := http1.Find(in.Fields, "authorization"); ok {
		rt.delays.Accepted(in.remote)
	}
}

// administered writes the audit line of a request under /_shard/ that changes
// something.
func (rt *Router) administered(in *incoming, a *capture) {
	if rt.audit == nil || in.Method == http1.GET || in.Method == http1.HEAD {
		return
	}
	tenant, to := in.about()
	e := rt.audit.Begin("admin", "info", in.origin([]byte(tenant)))
	e.Text("method", in.Method.String())
	e.Text("path", in.plainPath())
	if to != "" {
		e.Text("to", to)
	}
	if a.changed.old != nil {
		e.Value("old", a.changed.old)
	}
	if a.changed.new != nil {
		e.Value("new", a.changed.new)
	}
	e.Int("http_status", a.status)
	rt.audit.End(e)
}

// about returns the tenant that a request under /_shard/ is about, and the node that it
// is to be moved to; "" where there is none.
func (in *incoming) about() (tenant, to string) {
	path := http1.Segments(in.Target)
	if len(path) < 3 || path[1] != "tenants" {
		return "", ""
	}
	if len(path) == 4 && path[3] == "move" {
		var move struct {
			To string `json:"to"`
		}
		json.Unmarshal(in.body, &move) // what cannot be read names no node
		to = move.To
	}
	return path[2], to
}

func (in *incoming) origin(tenant []byte) eventlog.Origin {
	return eventlog.Origin{Peer: in.remote, RequestID: string(in.id), Tenant: string(tenant)}
}

// plainPath returns the path as logs have it: decoded, and without the query.
func (in *incoming) plainPath() string {
	return string(http1.Unescape(nil, http1.Path(in.Target)))
}
