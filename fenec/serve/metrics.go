package serve

import (
	"net/http"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/internal/metrics"
)

// MetricsHandler returns a handler that answers /_metrics and nothing else, for a
// listener of its own. db is the database that is told of beside the server; nil
// for none.
func (s *Server) MetricsHandler(db *fenec.DB) http.Handler {
	source := always(db)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !Begin(w, r) {
			return
		}
		c := &call{server: s, w: w, r: r, path: Segments(r.URL), source: source}
		if reads(r.Method) && c.at("_metrics") {
			c.send(c.metrics())
			return
		}
		c.send(c.notFound())
	})
}

// scrapes lets in who may read figures: who may do everything, and who carries
// the token for it.
func (c *call) scrapes() *Answer {
	token := Bearer(c.r.Header)
	o := &c.server.opts
	if o.MetricsToken.Opens(token) || o.Token.Opens(token) || o.Token.IsZero() && o.MetricsToken.IsZero() && o.Tokens == nil {
		return nil
	}
	if c.source.Tenant != "" {
		if who, refusal := c.server.identify(c.r); refusal == nil && who.kind == scoped {
			c.who = who
			if refusal := c.foreign(); refusal != nil {
				return refusal
			}
		}
	}
	a := Unauthorized()
	c.refused()
	return &a
}

// metrics answers GET /_metrics.
func (c *call) metrics() Answer {
	if refusal := c.scrapes(); refusal != nil {
		return *refusal
	}
	use, refusal := c.source.Open(c.r.Context())
	if refusal != nil {
		return *refusal
	}
	defer use.Release()
	var p metrics.Page
	c.server.writeMetrics(&p)
	if use.DB != nil {
		st, err := use.DB.Stats()
		if err != nil {
			return Error(err)
		}
		writeStats(&p, &st)
	}
	if c.source.Figures != nil {
		writeFigures(&p, c.source.Figures())
	}
	return Answer{Status: http.StatusOK, Body: p.Bytes(), Header: http.Header{"Content-Type": {metrics.ContentType}}}
}

// writeMetrics writes what the server counts.
func (s *Server) writeMetrics(p *metrics.Page) {
	p.Family("fenec_build_info", metrics.Gauge, "1, with the version as a label.")
	p.Uint(1, "version", fenec.Version)
	p.Family("fenec_start_time_seconds", metrics.Gauge, "When the server started, in seconds since 1970.")
	p.Float(float64(s.began.UnixMilli()) / 1000)
	s.statements.Write(p)
	p.Family("fenec_slow_statements_total", metrics.Counter, "Statements that were written to the slow log.")
	p.Uint(s.slowStatements.Load())
	p.Family("fenec_refused_total", metrics.Counter, "Requests refused for want of a valid token.")
	p.Uint(s.refusals.Load())
	if t := s.opts.Tracer; t != nil {
		exported, full, lost := t.t.Counts()
		p.Family("fenec_trace_spans_exported_total", metrics.Counter, "Spans that the collector took.")
		p.Uint(exported)
		p.Family("fenec_trace_spans_dropped_total", metrics.Counter, "Spans that were dropped.")
		p.Uint(full, "reason", "queue_full")
		p.Uint(lost, "reason", "export_failed")
	}
	if connections := s.opts.Connections; connections != nil {
		p.Family("fenec_connections", metrics.Gauge, "Open connections.")
		p.Uint(uint64(connections()))
	}
	p.Family("fenec_streams", metrics.Gauge, "Open subscriptions.")
	p.Uint(uint64(s.streams.Load()))
}

// writeStats writes the figures of a database.
func writeStats(p *metrics.Page, st *fenec.Stats) {
	p.Family("fenec_documents", metrics.Gauge, "Documents.")
	for _, c := range st.Collections {
		p.Uint(uint64(c.Rows), "collection", c.Name)
	}
	p.Family("fenec_data_bytes", metrics.Gauge, "Bytes of the documents as they stand.")
	for _, c := range st.Collections {
		p.Uint(uint64(c.LiveBytes), "collection", c.Name)
	}
	p.Family("fenec_dead_bytes", metrics.Gauge, "0: free pages belong to no collection, see fenec_reclaimable_bytes.")
	for _, c := range st.Collections {
		p.Uint(0, "collection", c.Name)
	}
	failed := uint64(0)
	if st.Failure != nil {
		failed = 1
	}
	for _, f := range []struct {
		name  string
		kind  metrics.Type
		help  string
		value uint64
	}{
		{"fenec_file_bytes", metrics.Gauge, "Bytes of the file and its logs.", uint64(st.DiskBytes)},
		{"fenec_reclaimable_bytes", metrics.Gauge, "Bytes of free pages, which compact gives back.", uint64(st.FreeBytes)},
		{"fenec_auto_compactions_total", metrics.Counter, "Compactions that began by themselves.", st.AutoCompactions},
		{"fenec_memory_bytes", metrics.Gauge, "Bytes of memory held by writes, history and graphs.", uint64(st.MemoryBytes)},
		{"fenec_change_sequence", metrics.Gauge, "Number of the last change.", st.Seq},
		{"fenec_storage_failed", metrics.Gauge, "1 once the disk has refused a write, which ends all writing.", failed},
		{"fenec_vectors_unlinked", metrics.Gauge, "Vectors that are not linked into a graph yet.", uint64(st.UnlinkedVectors)},
	} {
		p.Family(f.name, f.kind, f.help)
		p.Uint(f.value)
	}
}
