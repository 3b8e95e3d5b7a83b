package serve_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

func TestAfter(t *testing.T) {
	c := start(t, serve.Options{}, books...)
	require.Equal(t, 200, c.do("GET", "/books?count", "", "Fenec-After: 8").status)
	r := c.do("GET", "/books?count", "", "Fenec-After: 99", "Fenec-Wait: 50")
	require.Equal(t, 504, r.status)
	require.Contains(t, r.body, `"seq":8`)
	require.Equal(t, 400, c.do("GET", "/books?count", "", "Fenec-After: soon").status)

	later := make(chan reply)
	go func() { later <- c.do("GET", "/books?count", "", "Fenec-After: 9", "Fenec-Wait: 10000") }()
	c.ok("POST", "/books", `{"title":"x"}`)
	r = <-later
	require.Equal(t, 200, r.status)
	require.Equal(t, `{"count":4}`, r.body)
}

// held posts a statement that may wait, and gives its answer later.
func (c *client) heldFor(ms int, text string) chan reply {
	later := make(chan reply, 1)
	go func() {
		later <- c.do("POST", "/query", `{"query":`+quote(text)+`}`, "Fenec-Wait: "+strconv.Itoa(ms))
	}()
	return later
}

const take = `del tasks where state = "ready" order id limit 1 returning id`

func TestHeldUntilThereIsSomething(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	r := <-c.heldFor(30, take)
	require.Equal(t, 200, r.status)
	require.Equal(t, `[]`, r.body)
	r = <-c.heldFor(30, `del tasks where state = "ready" require 1`)
	require.Equal(t, 412, r.status)
	require.Contains(t, r.body, "requires 1")

	later := c.heldFor(20_000, take)
	c.ok("POST", "/tasks", `{"state":"ready"}`)
	r = <-later
	require.Equal(t, `[{"id":3}]`, r.body)
	require.NotEmpty(t, r.header.Get("Fenec-Seq"))
}

// Of several that wait for the same, each row goes to one.
func TestHeldTakeTurns(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	const waiting = 3
	answers := make(chan string, waiting)
	for range waiting {
		go func() { answers <- (<-c.heldFor(20_000, take)).body }()
	}
	for i := range waiting {
		c.ok("POST", "/tasks", `{"state":"ready"}`)
		require.Equal(t, `[{"id":`+strconv.Itoa(3+i)+`}]`, <-answers)
	}
}

func TestHeldUntilTimePasses(t *testing.T) {
	c := start(t, serve.Options{}, `create collection jobs (due timestamp @sorted, name text)`)
	_, err := c.db.Query(t.Context(), `put jobs {due: $1, name: "a"}`, time.Now().Add(60*time.Millisecond))
	require.NoError(t, err)
	r := <-c.heldFor(20_000, `del jobs where due <= now() returning name`)
	require.Equal(t, `[{"name":"a"}]`, r.body)
	_, err = c.db.Query(t.Context(), `put jobs {due: $1, name: "b"}`, time.Now().Add(time.Hour))
	require.NoError(t, err)
	r = <-c.heldFor(50, `del jobs where due <= now() + 60000 returning name`)
	require.Equal(t, `[]`, r.body)
	_, err = c.db.Query(t.Context(), `put jobs {due: $1, name: "c"}`, time.Now().Add(time.Minute+60*time.Millisecond))
	require.NoError(t, err)
	r = <-c.heldFor(20_000, `del jobs where due <= now() + 60000 returning name`)
	require.Equal(t, `[{"name":"c"}]`, r.body)
}

func TestHeldUntilRowsExpire(t *testing.T) {
	c := start(t, serve.Options{}, `create collection leases (at timestamp @ttl(1m), name text)`)
	_, err := c.db.Query(t.Context(), `put leases {at: $1, name: "a"}`, time.Now().Add(-time.Minute+60*time.Millisecond))
	require.NoError(t, err)
	r := <-c.heldFor(20_000, `del leases where expired() returning name`)
	require.Equal(t, `[{"name":"a"}]`, r.body)
}

func TestHeldRefused(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	for _, text := range []string{
		`put tasks {n: 1}`, `create collection x (a int)`, `compact`,
		`del tasks where n = now()`, `del tasks where n + 1 < now()`, `set tasks {n: 1} where now() > n * 2`,
	} {
		r := <-c.heldFor(100, text)
		require.Equal(t, 400, r.status, "%s: %s", text, r.body)
	}
	require.Equal(t, 400, c.do("POST", "/query", `{"query":"del tasks"}`, "Fenec-Wait: soon").status)
	require.Equal(t, 200, c.do("POST", "/query", `{"query":"get tasks"}`, "Fenec-Wait: 5").status, "a read is not held")
	require.Equal(t, 200, c.do("POST", "/query", `{"query":"put tasks {n: 1}"}`, "Fenec-Wait: 0").status)
}

func TestHeldKeepsNoKeyForNothing(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	ask := func() reply {
		return c.do("POST", "/query", `{"query":`+quote(take)+`}`, "Fenec-Wait: 20", "Idempotency-Key: k")
	}
	require.Equal(t, `[]`, ask().body)
	c.ok("POST", "/tasks", `{"state":"ready"}`)
	require.Equal(t, `[{"id":3}]`, ask().body)
	r := ask()
	require.Equal(t, `[{"id":3}]`, r.body)
	require.Equal(t, "true", r.header.Get("Idempotent-Replayed"))
}

func TestHeldAreAnsweredByClose(t *testing.T) {
	r := httptest.NewRequest("POST", "/query", strings.NewReader(`{"query":`+quote(take)+`}`))
	r.Header.Set("Fenec-Wait", "30000")
	require.Equal(t, `[]`, closedWhileWaiting(t, fenec.Options{}, r).Body.String())
}

// closedWhileWaiting returns the answer to a request of a server of tasks, which is
// closed when the request waits for others.
func closedWhileWaiting(t *testing.T, opts fenec.Options, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	synctest.Test(t, func(t *testing.T) {
		db, err := fenec.OpenMemory(opts)
		require.NoError(t, err)
		defer db.Close()
		for _, text := range tasks {
			_, err := db.Query(t.Context(), text)
			require.NoError(t, err)
		}
		server, answered := serve.New(serve.Options{}), make(chan struct{})
		go func() {
			defer close(answered)
			server.Handler(db).ServeHTTP(w, r)
		}()
		synctest.Wait()
		select {
		case <-answered:
			t.Error("it did not wait")
		default:
		}
		began := time.Now()
		require.NoError(t, server.Close())
		<-answered
		require.Zero(t, time.Since(began), "it waits no longer")
	})
	return w
}

// What others wait for holds nobody up.
func TestHeldOfOthersDoNotQueue(t *testing.T) {
	tokens := openTokens(t, secret, `jobs read,delete where owner = $jwt.sub`)
	c := start(t, serve.Options{Token: serve.NewSecret("root"), Tokens: tokens}, `create collection jobs (owner text)`, `put jobs {owner: "bob"}`)
	ask := func(sub, wait string) string {
		return c.do("POST", "/query", `{"query":"del jobs limit 1 returning owner"}`,
			"Authorization: Bearer "+mint(t, tokens, `"sub":%q`, sub), "Fenec-Wait: "+wait).body
	}
	ada := make(chan string)
	go func() { ada <- ask("ada", "20000") }()
	require.Equal(t, `[{"owner":"bob"}]`, ask("bob", "20000"))
	_, err := c.db.Query(t.Context(), `put jobs {owner: "ada"}`)
	require.NoError(t, err)
	require.Equal(t, `[{"owner":"ada"}]`, <-ada)
}
