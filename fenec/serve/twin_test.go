package serve_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
)

// twinPolicy opens the notes of the bearer, and nothing of the collection vault.
const twinPolicy = `
notes  read,write   where owner = $jwt.sub
board  read,insert
log    insert       where by = $jwt.sub
`

var twinSchema = []string{
	`create collection notes (owner text @hash, n int @sorted, bid int @hash, tag text, body text @text, at timestamp @sorted, v vector<2> @hnsw(l2), meta json)`,
	`create collection board (note int @hash, msg text)`,
	`create collection log (by text, n int)`,
	`create collection vault (secret text)`,
	`put vault {secret: "s"}`,
}

// twins are two servers of the same rows of ada's. One also has rows of bob's,
// which ada's token does not open; the other had them and deleted them.
func twins(t *testing.T, tokens *serve.Tokens) (with, without *client) {
	build := func() *client {
		c := start(t, serve.Options{Token: serve.NewSecret("root"), Tokens: tokens}, twinSchema...)
		for i := range 60 {
			owner := "ada"
			if i%2 == 1 {
				owner = "bob"
			}
			_, err := c.db.Query(t.Context(), `put notes {owner: $1, n: $2, bid: $2, tag: $3, body: $4, at: $5, v: $6, meta: $7}`,
				owner, i, fmt.Sprint("t", i%3), strings.Repeat("fox ", 1+i%4)+owner+" dog", 1_700_000_000_000+int64(i)*1000,
				[]float32{float32(i), 1}, map[string]any{"k": i})
			require.NoError(t, err)
			_, err = c.db.Query(t.Context(), `put board {note: $1, msg: "m"}`, i+1)
			require.NoError(t, err)
		}
		return c
	}
	with, without = build(), build()
	_, err := without.db.Query(t.Context(), `del notes where owner = "bob"`)
	require.NoError(t, err)
	return with, without
}

// request is one of those that the twins must answer alike.
type request struct{ method, target, body, header string }

// twinRequest draws a request.
func twinRequest(r *rand.Rand, serial int) request {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	n := func() string { return fmt.Sprint(r.IntN(64)) }
	filter := pick("n=gte."+n(), "tag=t1", "owner=bob", "owner=neq.ada", "id="+n(), "meta.k=lt."+n(), "n=in.("+n()+","+n()+")",
		"body=like.bob", "where="+url.QueryEscape("n * 2 > 70 or owner = \"bob\""), "where="+url.QueryEscape("1 / (n - 31) > 0"))
	condition := pick("n > "+n(), `tag = "t2"`, `owner = "bob"`, "id = "+n(), `10 / (n - 31) > 1`, `id in (get board select note where msg = "m")`)
	statement := pick(
		"get notes where "+condition, "get notes where "+condition+" count", "get notes select n order n desc limit 5",
		"get notes select tag, count(*), sum(n), max(at) group tag order tag", "get notes select min(n), max(n), count(distinct tag)",
		"get notes facet tag top 3 limit 1", "get notes count facet owner",
		`get notes select id match body "fox dog" limit 40`, `get notes select id match body "bob" limit 5`,
		"get notes select id near v [31, 1] exact limit 5", "get board where msg = \"m\" limit 9 lookup notes on bid = note",
		"explain get notes where "+condition, "get board where note in (get notes select id) count", "get log", "get vault", "describe vault", "describe notes",
		"collections", "get notes where "+condition+" require 3",
		"set notes {tag: \"t9\"} where "+condition, "set notes {n: n + 1} where "+condition+" returning id, n", "del notes where "+condition+" order n limit 1",
		"put notes {n: 7, tag: \"new\"}", "put notes {owner: \"bob\", n: 1}", "put notes {id: "+n()+", n: 1}", "put log {n: 1}",
		"set notes {owner: \"bob\"} where id = "+n(), "create collection x (a int)", "create index on notes (tag) @hash", "compact", "del vault", "gte notes")
	query := fmt.Sprintf(`{"query":%s}`, quote(statement))
	switch r.IntN(12) {
	case 0:
		return request{"GET", "/notes?" + filter, "", ""}
	case 1:
		return request{"GET", "/notes?count&" + filter + "&facet=tag", "", ""}
	case 2:
		return request{"GET", "/notes?select=tag,count(*),avg(n)&group=tag&order=tag&" + filter, "", ""}
	case 3:
		return request{"GET", pick("/", "/collections", "/_schema", "/_openapi.json", "/vault", "/log", "/nope", "/_whoami", "/vault/changes", "/_changes", "/_metrics"), "", ""}
	case 4:
		return request{"PATCH", "/notes?" + filter, `{"tag":"p"}`, ""}
	case 5:
		return request{"POST", "/notes", pick(`{"n":1}`, `{"n":1,"owner":"bob"}`, `{"id":3,"n":1}`, `[{"n":1},{"owner":"bob"}]`), ""}
	case 6:
		return request{"POST", "/notes/near?" + filter, `{"vector":[` + n() + `,1],"exact":true,"limit":4,"select":["id"]}`, ""}
	case 7:
		return request{"POST", "/batch", query + "\n" + fmt.Sprintf(`{"query":%s}`, quote("get notes where "+condition+" count")), ""}
	case 8:
		return request{"POST", "/query", query, fmt.Sprint("Idempotency-Key: ", serial/9)} // some come again
	case 9:
		return request{"POST", "/query", query, `If-None-Match: "0"`}
	}
	return request{"POST", "/query", query, ""}
}

// varying is what may differ between the twins: the sequence, which all share.
var varying = regexp.MustCompile(`"seq":\d+|"(now|at|queryid)":"[^"]*"`)

// Nothing that a token's bearer is answered tells of rows that it does not open.
func TestAnswersTellNothingOfHiddenRows(t *testing.T) {
	tokens := openTokens(t, secret, twinPolicy)
	with, without := twins(t, tokens)
	ada := "Authorization: Bearer " + mint(t, tokens, `"sub":"ada"`)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 1500 {
		q := twinRequest(r, i)
		headers := []string{ada}
		if q.header != "" {
			headers = append(headers, q.header)
		}
		a, b := with.do(q.method, q.target, q.body, headers...), without.do(q.method, q.target, q.body, headers...)
		require.Equal(t, b.status, a.status, "%d: %+v\n%s\n%s", i, q, a.body, b.body)
		require.Equal(t, varying.ReplaceAllString(b.body, ""), varying.ReplaceAllString(a.body, ""), "%d: %+v", i, q)
		require.Equal(t, b.header.Get("Etag"), a.header.Get("Etag"), "%d: %+v", i, q)
		require.Equal(t, b.header.Get("Idempotent-Replayed"), a.header.Get("Idempotent-Replayed"), "%d: %+v", i, q)
	}
}
