package serve

import (
	"context"
	"net/http"
	"time"

	"github.com/fenec-go/fenecdb/internal/metrics"
)

// Figure is a figure for /_metrics of whoever serves databases.
type Figure struct {
	Name, Help string
	Value      int64 // of the moment
}

// ServeNode answers a request that is for no database, as a node of many has them:
// its health, and its figures with those that figures returns.
func (s *Server) ServeNode(w http.ResponseWriter, r *http.Request, path []string, figures func() ([]Figure, error)) {
	if s.health(w, r, path) {
		return
	}
	nothing := Source{Open: func(context.Context) (*Use, *Answer) { return &Use{Release: func() {}}, nil }}
	c := &call{server: s, w: w, r: r, path: path, source: nothing, began: time.Now()}
	switch {
	case reads(r.Method) && c.at("_metrics"):
		s.cors.Forbid(w.Header())
		c.send(c.nodeMetrics(figures))
	case c.at("_stats", "statements"):
		c.send(c.shapes())
	default:
		c.send(c.notFound())
	}
}

func (c *call) nodeMetrics(figures func() ([]Figure, error)) Answer {
	if refusal := c.scrapes(); refusal != nil {
		return *refusal
	}
	list, err := figures()
	if err != nil {
		return Error(err)
	}
	var p metrics.Page
	c.server.writeMetrics(&p)
	writeFigures(&p, list)
	return Answer{Status: http.StatusOK, Body: p.Bytes(), Header: http.Header{"Content-Type": {metrics.ContentType}}}
}

func writeFigures(p *metrics.Page, list []Figure) {
	for _, f := range list {
		p.Family(f.Name, metrics.Gauge, f.Help)
		p.Uint(uint64(f.Value))
	}
}
