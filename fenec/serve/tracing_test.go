package serve_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
)

type spanOf struct {
	TraceID, SpanID, ParentSpanID, Name string
	Attributes                          []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
}

func (s *spanOf) attribute(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue + a.Value.IntValue
		}
	}
	return ""
}

func TestTraces(t *testing.T) {
	var mu sync.Mutex
	var spans []spanOf
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var got struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []spanOf } }
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &got) != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		spans = append(spans, got.ResourceSpans[0].ScopeSpans[0].Spans...)
	}))
	defer collector.Close()
	tracer, err := serve.OpenTracer(serve.TracerOptions{Endpoint: collector.URL, Sample: 1})
	require.NoError(t, err)
	c := start(t, serve.Options{Tracer: tracer}, tasks...)
	r := c.do("POST", "/query", `{"query":"put tasks {key: \"k3\"}"}`, "Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	c.do("GET", "/tasks?n=1", "", "Fenec-After: 4")
	c.do("GET", "/_health", "")
	c.do("GET", "/_metrics", "")
	require.NoError(t, tracer.Close())

	children := map[string][]string{}
	var servers []spanOf
	for _, s := range spans {
		if s.ParentSpanID == "b7ad6b7169203331" || s.ParentSpanID == "" {
			servers = append(servers, s)
		} else {
			children[s.ParentSpanID] = append(children[s.ParentSpanID], s.Name)
		}
	}
	require.Len(t, servers, 2)
	write, read := servers[0], servers[1]
	require.Equal(t, "POST /query", write.Name)
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", write.TraceID)
	require.Equal(t, "put tasks {key: $1}", write.attribute("db.query.text"))
	require.Equal(t, "put", write.attribute("db.operation.name"))
	require.Equal(t, "200", write.attribute("http.response.status_code"))
	require.Equal(t, r.header.Get("X-Request-Id"), write.attribute("fenec.request_id"))
	require.Equal(t, []string{"lock.wait", "durability", "execute"}, children[write.SpanID])
	require.Equal(t, "GET /{collection}", read.Name)
	require.Equal(t, "/tasks", read.attribute("url.path"))
	require.Equal(t, []string{"fenec.wait_for_write", "execute"}, children[read.SpanID])
	require.Contains(t, c.do("GET", "/_metrics", "").body, "fenec_trace_spans_exported_total 7")
}
