package router_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// parts are what a small node keeps for its tenants, beside how many bytes they have.
type parts struct {
	quotas map[string]string // as they were sent
	// refuse is the status of every request for a part, if not 0, and says what is
	// answered with it.
	refuse int
	says   string
	// gate lets a schema be applied once it is closed; may be nil.
	gate chan struct{}
	// schemas are those that were applied, by tenant.
	schemas map[string]string
}

// servePart answers a request under /_admin/tenants/<tenant>/, with the node's lock
// held.
func (n *node) servePart(w http.ResponseWriter, r *http.Request, name, part string) {
	body, _ := io.ReadAll(r.Body)
	_, exists := n.tenants[name]
	switch {
	case n.parts.refuse != 0:
		w.WriteHeader(n.parts.refuse)
		io.WriteString(w, n.parts.says)
	case !exists:
		w.WriteHeader(404)
		io.WriteString(w, `{"error":"no such tenant"}`)
	case part == "quota" && r.Method == "PUT":
		n.parts.keep(&n.parts.quotas, name, string(body))
		w.Write(body)
	case part == "quota" && r.Method == "GET":
		io.WriteString(w, n.quotaOf(name))
	case part == "usage" && r.Method == "GET":
		fmt.Fprintf(w, `{"bytes":%d,"quota":%s}`, n.tenants[name], n.quotaOf(name))
	case part == "schema" && r.Method == "POST":
		if n.parts.gate != nil {
			<-n.parts.gate
		}
		n.parts.keep(&n.parts.schemas, name, string(body))
		io.WriteString(w, `{"kind":"schema","applied":true}`)
	case part == "freeze" && r.Method == "POST":
		io.WriteString(w, `{"frozen":true,"seq":1,"boot":"b"}`)
	default:
		w.WriteHeader(404)
	}
}

func (p *parts) keep(in *map[string]string, name, value string) {
	if *in == nil {
		*in = map[string]string{}
	}
	(*in)[name] = value
}

// quotaOf returns the quota that the node holds a tenant to.
func (n *node) quotaOf(name string) string {
	if kept, ok := n.parts.quotas[name]; ok && json.Valid([]byte(kept)) {
		return kept
	}
	return "{}"
}
