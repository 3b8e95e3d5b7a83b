package serve_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

func TestMemoryCeiling(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.fenec")
	db, err := fenec.Open(file, fenec.Options{})
	require.NoError(t, err)
	for _, text := range books {
		_, err := db.Query(t.Context(), text)
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
	db, err = fenec.Open(file, fenec.Options{MaxMemory: 1})
	require.NoError(t, err)
	c := startOn(t, serve.Options{}, db)
	require.Equal(t, 200, c.query(`del reviews where id = 1`).status, "so that there is something in memory")
	for _, r := range []reply{
		c.do("POST", "/books", `{"title":"x"}`), c.do("PATCH", "/books/all", `{"pages":1}`),
		c.query(`put books {title: "x"}`), c.query(`create index on books (price) @sorted`),
	} {
		require.Equal(t, 507, r.status, r.body)
	}
	require.Equal(t, 200, c.do("DELETE", "/reviews?id=2", "").status)
	require.Equal(t, 200, c.query(`get books count`).status)
	r := c.batch(`del reviews where id = 3`, `put books {title: "x"}`)
	require.Equal(t, 507, r.status)
	require.Contains(t, r.body, `"completed":0,"at":1`)
	require.Equal(t, `{"count":1}`, c.do("GET", "/reviews?count", "").body)
	require.Equal(t, 200, c.query(`compact`).status)
}

func TestStatementTimeout(t *testing.T) {
	c := start(t, serve.Options{StatementTimeout: time.Nanosecond}, books...)
	for _, text := range []string{`get books`, `put books {title: "x"}`, `get books order price`} {
		r := c.query(text)
		require.Equal(t, 504, r.status, r.body)
	}
	n, err := c.db.Query(t.Context(), "get books count")
	require.NoError(t, err)
	body, err := n.AppendJSON(nil)
	require.NoError(t, err)
	require.Equal(t, `[{"count":3}]`, string(body))
}
