package serve

import (
	"context"
	"errors"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/inside"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/descr"
)

// schema answers what is at and below /_schema.
func (c *call) schema(ctx context.Context) Answer {
	post := c.r.Method == http.MethodPost
	switch {
	case reads(c.r.Method) && c.at("_schema"):
		return c.described()
	case post && c.at("_schema", "plan"):
		return c.planned(ctx)
	case post && c.at("_schema", "apply"):
		return c.apply(ctx)
	}
	return c.notFound()
}

// described answers GET /_schema with the schema in one of its forms.
func (c *call) described() Answer {
	live, err := c.live()
	if err != nil {
		return Error(err)
	}
	switch c.r.URL.Query().Get("as") {
	case "":
		return OK(live.AppendJSON(nil))
	case "fenecql":
		return OK(live.AppendText(nil))
	}
	return Fail(http.StatusBadRequest, `as: want "fenecql" or nothing`)
}

// live returns the schema as the request may see it.
func (c *call) live() (*descr.Schema, error) { return descr.Of(c.definitions()) }

// definitions returns the definitions of the collections that the request may read.
func (c *call) definitions() []*catalog.Collection {
	var list []*catalog.Collection
	for _, name := range c.view.Collections() {
		if def := inside.Collection(c.view, name); def != nil {
			list = append(list, def)
		}
	}
	return list
}

// planned answers POST /_schema/plan, which writes nothing.
func (c *call) planned(ctx context.Context) Answer {
	mode := c.r.URL.Query().Get("mode")
	switch {
	case mode != "" && mode != "follow":
		return Fail(http.StatusBadRequest, `mode: want "follow" or nothing`)
	case mode == "" && !c.who.everything():
		return Fail(http.StatusForbidden, "the token may plan with mode=follow only")
	}
	d, err := descr.Read(ctx, c.body)
	if err != nil {
		return Error(err)
	}
	if mode == "" {
		p, err := c.plan(ctx, d)
		if err != nil {
			return Error(err)
		}
		return OK(p.Outcome(nil, false))
	}
	live, err := c.live()
	if err != nil {
		return Error(err)
	}
	return OK(d.Follow(live).Outcome(nil, false))
}

// plan compares a description with the database as it is now.
func (c *call) plan(ctx context.Context, d *descr.Description) (*descr.Plan, error) {
	live, err := c.live()
	if err != nil {
		return nil, err
	}
	records, err := c.recorded(ctx)
	if err != nil {
		return nil, err
	}
	return d.Plan(live, records)
}

// recorded returns the migrations that have been recorded.
func (c *call) recorded(ctx context.Context) ([]descr.Record, error) {
	if !c.keepsMigrations() {
		return nil, nil
	}
	res, err := c.db.Query(ctx, "get _migrations select n, text")
	if err != nil {
		return nil, err
	}
	var list []descr.Record
	for res.Next() {
		var r descr.Record
		if err := res.Scan(&r.N, &r.Text); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// keepsMigrations reports whether the database has the collection of those that
// are recorded.
func (c *call) keepsMigrations() bool { return inside.Collection(c.db, "_migrations") != nil }

// errRefused undoes what is not to be applied.
var errRefused = errors.New("the description is refused")

// apply answers POST /_schema/apply: it does all that the plan says, or nothing.
func (c *call) apply(ctx context.Context) Answer {
	if !c.who.everything() {
		return Fail(http.StatusForbidden, "the token may not change the schema")
	}
	if refusal := c.mayWrite(); refusal != nil {
		return *refusal
	}
	d, err := descr.Read(ctx, c.body)
	if err != nil {
		return Error(err)
	}
	var p *descr.Plan
	seq, err := c.db.Update(ctx, func(tx *fenec.Tx) (err error) {
		// The plan is made where nobody else writes.
		if p, err = c.plan(ctx, d); err != nil {
			return err
		}
		if len(p.Refusals) > 0 {
			return errRefused
		}
		return c.carryOut(ctx, tx, p)
	})
	return c.outcome(p, seq, err)
}

// ApplySchema does with a description, to a database in use, what POST
// /_schema/apply does, for a request beside the surface that has been let in.
func (s *Server) ApplySchema(w http.ResponseWriter, r *http.Request, use *Use, description []byte) Answer {
	c := &call{server: s, w: w, r: r, use: use, db: use.DB, view: use.DB, who: identity{kind: full}}
	c.body = description
	return c.better(c.apply(r.Context()))
}

// outcome answers with what came of an apply, and tells the audit log.
func (c *call) outcome(p *descr.Plan, seq uint64, err error) Answer {
	var a Answer
	switch {
	case err == errRefused:
		return Answer{Status: http.StatusConflict, Body: p.Outcome(nil, false), wrote: true}
	case err != nil:
		a = misfit(err)
	default:
		a = OK(p.Outcome(nil, true))
		a.Seq, a.Ran, a.nothing = seq, true, p.Empty()
	}
	a.wrote = true
	if p != nil {
		c.auditPlan(p, &a)
	}
	return a
}

// misfit answers that a statement of the description failed. Whatever it met is
// wrong with the description: a 409 would tell of refusals, a 404 of a path that
// is not there.
func misfit(err error) Answer {
	switch StatusOf(err) {
	case http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed:
		return Fail(http.StatusBadRequest, err.Error())
	}
	return Error(err)
}

// carryOut does what a plan says within a block.
func (c *call) carryOut(ctx context.Context, tx *fenec.Tx, p *descr.Plan) error {
	if len(p.Migrations) > 0 && !c.keepsMigrations() {
		if _, err := tx.Query(ctx, "create collection _migrations (n int @unique, text text, at timestamp)"); err != nil {
			return err
		}
	}
	for _, m := range p.Migrations {
		if err := runAll(ctx, tx, m.Statements); err != nil {
			return err
		}
		if _, err := tx.Query(ctx, "put _migrations {n: $1, text: $2, at: now()}", m.N, m.Text); err != nil {
			return err
		}
	}
	return runAll(ctx, tx, p.Statements)
}

// runAll runs statements within a block.
func runAll(ctx context.Context, tx *fenec.Tx, texts []string) error {
	for _, text := range texts {
		if _, err := tx.Query(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// auditPlan notes the statements of a plan that changed the schema, or tried to.
func (c *call) auditPlan(p *descr.Plan, a *Answer) {
	if c.server.audit == nil {
		return
	}
	var texts []string
	for _, m := range p.Migrations {
		texts = append(texts, m.Statements...)
	}
	for _, text := range append(texts, p.Statements...) {
		if t, err := c.server.known.of(text); err == nil {
			c.audited(t, a)
		}
	}
}
