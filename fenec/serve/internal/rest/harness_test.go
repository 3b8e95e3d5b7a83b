package rest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/ql"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/rest"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

// library has the collections that reads are tried on.
var library = []string{
	`create collection books (title text required, tags [text], pages int @hash, blurb text,
		out timestamp, price float, vec vector<3> @hnsw(dot))`,
	`put books [
		{title:"Go in Practice", tags:["go","web"], pages:310, blurb:"x", out:"2024-02-01", price:19.5, vec:[2,0,1]},
		{title:"Deep Queues", tags:["go","infra"], pages:205, out:"2022-07-15T10:00:00Z", price:0.1, vec:[0.25,1,0]},
		{title:"Old Maps", tags:[], pages:96, blurb:"z", out:"1998-01-01", price:7, vec:[0,0,1]}]`,
	`create collection reviews (book int @hash, who text, stars int)`,
	`put reviews [{book:1,who:"ann",stars:5},{book:1,who:"bo",stars:2},{book:3,who:"cy",stars:4}]`,
}

var tasks = []string{
	`create collection tasks (key text @unique, state text @hash, n int)`,
	`put tasks [{key:"k1",state:"open",n:1},{key:"k2",state:"done",n:2}]`,
}

var accounts = []string{
	`create collection accts (name text @unique, bal int)`,
	`put accts [{name:"a",bal:100},{name:"b",bal:0}]`,
}

var documents = []string{`create collection docs (title text, meta json)`}

// surface is a database and its schemas.
type surface struct {
	t       testing.TB
	db      *fenec.DB
	schemas rest.Schemas
}

// open returns a database on which the statements have run.
func open(t testing.TB, statements ...string) *surface {
	t.Helper()
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, text := range statements {
		_, err := db.Query(context.Background(), text)
		require.NoError(t, err, text)
	}
	return &surface{t, db, schemasOf(t, statements...)}
}

// schemasOf returns the collections that the statements create.
func schemasOf(t testing.TB, statements ...string) rest.Schemas {
	t.Helper()
	all := map[string]*rest.Collection{}
	cat := &catalog.Catalog{}
	for _, text := range statements {
		st, err := ql.Parse(text)
		require.NoError(t, err, text)
		def, ok := st.(*ql.CreateCollection)
		if !ok {
			continue
		}
		next, c, err := cat.Create(def)
		require.NoError(t, err, text)
		cat, all[c.Name] = next, rest.NewCollection(c)
	}
	return func(name string) *rest.Collection { return all[name] }
}

// translate translates a request whose target is written readably.
func (s *surface) translate(method, raw, body string) (rest.Statement, error) {
	to := target.Parse(raw)
	return rest.Translate(s.schemas, rest.Request{
		Method: method, Path: to.Segments, Query: to.Query, Body: []byte(body),
	})
}

// do answers a request as a server does.
func (s *surface) do(method, raw, body string) (status int, answer string) {
	s.t.Helper()
	st, err := s.translate(method, raw, body)
	if err != nil {
		return statusOf(s.t, err), err.Error()
	}
	require.NoError(s.t, parses(st.Text), st.Text)
	res, err := s.db.Query(context.Background(), st.Text, st.Args...)
	if err != nil {
		return statusOf(s.t, err), err.Error()
	}
	require.Equal(s.t, res.Wrote(), st.Writes())
	out, err := st.AppendJSON(nil, res)
	require.NoError(s.t, err)
	if st.Answer == rest.Inserted {
		return 201, string(out)
	}
	return 200, string(out)
}

func parses(text string) error {
	_, err := ql.Parse(text)
	return err
}

func statusOf(t testing.TB, err error) int {
	t.Helper()
	switch {
	case errors.Is(err, fenec.ErrNotFound):
		return 404
	case errors.Is(err, fenec.ErrDuplicate):
		return 409
	}
	require.True(t, errors.Is(err, fenec.ErrQuery) || errors.Is(err, fenec.ErrType), "%v", err)
	return 400
}
