package router

import (
	"context"

	"github.com/fenec-go/fenecdb/internal/http1"
	"github.com/fenec-go/fenecdb/internal/secret"
)

// order is a request as it goes to a node.
type order struct {
	method http1.Method
	head   []byte
	body   []byte
	// repeatable tells that the request may run twice: it changes nothing, or
	// the node knows it again by its key.
	repeatable bool
	// ctx ends the connecting to a node.
	ctx context.Context
	// using is told each connection that the request is sent on; may be nil.
	using func(*upstream)
}

// incoming is a request as it came from a client.
type incoming struct {
	*http1.Request
	id     []byte // of the request, kept or made
	remote string // the client's address
	peer   string // the host of it, as it is named to a node
	host   string // that the client asks for; "" to find it in the request
	body   []byte // whole
	sealed bool   // the node is not to write for it
}

// set makes the order for the node out of what came in: the method as it is and the
// target, then the fields in their order, but for those that end here or that the
// router writes itself. It refers to in's body and reuses the order's own storage.
func (o *order) set(in *incoming, n Node, target []byte) {
	o.method, o.body = in.Method, in.body
	o.repeatable = isRepeatable(in.Request)
	b := http1.AppendRequestLine(o.head[:0], in.Method, target)
	b = http1.AppendField(b, "Host", n.Addr)
	hop := newHop(in.Fields)
	for i := range in.Fields {
		f := &in.Fields[i]
		if hop.ends(f) || ownRequestField(f) {
			continue
		}
		b = http1.AppendField(b, f.Name, f.Value)
	}
	if in.Length != http1.Unknown || in.Chunked {
		b = http1.AppendLength(b, int64(len(in.body)))
	}
	b = http1.AppendField(b, "Connection", "keep-alive")
	b = http1.AppendField(b, "X-Request-Id", in.id)
	if mark := secret.Mark(n.Token); mark != "" {
		b = append(b, "Fenec-Router: "...)
		b = append(b, in.peer...)
		b = append(b, ' ')
		b = append(b, mark...)
		b = append(b, "\r\n"...)
	}
	if in.sealed {
		b = http1.AppendField(b, "Fenec-Read-Only", "1")
	}
	o.head = http1.AppendEnd(b)
}

// isRepeatable reports whether a request may run twice. Nodes answer a write whose key
// they know with the answer that they gave before.
func isRepeatable(q *http1.Request) bool {
	if q.Method.Safe() {
		return true
	}
	key, _ := http1.Find(q.Fields, "idempotency-key")
	return len(key) > 0
}

// ownRequestField reports whether the router writes the field of a request
// itself, or answers to it.
func ownRequestField(f *http1.Field) bool {
	switch len(f.Name) {
	case len("host"):
		return f.Is("host")
	case len("expect"):
		return f.Is("expect")
	case len("x-request-id"):
		return f.Is("x-request-id") || f.Is("fenec-router")
	case len("content-length"):
		return f.Is("content-length")
	}
	return false
}
