package serve

import (
	"context"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/rest"
)

// rest answers a request of a collection's own route.
func (c *call) rest(ctx context.Context) Answer {
	st, err := rest.Translate(c.collection, rest.Request{
		Method: c.r.Method,
		Path:   c.path,
		Query:  c.queryPairs(),
		Body:   c.body,
		Args:   c.args[:0],
	})
	if err != nil {
		return Error(err)
	}
	c.args = st.Args
	if st.Writes() {
		return c.restWrite(ctx, &st)
	}
	if st.Answer == rest.Rows {
		t, err := c.server.known.of(st.Text)
		if err != nil {
			return Error(err)
		}
		return c.rows(ctx, fenec.Statement{Text: st.Text, Args: st.Args}, t, Answer{}, whole)
	}
	res, err := c.ask(ctx, c.view, fenec.Statement{Text: st.Text, Args: st.Args})
	if err != nil {
		return Error(err)
	}
	return c.restAnswer(&st, res)
}

func (c *call) restWrite(ctx context.Context, st *rest.Statement) Answer {
	a := c.tryRestWrite(ctx, st)
	a.wrote = true
	return a
}

func (c *call) tryRestWrite(ctx context.Context, st *rest.Statement) Answer {
	key, refusal := c.admit(false)
	if refusal != nil {
		return *refusal
	}
	if key != nil {
		return c.keyed(ctx, *key, func(tx *fenec.Tx) (Answer, error) {
			res, err := tx.Query(ctx, st.Text, st.Args...)
			if err != nil {
				return Answer{}, c.explain(err, st.Text)
			}
			a := c.restAnswer(st, res)
			return a, a.cause
		})
	}
	res, err := c.view.Query(ctx, st.Text, st.Args...)
	if err != nil {
		return Error(c.explain(err, st.Text))
	}
	return c.restAnswer(st, res)
}

// restAnswer answers with the result of a statement in the form that its route
// has.
func (c *call) restAnswer(st *rest.Statement, res *fenec.Result) Answer {
	body, err := checked(st.AppendJSON(c.out[:0], res))
	if err != nil {
		return Error(err)
	}
	c.out = body
	a := Answer{Status: http.StatusOK, Body: body, rows: rowsOf(res)}
	if st.Answer == rest.Inserted {
		a.Status = http.StatusCreated
	}
	if res.Wrote() {
		a.Seq = res.Seq()
	}
	return a
}

// shape returns what the request's subscription follows, and from where.
func (c *call) shape() (fenec.Shape, uint64, *Answer) {
	shape, since, err := rest.Follow(c.collection, c.path[0], c.queryPairs())
	if err != nil {
		a := Error(err)
		return shape, since, &a
	}
	return shape, since, nil
}
