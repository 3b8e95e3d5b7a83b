package rest

import (
	"net/http"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

// Request is a request of a REST route.
type Request struct {
	Method string
	Path   []string // its segments: a collection's name and what may follow
	Query  []target.Pair
	Body   []byte // JSON
	Args   []any  // room for the statement's arguments; may be nil
}

// Translate returns the statement that answers a request. HEAD asks what GET
// does.
func Translate(schemas Schemas, req Request) (Statement, error) {
	name, of, ok := req.route()
	if !ok {
		return Statement{}, fault.New(fault.NotFound, "nothing at %s /%.200s", req.Method, strings.Join(req.Path, "/"))
	}
	c, err := schemas.find(name)
	if err != nil {
		return Statement{}, err
	}
	if req.Method == http.MethodGet || req.Method == http.MethodHead {
		return read(schemas, c, req.Query, req.Args)
	}
	if req.Method == http.MethodDelete {
		return remove(c, req.Query, of == "all")
	}
	body, err := value.ParseJSON(req.Body)
	if err != nil {
		return Statement{}, err
	}
	switch {
	case of == "near":
		return near(c, req.Query, body)
	case req.Method == http.MethodPost:
		return insert(c, body, req.Args)
	}
	return update(c, req.Query, body, of == "all")
}

// route returns the collection that a request is about and what of it, and
// whether there is such a route.
func (req *Request) route() (name, of string, ok bool) {
	switch len(req.Path) {
	case 1:
	case 2:
		of = req.Path[1]
	default:
		return "", "", false
	}
	switch req.Method {
	case http.MethodGet, http.MethodHead:
		ok = of == ""
	case http.MethodPost:
		ok = of == "" || of == "near"
	case http.MethodPatch, http.MethodPut, http.MethodDelete:
		ok = of == "" || of == "all"
	}
	return req.Path[0], of, ok
}
