package serve_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// keyed posts a statement under a key.
func (c *client) keyed(key, text string) reply {
	c.t.Helper()
	return c.do("POST", "/query", `{"query":`+quote(text)+`}`, "Idempotency-Key: "+key)
}

// A write that comes again under its key is answered as it was and leaves no
// trace, whatever it would meet now.
func TestKeyedAgain(t *testing.T) {
	c := start(t, serve.Options{},
		"create collection jobs (name text @unique, n int)",
		`put jobs {name: "a", n: 1}`)
	for _, text := range []string{
		`insert jobs {name: "b", n: 1}`, // the name would be taken
		`set jobs {n: n + 1} where name = "a"`,
		`set jobs {n: n + 1} where name = "none"`,
		`del jobs where name = "b"`,
		`create collection more (n int)`, // it would exist
	} {
		first := c.keyed(text, text)
		require.Equal(t, 200, first.status, first.body)
		require.Empty(t, first.header.Get("Idempotent-Replayed"))
		seq := c.db.Seq()
		again := c.keyed(text, text)
		require.Equal(t, first.body, again.body)
		require.Equal(t, first.status, again.status)
		require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
		require.Equal(t, seq, c.db.Seq(), text)

		other := c.keyed(text, text+" ")
		require.Equal(t, 422, other.status, other.body)
		require.Equal(t, seq, c.db.Seq(), text)
	}
	require.Equal(t, `[{"name":"a","n":2}]`, c.query("get jobs select name, n").body)
}

// A write that has happened and may be lost is not told to have happened, however often it
// comes, until it cannot be lost any more.
func TestKeyedUnconfirmed(t *testing.T) {
	c := start(t, serve.Options{}, "create collection jobs (name text)")
	c.db.SetConfirm(func(context.Context, uint64) error { return errors.New("lapsed") })
	insert := `insert jobs {name: "a"}`
	for range 2 {
		reply := c.keyed("k", insert)
		require.GreaterOrEqual(t, reply.status, 500, reply.body)
	}
	c.db.SetConfirm(nil)
	after := c.keyed("k", insert)
	require.Equal(t, 200, after.status, after.body)
	require.Equal(t, "true", after.header.Get("Idempotent-Replayed"))
	require.Equal(t, `[{"count":1}]`, c.query("get jobs count").body)
}

// A write that fails keeps no key.
func TestKeyedFails(t *testing.T) {
	c := start(t, serve.Options{}, "create collection jobs (name text @unique)", `put jobs {name: "a"}`)
	insert := `insert jobs {name: "a"}`
	require.Equal(t, 409, c.keyed("k", insert).status)
	require.Equal(t, 200, c.query("del jobs").status)
	after := c.keyed("k", insert)
	require.Equal(t, 200, after.status, after.body)
	require.Empty(t, after.header.Get("Idempotent-Replayed"))
}

// A key is new again once it has expired, swept or not.
func TestKeyedExpires(t *testing.T) {
	var now atomic.Int64
	clock := func() time.Time { return time.UnixMilli(now.Load()) }
	db, err := fenec.OpenMemory(fenec.Options{Clock: clock, SweepInterval: -1})
	require.NoError(t, err)
	c := startOn(t, serve.Options{IdempotencyTTL: time.Minute}, db, "create collection jobs (n int)")
	for range 2 {
		require.Empty(t, c.keyed("k", "put jobs {n: 1}").header.Get("Idempotent-Replayed"))
		require.Equal(t, "true", c.keyed("k", "put jobs {n: 1}").header.Get("Idempotent-Replayed"))
		now.Add(time.Minute.Milliseconds())
	}
	require.Equal(t, `[{"count":2}]`, c.query("get jobs count").body)
}

// The collection of keys keeps them for as long as the server is told to, even if
// it was made for another time or is gone.
func TestKeyedCollection(t *testing.T) {
	c := start(t, serve.Options{IdempotencyTTL: 2 * time.Hour}, "create collection jobs (n int)",
		"create collection _idempotency (key text @unique, request bytes, status int, body text, at timestamp @ttl(1d))")
	require.Equal(t, 200, c.keyed("k", "put jobs {n: 1}").status)
	require.Contains(t, c.query("describe _idempotency").body, `"ttl(2h)"`)
	require.Equal(t, 200, c.query("drop collection _idempotency").status)
	require.Equal(t, 200, c.keyed("k", "put jobs {n: 1}").status)
	require.Contains(t, c.query("describe _idempotency").body, `"ttl(2h)"`)
}

// Of requests that come at once under one key, one writes.
func TestKeyedAtOnce(t *testing.T) {
	c := start(t, serve.Options{}, "create collection jobs (n int)")
	replies := make([]reply, 40)
	var all sync.WaitGroup
	for i := range replies {
		key := i % 4
		all.Go(func() { replies[i] = c.keyed(fmt.Sprint("k", key), fmt.Sprintf("put jobs {n: %d}", key)) })
	}
	all.Wait()
	written := 0
	for _, r := range replies {
		require.Equal(t, 200, r.status, r.body)
		if r.header.Get("Idempotent-Replayed") == "" {
			written++
		}
	}
	require.Equal(t, 4, written)
	require.Equal(t, `[{"count":4}]`, c.query("get jobs count").body)
}

// A token that no longer opens what a key was used for is not told the answer.
func TestReplaysKeepToTheScope(t *testing.T) {
	tokens := openTokens(t, secret, "board read\nboard write for mod\n")
	c := start(t, serve.Options{Token: serve.NewSecret("root"), Tokens: tokens}, `create collection board (msg text)`)
	ask := func(claims string) reply {
		return c.do("POST", "/query", `{"query":"put board {msg: \"x\"}"}`,
			"Authorization: Bearer "+mint(t, tokens, "%s", claims), "Idempotency-Key: k")
	}
	require.Equal(t, 200, ask(`"sub":"m","role":"mod"`).status)
	require.Equal(t, "true", ask(`"sub":"m","role":"mod"`).header.Get("Idempotent-Replayed"))
	require.Equal(t, 403, ask(`"sub":"m"`).status)
}
