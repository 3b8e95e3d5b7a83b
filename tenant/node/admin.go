package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/tenant"
)

// serveAdmin answers a request under /_admin/.
func (n *Node) serveAdmin(w http.ResponseWriter, r *http.Request, path []string) {
	if !n.opts.AdminToken.Opens(serve.Bearer(r.Header)) {
		n.server.Refused(w, r)
		serve.Unauthorized().Write(w, r)
		return
	}
	if r.Method == http.MethodGet && len(path) == 3 && path[0] == "tenants" && path[2] == "file" {
		n.sendImage(w, r, path[1])
		return
	}
	if len(path) == 1 && path[0] == "lease" {
		n.server.Send(w, r, n.leased(r)) // several times a term: that is nothing to audit
		return
	}
	a := n.admin(w, r, path)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		n.server.Administered(w, r, a.Status)
	}
	n.server.Send(w, r, a)
}

// admin answers a request that carries the token.
func (n *Node) admin(w http.ResponseWriter, r *http.Request, path []string) serve.Answer {
	if len(path) == 1 && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		return n.overview(r, path[0])
	}
	if len(path) < 2 || path[0] != "tenants" {
		return serve.NotFound(r)
	}
	name := path[1]
	if err := tenant.CheckName(name); err != nil {
		return failure(err)
	}
	if len(path) == 2 {
		return n.lifecycle(r, name)
	}
	if len(path) == 3 {
		return n.tenant(w, r, name, path[2])
	}
	return serve.NotFound(r)
}

// overview answers a request about all tenants.
func (n *Node) overview(r *http.Request, what string) serve.Answer {
	switch what {
	case "stats":
		st, err := n.tenants.Stats()
		return answer(http.StatusOK, struct {
			Tenants int    `json:"tenants"`
			Disk    int64  `json:"disk"`
			Memory  int64  `json:"memory"`
			Open    int    `json:"open"`
			Boot    string `json:"boot"`
		}{st.Tenants, st.Disk, st.Memory, st.Open, n.tenants.Boot()}, err)
	case "open":
		return n.openTenants()
	case "tenants":
		names, err := n.tenants.List()
		return answer(http.StatusOK, orEmpty(names), err)
	case "sizes":
		sizes, err := n.tenants.Sizes()
		return answer(http.StatusOK, sizes, err)
	case "usage":
		return n.report(r)
	case "degraded":
		return n.degraded()
	case "following":
		return jsonAnswer(http.StatusOK, n.replicator.following())
	}
	return serve.NotFound(r)
}

// orEmpty returns a list that is [] in JSON where there is none.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (n *Node) openTenants() serve.Answer {
	type openTenant struct {
		Name   string `json:"name"`
		Memory int64  `json:"memory"`
		Frozen bool   `json:"frozen"`
	}
	list := []openTenant{}
	for _, t := range n.tenants.Opened() {
		list = append(list, openTenant(t))
	}
	return jsonAnswer(http.StatusOK, list)
}

// allDegraded returns the tenants that are degraded here, and the replicas that are known
// to differ from their primaries, or that the disk takes nothing for, which the former may
// be among.
func (n *Node) allDegraded() []tenant.Degradation {
	list := n.tenants.Degraded()
	if n.replicator == nil {
		return list
	}
	known := map[string]bool{}
	for _, d := range list {
		known[d.Name] = true
	}
	for _, d := range n.replicator.followers.degraded() {
		if !known[d.Name] {
			list = append(list, d)
		}
	}
	return list
}

func (n *Node) degraded() serve.Answer {
	type degradedTenant struct {
		Name  string    `json:"name"`
		Error string    `json:"error"`
		Since time.Time `json:"since"`
	}
	list := []degradedTenant{}
	for _, d := range n.allDegraded() {
		list = append(list, degradedTenant{d.Name, d.Err.Error(), d.Since.UTC().Truncate(time.Millisecond)})
	}
	return jsonAnswer(http.StatusOK, list)
}

