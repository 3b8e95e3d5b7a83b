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

// rowsOf returns how many rows a result answers, or else how many were written.
func rowsOf(res *fenec.Result) int {
	if res.Kind() == fenec.KindRows {
		return res.Len()
	}
	return res.Affected()
}

// single answers with the result of one statement. The answer's body is the call's
// memory: there is one such answer at a time.
func (c *call) single(res *fenec.Result) Answer {
	body, err := res.AppendJSON(c.out[:0])
	if err != nil {
		return Error(err)
	}
	c.out = body
	a := Answer{Status: 200, Body: body, wrote: res.Wrote(), rows: rowsOf(res)}
	if a.wrote {
		a.Seq = res.Seq()
		a.nothing = res.Affected() == 0 && res.Kind() != fenec.KindMessage
	}
	return a
}
