package serve_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// wide fills a collection with so many rows of a kilobyte.
func wide(t *testing.T, c *client, rows int) {
	t.Helper()
	_, err := c.db.Query(t.Context(), "create collection wide (n int, s text)")
	require.NoError(t, err)
	_, err = c.db.Load(t.Context(), "put wide {n: $1, s: $2}", func(yield func([]any, error) bool) {
		for i := range rows {
			if !yield([]any{i, strings.Repeat("x", 1000)}, nil) {
				return
			}
		}
	})
	require.NoError(t, err)
}

// raw asks for a target without the client's own decoding.
func (c *client) raw(method, target, body string, headers ...string) *http.Response {
	c.t.Helper()
	req, err := http.NewRequest(method, c.url+target, strings.NewReader(body))
	require.NoError(c.t, err)
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		req.Header.Set(k, v)
	}
	transport := &http.Transport{DisableCompression: true}
	c.t.Cleanup(transport.CloseIdleConnections)
	res, err := transport.RoundTrip(req)
	require.NoError(c.t, err)
	c.t.Cleanup(func() { res.Body.Close() })
	return res
}

func TestLongAnswers(t *testing.T) {
	c := start(t, serve.Options{})
	wide(t, c, 3000)
	for _, ask := range []struct{ method, target, body string }{
		{"POST", "/query", `{"query":"get wide"}`},
		{"GET", "/wide", ""},
		{"GET", "/wide?order=n.desc", ""},
		{"POST", "/query", `{"query":"get wide where n >= $1","params":[0]}`},
		{"POST", "/query", `{"query":"get wide limit 3000"}`},
	} {
		res := c.raw(ask.method, ask.target, ask.body)
		require.Equal(t, 200, res.StatusCode)
		require.EqualValues(t, -1, res.ContentLength, "%+v", ask)
		require.Equal(t, ask.target == "/query", res.Header.Get("X-Fenecdb-Version") == fenec.Version)
		require.Equal(t, "application/json; charset=utf-8", res.Header.Get("Content-Type"))
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		var rows []struct{ ID, N int }
		require.NoError(t, json.Unmarshal(body, &rows))
		require.Len(t, rows, 3000)
	}
	res := c.raw("POST", "/query", `{"query":"set wide {n: n + 1} returning *"}`)
	require.EqualValues(t, -1, res.ContentLength, "what a write returns may be as long")
	require.NotEmpty(t, res.Header.Get("Fenec-Seq"))
	require.Equal(t, fenec.Version, res.Header.Get("X-Fenecdb-Version"))
	var written []struct{ N int }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&written))
	require.Len(t, written, 3000)
	require.Equal(t, 3000, written[2999].N)
	res = c.raw("GET", "/wide?limit=100", "")
	require.Positive(t, res.ContentLength)
	res = c.raw("HEAD", "/wide", "")
	require.Equal(t, 200, res.StatusCode)
	require.EqualValues(t, -1, res.ContentLength)
	res = c.raw("GET", "/wide?where=n / (n - n) > 1", "")
	require.Equal(t, 400, res.StatusCode, "what fails before its head has gone is an ordinary error")
}

// A parameter that comes back in every row is held for few of them at a time, also by
// gets that rank their rows.
func TestLongAnswersAreNotHeld(t *testing.T) {
	c := start(t, serve.Options{}, "create collection d (body text @text, v vector<2> @hnsw(cosine))")
	const rows, size = 200, 256 << 10
	for i := range rows {
		_, err := c.db.Query(t.Context(), "put d {body: $1, v: [1, 2]}", fmt.Sprint("a b c fox d e f ", i))
		require.NoError(t, err)
	}
	long := strings.Repeat("x", size)
	for _, text := range []string{
		`get body + $1 as x from d limit 150`, `get body + $1 as x from d match body "fox"`,
		`get snippet(body, 1, $1) from d match body "fox"`, `get highlight(body, $1, "") from d match body "fox" limit 150`,
		`get body + $1 as x from d near v [1, 1]`,
	} {
		asked, err := json.Marshal(map[string]any{"query": text, "params": []any{long}})
		require.NoError(t, err)
		begun := make([]byte, 2<<20)
		before := liveHeap()
		res := c.raw("POST", "/query", string(asked))
		require.Equal(t, 200, res.StatusCode, text)
		_, err = io.ReadFull(res.Body, begun)
		require.NoError(t, err)
		// The server waits for its reader now, or soon, with all that it holds.
		require.Less(t, liveHeap()-before, int64(rows*size/2), text)
		rest, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		answer, err := c.db.Query(t.Context(), text, long)
		require.NoError(t, err)
		want, err := answer.AppendJSON(nil)
		require.NoError(t, err)
		require.True(t, string(begun)+string(rest) == string(want), text)
	}
}

