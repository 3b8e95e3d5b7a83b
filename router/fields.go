package router

import "github.com/fenec-go/fenecdb/internal/http1"

// hop decides which header lines of a message end at the router.
type hop struct {
	fields []http1.Field
	lists  bool // a Connection line names other fields
}

func newHop(fields []http1.Field) hop {
	h := hop{fields: fields}
	for i := range fields {
		h.lists = h.lists || isConnection(&fields[i]) && !plainConnection(fields[i].Value)
	}
	return h
}

func isConnection(f *http1.Field) bool { return len(f.Name) == len("connection") && f.Is("connection") }

// plainConnection reports whether a Connection value names no field.
func plainConnection(value []byte) bool {
	return http1.EqualFold(value, "keep-alive") || http1.EqualFold(value, "close")
}

// ends reports whether the field speaks about one connection only. Those that
// the router writes itself are left to the caller.
func (h *hop) ends(f *http1.Field) bool {
	switch len(f.Name) {
	case len("te"):
		if f.Is("te") {
			return true
		}
	case len("trailer"):
		if f.Is("trailer") || f.Is("upgrade") {
			return true
		}
	case len("connection"):
		if f.Is("connection") || f.Is("keep-alive") {
			return true
		}
	case len("transfer-encoding"):
		if f.Is("transfer-encoding") {
			return true
		}
	case len("proxy-authenticate"):
		if f.Is("proxy-authenticate") {
			return true
		}
	case len("proxy-authorization"):
		if f.Is("proxy-authorization") {
			return true
		}
	}
	return h.lists && h.listed(f.Name)
}

// listed reports whether a Connection line names the field.
func (h *hop) listed(name []byte) bool {
	for i := range h.fields {
		if !isConnection(&h.fields[i]) {
			continue
		}
		for list := h.fields[i].Value; len(list) > 0; {
			var item []byte
			item, list = http1.NextToken(list)
			if http1.SameName(item, name) {
				return true
			}
		}
	}
	return false
}
