package serve

import (
	"context"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec"
)

// query answers POST /query.
func (c *call) query(ctx context.Context) Answer {
	st, err := parseStatement(c.body, c.args[:0])
	if err != nil {
		return Fail(http.StatusBadRequest, err.Error())
	}
	c.args, c.alone[0] = st.Args, st
	c.statements = c.alone[:]
	t, err := c.server.known.of(st.Text)
	if err != nil {
		return Error(err)
	}
	c.known = t
	a := c.one(ctx, st, t)
	a.Ran = a.Status == http.StatusOK
	a.wrote = t.verb.writes()
	c.audited(t, &a)
	a.nothing = a.nothing || a.Status == http.StatusPreconditionFailed
	return a
}

// one runs one statement.
func (c *call) one(ctx context.Context, st fenec.Statement, t *traits) Answer {
	if !t.verb.writes() {
		return c.read(ctx, st, t)
	}
	if refusal := c.claims([]*traits{t}); refusal != nil {
		return *refusal
	}
	key, refusal := c.admit(t.verb == verbCompact)
	if refusal != nil {
		return *refusal
	}
	if key == nil {
		res, err := c.view.Query(ctx, st.Text, st.Args...)
		if err != nil {
			return c.fail(err)
		}
		return c.single(res)
	}
	return c.keyed(ctx, *key, func(tx *fenec.Tx) (Answer, error) {
		res, err := tx.Query(ctx, st.Text, st.Args...)
		if err != nil {
			return Answer{}, err
		}
		a := c.complete(res, headOf(res))
		return a, a.cause
	})
}