// lifecycle answers a request that makes a tenant, removes it, or asks how far it has
// come.
func (n *Node) lifecycle(r *http.Request, name string) serve.Answer {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		p, err := n.tenants.Position(r.Context(), name)
		if err != nil {
			return failure(err)
		}
		return n.position(name, p)
	case http.MethodPut:
		return n.create(r, name)
	case http.MethodDelete:
		remove := n.tenants.Delete
		switch purge := r.URL.Query()["purge"]; {
		case len(purge) == 0:
		case len(purge) == 1 && (purge[0] == "1" || purge[0] == "true"):
			remove = n.tenants.DeleteNow
		default:
			return serve.Fail(http.StatusBadRequest, "purge is 1 or true, or left out")
		}
		if err := remove(r.Context(), name); errors.Is(err, tenant.ErrBusy) {
			return serve.Fail(http.StatusConflict, err.Error())
		} else if err != nil {
			return failure(err)
		}
		return serve.Answer{Status: http.StatusNoContent}
	}
	return serve.NotFound(r)
}

// tenant answers a request about one tenant.
func (n *Node) tenant(w http.ResponseWriter, r *http.Request, name, what string) serve.Answer {
	switch {
	case what == "quota":
		return n.quota(r, name)
	case what == "settings":
		return n.settings(r, name)
	case what == "usage" && r.Method == http.MethodGet:
		return n.usage(r, name)
	case what == "file" && r.Method == http.MethodPut:
		err := n.tenants.Import(r.Context(), name, r.Body, r.ContentLength)
		return answer(http.StatusCreated, map[string]string{"imported": name}, err)
	case what == "undelete" && r.Method == http.MethodPost:
		err := n.tenants.Undelete(r.Context(), name)
		return answer(http.StatusOK, map[string]string{"restored": name}, err)
	case what == "freeze" && r.Method == http.MethodPost:
		return n.freeze(r, name)
	case what == "thaw" && r.Method == http.MethodPost:
		err := n.tenants.Thaw(r.Context(), name)
		return answer(http.StatusOK, map[string]bool{"frozen": false}, err)
	case what == "schema" && r.Method == http.MethodPost:
		return n.applySchema(w, r, name)
	case what == "follow" && r.Method == http.MethodPost:
		return n.follow(r, name)
	case what == "promote" && r.Method == http.MethodPost:
		return n.promote(r, name)
	case what == "digest" && r.Method == http.MethodGet:
		return n.digest(r, name)
	}
	return serve.NotFound(r)
}

// longestFreeze is the longest that a freeze may be bounded to, in milliseconds: a day.
const longestFreeze = 24 * 60 * 60 * 1000

// freeze answers POST /_admin/tenants/<t>/freeze, whose body may say for how many
// milliseconds.
func (n *Node) freeze(r *http.Request, name string) serve.Answer {
	body, refusal := smallBody(r, 1<<10)
	if refusal != nil {
		return *refusal
	}
	d, ok := freezeTime(body)
	if !ok {
		return serve.Fail(http.StatusBadRequest, `want no body, or {"ms": n} with how long, in milliseconds, a day at most`)
	}
	f, err := n.tenants.Freeze(r.Context(), name, d)
	return answer(http.StatusOK, struct {
		Frozen bool   `json:"frozen"`
		Seq    uint64 `json:"seq"`
		Boot   string `json:"boot"`
	}{true, f.Seq, f.Boot}, err)
}

// freezeTime reads the body of a freeze: for how long it is to be, 0 for no end.
func freezeTime(body []byte) (d time.Duration, ok bool) {
	if len(body) == 0 {
		return 0, true
	}
	list, err := members(body)
	value, given := list["ms"]
	switch {
	case err != nil || len(list) > 1 || len(list) == 1 && !given:
		return 0, false
	case !given || string(value) == "null":
		return 0, true
	}
	var ms int64
	if json.Unmarshal(value, &ms) != nil || ms < 1 || ms > longestFreeze {
		return 0, false
	}
	return time.Duration(ms) * time.Millisecond, true
}

