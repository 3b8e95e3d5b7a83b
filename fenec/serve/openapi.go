package serve

import (
	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/openapi"
)

// openapi answers GET /_openapi.json with the surface as the request may see it.
func (c *call) openapi() Answer {
	o := &c.server.opts
	body, err := openapi.Document(c.definitions(), openapi.Options{
		Version:  fenec.Version,
		Secured:  !o.Token.IsZero() || o.Tokens != nil,
		ReadOnly: o.ReadOnly,
	})
	if err != nil {
		return Error(err)
	}
	return OK(body)
}
