package http1

import "net/http"

// Detach tells a server that can be told that the connection is a stream's from
// now on: it then no longer counts it, and takes its buffers back between events.
func Detach(w http.ResponseWriter) {
	for {
		switch x := w.(type) {
		case interface{ Detach() }:
			x.Detach()
			return
		case interface{ Unwrap() http.ResponseWriter }:
			w = x.Unwrap()
		default:
			return
		}
	}
}
