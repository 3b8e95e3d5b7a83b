package openapi

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
)

// Options say what the server is like.
type Options struct {
	Version  string // of the server
	Secured  bool   // requests need a token
	ReadOnly bool   // the routes that write are left out
}

// Document returns the document of a database with these collections. Those whose
// names begin with an underscore are the server's own and left out.
func Document(collections []*catalog.Collection, o Options) ([]byte, error) {
	d := document{
		OpenAPI: "3.1.0",
		Info:    info{Title: "FenecDB", Version: o.Version},
		Paths:   map[string]*pathItem{},
		Components: components{
			Schemas:    sharedSchemas(),
			Parameters: sharedParameters(),
			Responses:  map[string]*response{"error": {Description: "what was wrong", Content: inJSON(refTo("error"))}},
		},
	}
	if o.Secured {
		d.Components.Security = map[string]security{"bearer": {"http", "bearer"}}
		d.Security = []map[string][]string{{"bearer": {}}}
	}
	for _, c := range collections {
		if !strings.HasPrefix(c.Name, "_") {
			collection{c, d.Paths, !o.ReadOnly}.add(d.Components.Schemas)
		}
	}
	addFixed(d.Paths)
	return encode(&d)
}

func encode(d *document) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'}), nil
}