// applySchema answers POST /_admin/tenants/<t>/schema.
func (n *Node) applySchema(w http.ResponseWriter, r *http.Request, name string) serve.Answer {
	body, refusal := smallBody(r, maxSchema)
	if refusal != nil {
		return *refusal
	}
	source := n.source(name)
	use, refused := source.Open(r.Context())
	if refused != nil {
		return *refused
	}
	defer use.Release()
	return n.server.ApplySchema(w, r, use, body)
}

// maxSchema is the longest description of a schema, in bytes.
const maxSchema = 1 << 20

// sendImage answers GET /_admin/tenants/<t>/file: the tenant's database, with its
// length, as it is at that moment.
func (n *Node) sendImage(w http.ResponseWriter, r *http.Request, name string) {
	m, err := n.tenants.Image(r.Context(), name)
	if err != nil {
		n.server.Send(w, r, failure(err))
		return
	}
	defer m.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", fmt.Sprint(m.Size()))
	w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(stallWriter{w, http.NewResponseController(w)}, m); err != nil {
		panic(http.ErrAbortHandler) // whoever takes it sees that it is cut short
	}
}

// stallWriter cuts off who does not read.
type stallWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (w stallWriter) Write(b []byte) (int, error) {
	// Where there are no deadlines, the server's own must do.
	_ = w.control.SetWriteDeadline(time.Now().Add(time.Minute))
	return w.ResponseWriter.Write(b)
}

// smallBody reads a body of at most that many bytes.
func smallBody(r *http.Request, most int64) ([]byte, *serve.Answer) {
	body, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	if err == nil && int64(len(body)) <= most {
		return body, nil
	}
	a := serve.Fail(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", most))
	if err != nil {
		a = serve.Fail(http.StatusBadRequest, "the body could not be read: "+err.Error())
	}
	return nil, &a
}

// answer answers with v, or with the error if there is one.
func answer(status int, v any, err error) serve.Answer {
	if err != nil {
		return failure(err)
	}
	return jsonAnswer(status, v)
}

func jsonAnswer(status int, v any) serve.Answer {
	body, err := json.Marshal(v)
	if err != nil {
		return serve.Error(err)
	}
	return serve.Answer{Status: status, Body: body}
}

// writeMetrics returns the node's own figures.
func (n *Node) writeMetrics() ([]serve.Figure, error) {
	st, err := n.tenants.Stats()
	figures := []serve.Figure{
		{Name: "fenec_tenants", Help: "Tenants.", Value: int64(st.Tenants)},
		{Name: "fenec_tenants_open", Help: "Tenants whose database is open.", Value: int64(st.Open)},
		{Name: "fenec_tenants_degraded", Help: "Tenants whose database does not open, takes no writes since the disk has refused one, or differs from its primary's.", Value: int64(len(n.allDegraded()))},
		{Name: "fenec_tenants_disk_bytes", Help: "Bytes on disk of all tenants.", Value: st.Disk},
		{Name: "fenec_memory_bytes", Help: "Bytes of memory that open databases hold.", Value: st.Memory},
		{Name: "fenec_vectors_unlinked", Help: "Vectors of open databases that are not linked into a graph yet.", Value: n.unlinked()},
	}
	return append(append(figures, n.lease.figures()...), n.replicator.figures()...), err
}

// unlinked returns how many vectors of open tenants are not linked into a graph yet.
func (n *Node) unlinked() (total int64) {
	for _, o := range n.open.all() {
		if st, err := o.db.Stats(); err == nil { // else it is being closed
			total += st.UnlinkedVectors
		}
	}
	return total
}

// MetricsHandler returns a handler that answers /_metrics and nothing else, for a
// listener of its own.
func (n *Node) MetricsHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if serve.Begin(w, r) {
			n.server.ServeNode(w, r, serve.Segments(r.URL), n.writeMetrics)
		}
	})
}
