package serve

import (
	"bytes"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// longestShape is the longest shape that figures are kept by, in bytes.
const longestShape = 1000

// shapeText returns the request without its values: the texts of its statements, or
// its method and target. It stands until the next call.
func (c *call) shapeText() []byte {
	if c.shown = c.appendShape(c.shown[:0]); len(c.shown) > longestShape {
		return bytes.ToValidUTF8(c.shown[:longestShape], nil)
	}
	return c.shown
}

func (c *call) appendShape(dst []byte) []byte {
	switch {
	case c.known != nil:
		return append(dst, c.known.shape...)
	case len(c.statements) == 0:
		return c.appendTarget(dst)
	}
	for i, st := range c.statements {
		if i > 0 {
			dst = append(dst, "; "...)
		}
		if dst = append(dst, c.server.known.shape(st.Text)...); len(dst) > longestShape {
			break
		}
	}
	return dst
}

func cutShape(s string) string {
	if len(s) <= longestShape {
		return s
	}
	return strings.Clone(strings.ToValidUTF8(s[:longestShape], ""))
}

// appendTarget appends the request's method and target without the values that
// filters compare with.
func (c *call) appendTarget(dst []byte) []byte {
	dst = append(append(dst, c.r.Method...), ' ')
	for _, piece := range c.path {
		dst = append(append(dst, '/'), piece...)
	}
	for i, pair := range c.queryPairs() {
		sep := byte('&')
		if i == 0 {
			sep = '?'
		}
		dst = append(append(append(dst, sep), pair.Key...), '=')
		if op, _, ok := strings.Cut(pair.Value, "."); ok && isOperator(op) {
			dst = append(append(dst, op...), '.')
		}
		dst = strconv.AppendInt(append(dst, '$'), int64(i+1), 10)
	}
	return dst
}

func isOperator(s string) bool {
	switch s {
	case "eq", "neq", "ne", "lt", "lte", "le", "gt", "gte", "ge", "like", "has", "in", "is", "not":
		return true
	}
	return false
}

// shapes answers /_stats/statements.
func (c *call) shapes() Answer {
	switch c.r.Method {
	case http.MethodGet, http.MethodHead, http.MethodDelete:
	default:
		return c.notAllowed("GET, DELETE")
	}
	if refusal := c.scrapes(); refusal != nil {
		return *refusal
	}
	if c.r.Method == http.MethodDelete {
		c.server.shapes.Forget(c.source.Tenant)
		return Answer{Status: http.StatusNoContent}
	}
	body := []byte(`{"statements":[`)
	for i, f := range c.server.shapes.List(c.source.Tenant) {
		if i > 0 {
			body = append(body, ',')
		}
		h := fnv.New64a()
		h.Write([]byte(f.Shape))
		body = value.AppendJSONString(append(body, `{"query":`...), f.Shape)
		if f.Tenant != "" {
			body = value.AppendJSONString(append(body, `,"tenant":`...), f.Tenant)
		}
		body = strconv.AppendInt(append(body, `,"queryid":"`...), int64(h.Sum64()), 10)
		body = strconv.AppendUint(append(body, `","calls":`...), f.Calls, 10)
		body = strconv.AppendUint(append(body, `,"rows":`...), f.Rows, 10)
		body = strconv.AppendUint(append(body, `,"errors":`...), f.Errors, 10)
		body = appendMS(append(body, `,"total_ms":`...), f.Total)
		body = appendMS(append(body, `,"mean_ms":`...), f.Total/time.Duration(f.Calls))
		body = appendMS(append(body, `,"min_ms":`...), f.Min)
		body = appendMS(append(body, `,"max_ms":`...), f.Max)
		body = append(body, '}')
	}
	return OK(append(body, "]}"...))
}

func appendMS(dst []byte, d time.Duration) []byte {
	return value.AppendJSONFloat(dst, float64(d)/float64(time.Millisecond))
}
