package serve

import (
	"context"
	"net/http"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/inside"
)

// answer answers a request that is no stream.
func (c *call) answer() Answer {
	switch {
	case c.under("_studio"):
		return c.notFound()
	case reads(c.r.Method) && c.at("_metrics"):
		c.server.cors.Forbid(c.w.Header())
		return c.metrics()
	case c.at("_stats", "statements"):
		return c.shapes()
	case c.at("_whoami"):
		return c.whoami()
	case c.under("_changes"):
		a := c.better(c.feed())
		c.spent(&a)
		return a
	}
	return c.statement()
}

// statement answers a request that may run statements: everything but what
// answers before it.
func (c *call) statement() Answer {
	c.beginSpan()
	a := c.attempt()
	c.endSpan(&a)
	c.observe(&a)
	c.spent(&a)
	return a
}

func (c *call) attempt() Answer {
	if refusal := c.authenticate(); refusal != nil {
		return *refusal
	}
	if refusal := c.takeIn(); refusal != nil {
		return *refusal
	}
	if refusal := c.open(); refusal != nil {
		return *refusal
	}
	defer c.letGo()
	if refusal := c.waitForSeq(); refusal != nil {
		return *refusal
	}
	wait, refusal := c.holdFor()
	switch {
	case refusal != nil:
		return *refusal
	case wait > 0:
		return c.hold(wait)
	}
	return c.runOnce()
}

// runOnce answers the request in the time that a statement may take.
func (c *call) runOnce() Answer {
	ctx, cancel := c.bounded()
	defer cancel()
	if c.span == nil {
		return c.better(c.run(ctx))
	}
	ctx = inside.Watched(ctx, c.span.Child)
	began := time.Now()
	a := c.better(c.run(ctx))
	c.span.Child("execute", began, time.Now())
	return a
}

// authenticate finds out who sends the request.
func (c *call) authenticate() (refusal *Answer) {
	if c.who, refusal = c.server.identify(c.r); refusal != nil {
		c.refused()
		return refusal
	}
	switch c.who.kind {
	case open:
		return c.crossSite()
	case scoped:
		refusal = c.foreign()
	}
	c.server.delays.Accepted(c.r.RemoteAddr)
	return refusal
}

// crossSite refuses what a page of another site has a browser send to a server that
// everybody may use who reaches it (Fetch Metadata, Sec-Fetch-Site), unless pages of
// others are let in.
func (c *call) crossSite() *Answer {
	switch c.r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		if c.server.opts.AllowOrigin == "" {
			a := Fail(http.StatusForbidden, "a page of another origin may not use this server")
			return &a
		}
	}
	return nil
}

// foreign refuses a token that is not for the tenant whose database is asked for.
func (c *call) foreign() *Answer {
	if c.source.Tenant == "" || c.server.opts.Tokens.admits(c.who.token.Claims, c.source.Tenant) {
		return nil
	}
	a := Fail(http.StatusForbidden, "the token is not for this tenant")
	return &a
}

// open takes hold of the database until letGo is called.
func (c *call) open() (refusal *Answer) {
	if c.use, refusal = c.source.Open(c.r.Context()); refusal != nil {
		return refusal
	}
	c.held, c.db = true, c.use.DB
	view, err := c.who.see(c.db)
	if err != nil {
		c.letGo()
		a := Error(err)
		return &a
	}
	c.view = view
	return nil
}

// letGo ends the use of the database, if there is one.
func (c *call) letGo() {
	if c.held {
		c.held = false
		c.use.Release()
	}
}

// bounded returns the request's context, which ends when its statement has run
// for too long.
func (c *call) bounded() (context.Context, context.CancelFunc) {
	if d := c.server.opts.StatementTimeout; d > 0 {
		return context.WithTimeout(c.r.Context(), d)
	}
	return c.r.Context(), func() {}
}

// run answers the request from the open database.
func (c *call) run(ctx context.Context) Answer {
	method := c.r.Method
	switch {
	case method == http.MethodOptions:
		return Answer{Status: http.StatusNoContent}
	case method == http.MethodPost && c.at("query"):
		return c.query(ctx)
	case method == http.MethodPost && c.at("batch"):
		return c.batch(ctx)
	case c.under("_schema"):
		return c.schema(ctx)
	}
	if c.server.opts.ReadOnly && c.writes() {
		return readOnly()
	}
	switch {
	case reads(method) && len(c.path) == 0:
		return c.root()
	case reads(method) && c.at("collections"):
		return c.collections(ctx)
	case reads(method) && c.at("_openapi.json"):
		return c.openapi()
	}
	return c.rest(ctx)
}

// writes reports whether the method and path are those of a write.
func (c *call) writes() bool {
	switch c.r.Method {
	case http.MethodPatch, http.MethodPut, http.MethodDelete:
		return true
	case http.MethodPost:
		return len(c.path) != 2 || c.path[1] != "near"
	}
	return false
}

// readOnly answers that the server takes no writes.
func readOnly() Answer { return Fail(http.StatusForbidden, "the server is read-only") }
