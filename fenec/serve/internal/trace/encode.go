package trace

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// The JSON of OTLP's ExportTraceServiceRequest (opentelemetry-proto, encoded as its
// "JSON Protobuf Encoding" says: ids in hexadecimal, 64-bit numbers as text).
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resource     `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope      `json:"scope"`
		Spans []spanJSON `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	spanJSON struct {
		TraceID    string     `json:"traceId"`
		SpanID     string     `json:"spanId"`
		TraceState string     `json:"traceState,omitempty"`
		ParentID   string     `json:"parentSpanId,omitempty"`
		Name       string     `json:"name"`
		Kind       int        `json:"kind"`
		Start      string     `json:"startTimeUnixNano"`
		End        string     `json:"endTimeUnixNano"`
		Attributes []keyValue `json:"attributes,omitempty"`
		Status     *status    `json:"status,omitempty"`
	}
	keyValue struct {
		Key   string   `json:"key"`
		Value anyValue `json:"value"`
	}
	anyValue struct {
		String *string `json:"stringValue,omitempty"`
		Int    *string `json:"intValue,omitempty"`
	}
	status struct {
		Code int `json:"code"`
	}
)

const (
	kindInternal = 1
	kindServer   = 2
	codeError    = 2
)

// encode returns the request that exports spans.
func (t *Tracer) encode(spans []*Span) ([]byte, error) {
	list := make([]spanJSON, len(spans))
	for i, s := range spans {
		list[i] = s.json()
	}
	service := "fenec"
	return json.Marshal(request{[]resourceSpans{{
		Resource:   resource{[]keyValue{{"service.name", anyValue{String: &service}}}},
		ScopeSpans: []scopeSpans{{scope{"fenec", t.version}, list}},
	}}})
}

func (s *Span) json() spanJSON {
	out := spanJSON{
		TraceID:    hex.EncodeToString(s.ids.trace[:]),
		SpanID:     hex.EncodeToString(s.ids.span[:]),
		TraceState: s.ids.state,
		Name:       s.name,
		Kind:       kindInternal,
		Start:      strconv.FormatInt(s.began.UnixNano(), 10),
		End:        strconv.FormatInt(s.ended.UnixNano(), 10),
	}
	if s.ids.parent != [8]byte{} {
		out.ParentID = hex.EncodeToString(s.ids.parent[:])
	}
	if s.server {
		out.Kind = kindServer
	}
	if s.failed {
		out.Status = &status{codeError}
	}
	for _, a := range s.attributes {
		out.Attributes = append(out.Attributes, a.json())
	}
	return out
}

func (a attribute) json() keyValue {
	if n, ok := a.value.(int); ok {
		text := strconv.Itoa(n)
		return keyValue{a.key, anyValue{Int: &text}}
	}
	text, _ := a.value.(string)
	return keyValue{a.key, anyValue{String: &text}}
}
