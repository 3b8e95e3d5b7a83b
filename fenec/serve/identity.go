package serve

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/jwt"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/rules"
)

// identity is who sends a request.
type identity struct {
	kind  identityKind
	token *jwt.Accepted[*rules.Scope] // of a scoped one, else nil
}

type identityKind uint8

const (
	nobody identityKind = iota
	open                // anybody, where no token is asked for
	full                // who carries the server's token
	scoped              // who carries a JSON Web Token
)

// String returns the word for it.
func (k identityKind) String() string { return [...]string{"nobody", "open", "full", "scoped"}[k] }

// view is a database as an identity sees it: a *fenec.DB or a *fenec.Session.
type view interface {
	Query(ctx context.Context, text string, args ...any) (*fenec.Result, error)
	Rows(ctx context.Context, text string, args ...any) iter.Seq2[fenec.Row, error]
	View(ctx context.Context, fn func(*fenec.Snapshot) error) error
	Update(ctx context.Context, fn func(*fenec.Tx) error) (seq uint64, err error)
	Subscribe(ctx context.Context, shape fenec.Shape, since uint64) (*fenec.Subscription, error)
	Collections() []string
}

// see returns db as the identity sees it.
func (id identity) see(db *fenec.DB) (view, error) {
	if id.token == nil {
		return db, nil
	}
	return id.token.As.Session(db)
}

// identify returns who sends a request. Where it is nobody, the answer says why.
func (s *Server) identify(r *http.Request) (identity, *Answer) {
	o := &s.opts
	if o.Token.IsZero() && o.Tokens == nil {
		return identity{kind: open}, nil
	}
	token := Bearer(r.Header)
	if o.Token.Opens(token) {
		return identity{kind: full}, nil
	}
	if o.Tokens == nil || !jwt.IsToken(token) {
		refusal := Unauthorized()
		return identity{}, &refusal
	}
	accepted, err := o.Tokens.verifier.Verify(token)
	if err != nil {
		refusal := Fail(http.StatusUnauthorized, err.Error())
		return identity{}, &refusal
	}
	return identity{scoped, accepted}, nil
}

// explain returns err, which a statement ended with, or words that tell a scoped
// identity more.
func (c *call) explain(err error, statement string) error {
	if c.who.token == nil {
		return err
	}
	return c.who.token.As.Explain(err, statement)
}

// fail answers with the error that the request's statements ended with.
func (c *call) fail(err error) Answer {
	var be *fenec.BatchError
	switch {
	case errors.As(err, &be):
		be.Err = c.explain(be.Err, c.statements[be.At].Text)
	case len(c.statements) == 1:
		err = c.explain(err, c.statements[0].Text)
	}
	return batchError(err)
}

// everything reports whether the identity may do everything.
func (id identity) everything() bool { return id.kind == open || id.kind == full }
