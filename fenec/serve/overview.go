package serve

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// root answers GET / with the version and the collections' names.
func (c *call) root() Answer {
	body := value.AppendJSONString([]byte(`{"fenecdb":`), fenec.Version)
	body = value.AppendJSONStrings(append(body, `,"collections":`...), c.view.Collections())
	return OK(append(body, '}'))
}

// collections answers GET /collections with every schema.
func (c *call) collections(ctx context.Context) Answer {
	res, err := c.view.Query(ctx, "collections")
	if err != nil {
		return Error(err)
	}
	return c.single(res)
}
