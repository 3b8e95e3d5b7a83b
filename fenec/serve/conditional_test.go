package serve_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// tagged posts a statement with a tag.
func (c *client) tagged(tag, text string) reply {
	c.t.Helper()
	return c.do("POST", "/query", `{"query":`+quote(text)+`}`, "If-None-Match: "+tag)
}

func TestTags(t *testing.T) {
	c := start(t, serve.Options{}, books...)
	const count = "get books count"
	r := c.tagged(`"0"`, count)
	require.Equal(t, 200, r.status)
	require.Equal(t, `"8"`, r.header.Get("Etag"))
	r = c.tagged(`"8"`, count)
	require.Equal(t, 304, r.status)
	require.Empty(t, r.body)
	require.Equal(t, `"8"`, r.header.Get("Etag"))

	c.ok("POST", "/reviews", `{"book":1}`)
	r = c.tagged(`"8"`, count)
	require.Equal(t, 304, r.status)
	require.Equal(t, `"9"`, r.header.Get("Etag"), "the tag of now")
	require.Equal(t, 200, c.tagged(`"8"`, "get books lookup reviews on book").status, "the lookup reads reviews")
	c.ok("POST", "/books", `{"title":"x"}`)
	r = c.tagged(`"9"`, count)
	require.Equal(t, 200, r.status)
	require.Equal(t, `"10"`, r.header.Get("Etag"))
	c.query("create index on books (price) @sorted")
	require.Equal(t, 200, c.tagged(`"10"`, count).status, "its definition has changed")

	require.Empty(t, c.query(count).header.Get("Etag"), "nothing was sent")
	for _, tag := range []string{`"999"`, `"x"`, `"-1"`, `x`} {
		r := c.tagged(tag, count)
		require.Equal(t, 200, r.status, tag)
		require.NotEmpty(t, r.header.Get("Etag"))
	}
	require.Equal(t, 404, c.tagged(`"0"`, "get nope").status)
}

func TestAnswersWithoutTags(t *testing.T) {
	c := start(t, serve.Options{}, append(books, "create collection seen (at timestamp @ttl(1h))")...)
	for _, text := range []string{
		"get books where out < now()",
		"get books where id in (get reviews select book)",
		"get seen",
		"get books lookup seen on at",
		"explain get books",
	} {
		r := c.tagged(`"0"`, text)
		require.Empty(t, r.header.Get("Etag"), text)
	}
}

func TestTagsBeyondTheHistory(t *testing.T) {
	db, err := fenec.OpenMemory(fenec.Options{HistoryEntries: 2})
	require.NoError(t, err)
	c := startOn(t, serve.Options{}, db, books...)
	require.Equal(t, 304, c.tagged(`"8"`, "get books count").status)
	require.Equal(t, 200, c.tagged(`"1"`, "get books count").status)
}

// A tag is no excuse for a statement that cannot be compiled. What fails on rows only
// is not found out, as it is not run.
func TestTagsOfStatementsThatCannotCompile(t *testing.T) {
	c := start(t, serve.Options{}, books...)
	for _, text := range []string{"get books where pages > 1 order title", "get books where nope = 1"} {
		require.Equal(t, 304, c.tagged(`"8"`, text).status, text)
	}
	for text, status := range map[string]int{
		"get books select nope": 404, "get books order nope": 404,
		"get books lookup reviews on nope": 404, "get nope": 404,
		"get books select sum(title)": 400, "get books where": 400,
	} {
		r := c.tagged(`"8"`, text)
		require.Equal(t, status, r.status, "%s: %s", text, r.body)
		require.Empty(t, r.header.Get("Etag"))
	}
}

// A long answer has its tag, too.
func TestTagsOfLongAnswers(t *testing.T) {
	tokens := openTokens(t, secret, "wide read")
	c := start(t, serve.Options{Token: serve.NewSecret("root"), Tokens: tokens})
	wide(t, c, 3000)
	for as, token := range map[string]string{"server": "root", "scoped": mint(t, tokens, `"sub":"ada"`)} {
		ask := func(tag, accept string) *http.Response {
			return c.raw("POST", "/query", `{"query":"get wide"}`, "Authorization: Bearer "+token, "If-None-Match: "+tag, "Accept-Encoding: "+accept)
		}
		res := ask(`"0"`, "")
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Greater(t, len(body), 1<<20)
		tag := res.Header.Get("Etag")
		require.Regexp(t, map[string]string{"server": `^"\d+"$`, "scoped": `^"c[0-9a-f]{32}"$`}[as], tag)
		require.Equal(t, as == "server", res.ContentLength < 0, "a digest is of the whole")
		require.Equal(t, 304, ask(tag, "").StatusCode)
		packed := ask(`"0"`, "gzip")
		require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
		require.Equal(t, "W/"+tag, packed.Header.Get("Etag"))
		require.Equal(t, 304, ask("W/"+tag, "gzip").StatusCode)
	}
}