// liveHeap returns how many bytes of the heap are in use.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // of what lay in pools
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// What fails after the head has gone is cut short of its end.
func TestLongAnswersThatFail(t *testing.T) {
	c := start(t, serve.Options{})
	wide(t, c, 3000)
	res := c.raw("POST", "/query", `{"query":"get wide where 1 / (2500 - n) < 5"}`)
	require.Equal(t, 200, res.StatusCode)
	body, err := io.ReadAll(res.Body)
	require.True(t, errors.Is(err, io.ErrUnexpectedEOF), "%v", err)
	require.Greater(t, len(body), 1<<20)
	require.False(t, json.Valid(body))
}

func TestCompression(t *testing.T) {
	c := start(t, serve.Options{})
	wide(t, c, 3000)
	unpack := map[string]func(io.Reader) io.Reader{
		"": func(r io.Reader) io.Reader { return r },
		"gzip": func(r io.Reader) io.Reader {
			z, err := gzip.NewReader(r)
			require.NoError(t, err)
			return z
		},
		"zstd": func(r io.Reader) io.Reader {
			z, err := zstd.NewReader(r)
			require.NoError(t, err)
			return z
		},
	}
	plain := map[string][]byte{}
	for _, tc := range []struct{ target, accept, want string }{
		{"/wide", "", ""}, {"/wide?limit=10", "", ""}, {"/wide?limit=1&select=n", "", ""},
		{"/wide", "gzip", "gzip"}, {"/wide", "gzip, zstd", "zstd"}, {"/wide", "zstd;q=0.1, gzip;q=0.5", "gzip"},
		{"/wide?limit=10", "zstd", "zstd"}, {"/wide?limit=10", "GZIP;q=1.0", "gzip"}, {"/wide?limit=10", "gzip;q=0", ""},
		{"/wide?limit=10", "br, *", ""}, {"/wide?limit=10", "gzip;q=x", ""}, {"/wide?limit=1&select=n", "gzip", ""},
	} {
		res := c.raw("GET", tc.target, "", "Accept-Encoding: "+tc.accept)
		require.Equal(t, tc.want, res.Header.Get("Content-Encoding"), "%+v", tc)
		packed, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		body, err := io.ReadAll(unpack[tc.want](bytes.NewReader(packed)))
		require.NoError(t, err)
		if tc.accept == "" {
			plain[tc.target] = body
		}
		require.Equal(t, string(plain[tc.target]), string(body), "%+v", tc)
		if tc.want != "" {
			require.Less(t, len(packed), len(body)/3)
			require.Contains(t, res.Header.Values("Vary"), "Accept-Encoding")
		}
	}
}

// Answers that are not sent while they are made have a length that they do not pass.
func TestCompleteAnswersAreBounded(t *testing.T) {
	serve.LowerLongestComplete(t, 2<<20)
	tokens := openTokens(t, secret, "wide read")
	c := start(t, serve.Options{Token: serve.NewSecret("root"), Tokens: tokens})
	wide(t, c, 3000)
	seq := c.db.Seq()
	ask := func(path, body string, headers ...string) *http.Response {
		return c.raw("POST", path, body, append([]string{"Authorization: Bearer root"}, headers...)...)
	}
	change := `{"query":"set wide {n: 1} returning *"}`
	for name, res := range map[string]*http.Response{
		"facets":          ask("/query", `{"query":"get wide facet n"}`),
		"batch":           ask("/batch", `{"query":"get wide"}`),
		"batch, together": ask("/batch", strings.Repeat(`{"query":"get wide limit 1200"}`+"\n", 2)),
		"batch of writes": ask("/batch", change),
		"keyed":           ask("/query", change, "Idempotency-Key: k"),
	} {
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, 413, res.StatusCode, name)
		require.Contains(t, string(body), `{"error":"the answer passes 64 MiB: ask for less at once"`, name)
		require.Equal(t, strings.HasPrefix(name, "batch"), strings.Contains(string(body), `"completed":0,"at":`), name)
	}
	require.Equal(t, seq, c.db.Seq(), "the writes are undone")
	require.Equal(t, 200, ask("/batch", `{"query":"get wide limit 1200"}`).StatusCode)

	ada := "Authorization: Bearer " + mint(t, tokens, `"sub":"ada"`)
	tagged := ask("/query", `{"query":"get wide limit 1200"}`, ada, `If-None-Match: "0"`)
	require.NotEmpty(t, tagged.Header.Get("Etag"))
	for _, res := range []*http.Response{ask("/query", change), ask("/query", `{"query":"get wide"}`, ada, `If-None-Match: "0"`)} {
		require.Equal(t, 200, res.StatusCode)
		require.Empty(t, res.Header.Get("Etag"), "a digest would be of the whole")
		n, err := io.Copy(io.Discard, res.Body)
		require.NoError(t, err)
		require.Greater(t, n, int64(3000*1000), "rows by themselves are sent in pieces")
	}
}
