package serve

import (
	"net/http"
	"time"

	"github.com/fenec-go/fenecdb/fenec/serve/internal/metrics"
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
	s.shapes.Observe(c.source.Tenant, c.shapeText(), took, a.rows, failed)
	if s.slow != nil && took >= s.opts.SlowAfter {
		s.slowStatements.Add(1)
		e := s.slow.begin(c, "slow", "warn")
		e.float("duration_ms", float64(took)/float64(time.Millisecond))
		e.text("kind", kind.String())
		e.bool("failed", failed)
		e.text("statement", c.statementText())
		s.slow.end(e)
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
	e := s.audit.begin(c, "admin", "info")
	e.text("method", r.Method)
	e.text("path", r.URL.Path)
	e.int("http_status", status)
	s.audit.end(e)
}

// refused notes a request that carried no token that opens its path, and waits
// for as long as its answer has to.
func (c *call) refused() {
	s := c.server
	s.refusals.Add(1)
	if s.audit != nil {
		e := s.audit.begin(c, "refused", "warn")
		e.text("method", c.r.Method)
		e.text("path", c.r.URL.Path)
		s.audit.end(e)
	}
	wait := time.NewTimer(s.delays.Refused(c.r.RemoteAddr))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-c.r.Context().Done():
	case <-s.closing.Done():
	}
}

// audited notes a statement that changed the schema, or tried to.
func (c *call) audited(t *traits, a *Answer) {
	log := c.server.audit
	if log == nil || t.verb != verbSchema && t.verb != verbCompact {
		return
	}
	e := log.begin(c, "schema", "info")
	e.text("statement", t.shape)
	e.bool("failed", a.Status >= http.StatusBadRequest)
	log.end(e)
}
