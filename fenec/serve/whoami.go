package serve

import (
	"net/http"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// whoami answers GET /_whoami: what the server takes the sender for.
func (c *call) whoami() Answer {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return c.notAllowed("GET")
	}
	if refusal := c.authenticate(); refusal != nil {
		return *refusal
	}
	node, tenant := "single", []byte("null")
	if c.source.Tenant != "" {
		node, tenant = "dir", value.AppendJSONString(nil, c.source.Tenant)
	}
	body := append(append([]byte(`{"node":"`+node+`","tenant":`), tenant...), `,"read_only":`...)
	body = strconv.AppendBool(body, c.server.opts.ReadOnly)
	body = append(body, `,"kind":"`+c.who.kind.String()+`"`...)
	if c.who.token != nil {
		body = c.appendToken(body)
	}
	return OK(append(body, '}'))
}

// appendToken appends what a scoped identity's token says.
func (c *call) appendToken(dst []byte) []byte {
	token, tokens := c.who.token, c.server.opts.Tokens
	dst = append(dst, `,"sub":`...)
	if sub := token.Claims.Subject(); sub != "" {
		dst = value.AppendJSONString(dst, sub)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"tenants":`...)
	if names, ok := token.Claims.Texts(tokens.tenant); ok && c.source.Tenant != "" {
		dst = value.AppendJSONStrings(dst, names)
	} else {
		dst = append(dst, "null"...)
	}
	_, named := token.Claims.Get(tokens.tenant)
	dst = strconv.AppendBool(append(dst, `,"unbound":`...), c.source.Tenant != "" && !named)
	return token.As.AppendJSON(append(dst, ','))
}

// notAllowed answers that the path takes other methods only.
func (c *call) notAllowed(allowed string) Answer {
	a := Fail(http.StatusMethodNotAllowed, c.r.Method+" is not for "+c.r.URL.Path)
	a.Header = http.Header{"Allow": {allowed}}
	return a
}
