package serve

import (
	"net/http"
	"time"

	"github.com/fenec-go/fenecdb/internal/metrics"
)

// observe notes a statement that has been answered: in the metrics, in the
// figures of its shape, and in the logs.
func (c *call) observe(a *Answer) {
	s := c.server
	took := time.Since(c.began) - c.waited
	kind, failed := metrics.Read, a.Status >= http.StatusBadRequest
	if a.wrote {
		kind = metrics.Write
	}
	s.statements.Observe(kind, took, failed)
	if c.use != nil { // what never came to a database is nobody's
		s.shapes.Observe(c.source.Tenant, c.shapeText(), took, a.rows, failed)
	}
	if s.slow != nil && took >= s.opts.SlowAfter {
		s.slowStatements.Add(1)
		e := s.slow.Begin("slow", "warn", c.origin())
		e.Float("duration_ms", float64(took)/float64(time.Millisecond))
		e.Text("kind", kind.String())
		e.Bool("failed", failed)
		e.Text("statement", c.statementText())
		s.slow.End(e)
	}
}

// Refused notes a request that carried no token that opens its path, for a handler
// beside the surface that has asked for one itself, and waits for as long as its
// answer has to.
func (s *Server) Refused(w http.ResponseWriter, r *http.Request) {
	(&call{server: s, w: w, r: r}).refused()
}

// Administered writes the audit line of a request that changed something beside
// the surface.
func (s *Server) Administered(w http.ResponseWriter, r *http.Request, status int) {
	if s.audit == nil {
		return
	}
	c := &call{server: s, w: w, r: r}
	e := s.audit.Begin("admin", "info", c.origin())
	e.Text("method", r.Method)
	e.Text("path", r.URL.Path)
	e.Int("http_status", status)
	s.audit.End(e)
}

// Administers has h answer a request that changes something beside the surface, and
// writes its audit line.
func (s *Server) Administers(w http.ResponseWriter, r *http.Request, h http.HandlerFunc) {
	noted := &noteStatus{w, http.StatusOK}
	h(noted, r)
	s.Administered(w, r, noted.status)
}

// noteStatus notes the status of an answer.
type noteStatus struct {
	http.ResponseWriter
	status int
}

func (w *noteStatus) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *noteStatus) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// refused notes a request that carried no token that opens its path, and waits
// for as long as its answer has to, unless a router sees to that.
func (c *call) refused() {
	s := c.server
	s.refusals.Add(1)
	if s.audit != nil {
		e := s.audit.Begin("refused", "warn", c.origin())
		e.Text("method", c.r.Method)
		e.Text("path", c.r.URL.Path)
		s.audit.End(e)
	}
	if _, ok := s.forwarded(c.r); ok {
		return // the router waits, and knows which client it is
	}
	wait := time.NewTimer(s.delays.Refused(c.r.RemoteAddr))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-s.closing.Done():
	case <-c.r.Context().Done():
		// Who closes a half of the connection may still read: no answer, lest that be
		// the way around the wait.
		panic(http.ErrAbortHandler)
	}
}

// audited notes a statement that changed the schema, or tried to.
func (c *call) audited(t *traits, a *Answer) {
	log := c.server.audit
	if log == nil || t.verb != verbSchema && t.verb != verbCompact {
		return
	}
	e := log.Begin("schema", "info", c.origin())
	e.Text("statement", t.shape)
	e.Bool("failed", a.Status >= http.StatusBadRequest)
	log.End(e)
}
