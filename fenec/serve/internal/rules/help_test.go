package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/jwt"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/rules"
)

var _ rules.Claims = (*jwt.Claims)(nil)

// claims are those of a test's token.
type claims struct{ all value.Value }

func claimsOf(t testing.TB, text string) claims {
	t.Helper()
	v, err := value.ParseJSON([]byte(text))
	require.NoError(t, err)
	return claims{v}
}

func (c claims) Get(name string) (value.Value, bool) { return c.all.Get(name) }

func (c claims) HasRole(role string) bool {
	v, ok := c.all.Get("role")
	if !ok || v.Kind() == value.KindText {
		return ok && v.AsText() == role
	}
	return slices.ContainsFunc(v.AsList(), func(x value.Value) bool { return x.AsText() == role })
}

// The server's own collections.
var own = []string{"_idempotency", "_consumers"}

func parse(t testing.TB, text string) *rules.File {
	t.Helper()
	f, err := rules.Parse(text, own...)
	require.NoError(t, err, text)
	return f
}

// database returns one in memory in which statements were run.
func database(t testing.TB, statements ...string) *fenec.DB {
	t.Helper()
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, s := range statements {
		_, err := db.Exec(context.Background(), s)
		require.NoError(t, err, s)
	}
	return db
}

// client is a token's carrier.
type client struct {
	t testing.TB
	*rules.Scope
	*fenec.Session
}

func as(t testing.TB, f *rules.File, db *fenec.DB, token string) client {
	t.Helper()
	scope, err := f.For(claimsOf(t, token))
	require.NoError(t, err)
	session, err := scope.Session(db)
	require.NoError(t, err)
	return client{t, scope, session}
}

// run returns a statement's answer as text: JSON, or the number of documents that
// it wrote, or its error.
func (c client) run(text string, args ...any) string {
	c.t.Helper()
	res, err := c.Query(context.Background(), text, args...)
	if err != nil {
		return c.Explain(err, text).Error()
	}
	if !strings.HasPrefix(text, "get ") && !strings.HasPrefix(text, "explain ") {
		return fmt.Sprint(res.Affected())
	}
	b, err := res.AppendJSON(nil)
	require.NoError(c.t, err)
	return string(b)
}

// whoami returns what is told of the rules, as an object.
func (c client) whoami() string {
	b := c.AppendJSON([]byte("{"))
	require.True(c.t, json.Valid(append(b, '}')), "%s", b)
	return string(append(b, '}'))
}
