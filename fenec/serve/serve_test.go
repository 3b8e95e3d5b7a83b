package serve_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// client speaks to a served database in memory.
type client struct {
	t      *testing.T
	url    string
	db     *fenec.DB
	server *serve.Server
}

func start(t *testing.T, opts serve.Options, fixture ...string) *client {
	t.Helper()
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(t, err)
	return startOn(t, opts, db, fixture...)
}

// startOn serves a database, which it closes in the end.
func startOn(t *testing.T, opts serve.Options, db *fenec.DB, fixture ...string) *client {
	t.Helper()
	server := serve.New(opts)
	srv := httptest.NewServer(server.Handler(db))
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		srv.Close()
		require.NoError(t, db.Close())
	})
	for _, st := range fixture {
		_, err := db.Query(t.Context(), st)
		require.NoError(t, err, st)
	}
	return &client{t, srv.URL, db, server}
}

type reply struct {
	status int
	body   string
	header http.Header
}

func (c *client) do(method, path, body string, headers ...string) reply {
	c.t.Helper()
	req, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	require.NoError(c.t, err)
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(c.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	return reply{res.StatusCode, string(b), res.Header}
}

// query posts a statement with parameters given as JSON.
func (c *client) query(text string, params ...string) reply {
	c.t.Helper()
	body := `{"query":` + quote(text) + `,"params":[` + strings.Join(params, ",") + `]}`
	return c.do("POST", "/query", body)
}

func (c *client) batch(statements ...string) reply {
	c.t.Helper()
	var lines []string
	for _, s := range statements {
		lines = append(lines, `{"query":`+quote(s)+`}`)
	}
	return c.do("POST", "/batch", strings.Join(lines, "\n"))
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

var (
	books = []string{
		`create collection books (title text required, tags [text], pages int @hash, blurb text, out timestamp, price float, vec vector<3>)`,
		`put books [
			{title:"Go in Practice", tags:["go","web"], pages:310, blurb:"x", out:"2024-02-01", price:19.5, vec:[2,0,1]},
			{title:"Deep Queues", tags:["go","infra"], pages:205, out:"2022-07-15T10:00:00Z", price:0.1, vec:[0.25,1,0]},
			{title:"Old Maps", tags:[], pages:96, blurb:"z", out:"1998-01-01", price:7, vec:[0,0,1]}]`,
		`create collection reviews (book int @hash, who text, stars int)`,
		`put reviews [{book:1,who:"ann",stars:5},{book:1,who:"bo",stars:2},{book:3,who:"cy",stars:4}]`,
	}
	tasks = []string{
		`create collection tasks (key text @unique, state text @hash, n int)`,
		`put tasks [{key:"k1",state:"open",n:1},{key:"k2",state:"done",n:2}]`,
	}
)

func TestQuery(t *testing.T) {
	for _, tc := range []struct {
		name   string
		text   string
		params []string
		status int
		body   string // a regular expression for the whole body
		seq    string
	}{
		{"read", "get books select title where pages >= $1", []string{"300"}, 200, `\[\{"title":"Go in Practice"\}\]`, ""},
		{"count", "get books count", nil, 200, `\[\{"count":3\}\]`, ""},
		{"write", "put books {title:$1}", []string{`"n"`}, 200, `\{"affected":1\}`, "9"},
		{"set", `set books {blurb:"q"} where id = 1`, nil, 200, `\{"affected":1\}`, "9"},
		{"set nothing", `set books {blurb:"q"} where id = 77`, nil, 200, `\{"affected":0\}`, "8"},
		{"schema", "create collection c2 (a int)", nil, 200, `\{"message":".*"\}`, "9"},
		{"describe", "describe reviews", nil, 200, `\[\{"name":"reviews",.*\}\]`, ""},
		{"explain", "explain get books where pages = 96", nil, 200, `\[\{"plan":".*"\},.*\]`, ""},
		{"compact", "compact", nil, 200, `\{"message":".*"\}`, "8"},
		{"unknown collection", "get nope", nil, 404, `.*nope.*`, ""},
		{"unknown field", "get books select nofield", nil, 404, `.*nofield.*`, ""},
		{"no statement", "no such words", nil, 400, `\{"error":".*"\}`, ""},
		{"two statements", "get books get books", nil, 400, `\{"error":".*"\}`, ""},
		{"empty", "", nil, 400, `\{"error":".*"\}`, ""},
		{"parameter not given", "get books where id = $2", []string{"1"}, 400, `.*\$2.*`, ""},
		{"too deep", "get books where " + strings.Repeat("(", 600) + "id = 1" + strings.Repeat(")", 600), nil, 400, `.*too deep.*`, ""},
		{"deep enough", "get books select id where " + strings.Repeat("(", 500) + "id = 1" + strings.Repeat(")", 500), nil, 200, `\[\{"id":1\}\]`, ""},
		{"id taken", `insert books {id: 1, title: "x"}`, nil, 409, `.*`, ""},
		{"wrong type", `put books {title: "x", pages: "many"}`, nil, 400, `.*pages.*`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := start(t, serve.Options{}, books...).query(tc.text, tc.params...)
			require.Equal(t, tc.status, r.status, r.body)
			require.Regexp(t, regexp.MustCompile(`^`+tc.body+`$`), r.body)
			require.Equal(t, tc.seq, r.header.Get("Fenec-Seq"))
			if r.status == 200 {
				require.Equal(t, fenec.Version, r.header.Get("X-Fenecdb-Version"))
			}
			require.Equal(t, "application/json; charset=utf-8", r.header.Get("Content-Type"))
			require.Regexp(t, `^[0-9a-f]{16}$`, r.header.Get("X-Request-Id"))
		})
	}
}

func TestQueryBodies(t *testing.T) {
	c := start(t, serve.Options{}, books...)
	for _, tc := range []struct {
		body   string
		status int
		answer string
	}{
		{`{"sql":"get books count"}`, 200, `[{"count":3}]`},
		{`{"query":"get books count","params":null,"extra":1}`, 200, `[{"count":3}]`},
		{`{"query":"get books select id where pages = $1","params":96}`, 200, `[{"id":3}]`},
		{`{"params":[1]}`, 400, ""},
		{`[]`, 400, ""},
		{`{"query":7}`, 400, ""},
		{`{"query":"get books"} x`, 400, ""},
		{"\xff\xfe", 400, ""},
		{``, 400, ""},
	} {
		r := c.do("POST", "/query", tc.body)
		require.Equal(t, tc.status, r.status, "%s: %s", tc.body, r.body)
		if tc.answer != "" {
			require.Equal(t, tc.answer, r.body)
		}
	}
}

func TestNumbersAndTexts(t *testing.T) {
	c := start(t, serve.Options{}, "create collection n (i int, f float, s text, v vector<2>, j json)")
	for i, tc := range []struct{ field, sent, back string }{
		{"i", "123456789", "123456789"},
		{"i", "-9223372036854775808", "-9223372036854775808"},
		{"f", "19.99", "19.99"},
		{"f", "1e300", "1" + strings.Repeat("0", 300)},
		{"f", "0.0000001", "0.0000001"},
		{"f", "-0.0", "0"},
		{"f", "1e20", "100000000000000000000"},
		{"f", "100000000000000000000", "100000000000000000000"},
		{"s", `"a\u0001\"<&>\n\ud83d\ude00"`, `"a\u0001\"<&>\n😀"`},
		{"s", `"\ud800"`, `"�"`},
		{"v", "[0.1,2]", "[0.1,2]"},
		{"j", `{"b":1,"a":[1,2.50]}`, `{"a":[1,2.5],"b":1}`},
	} {
		r := c.query("put n {"+tc.field+": $1}", tc.sent)
		require.Equal(t, 200, r.status, "%v: %s", tc, r.body)
		r = c.query("get n select "+tc.field+" where id = $1", fmt.Sprint(i+1))
		require.Equal(t, `[{"`+tc.field+`":`+tc.back+`}]`, r.body)
	}
	for _, sent := range []string{"1e400", "NaN", "9223372036854775808", `"7"`} {
		require.Equal(t, 400, c.query("put n {i: $1}", sent).status, sent)
	}
}

func TestBatch(t *testing.T) {
	for _, tc := range []struct {
		name   string
		lines  []string
		status int
		body   string
		seq    string
	}{
		{"reads see writes", []string{`put tasks {key:"k3"}`, `set tasks {n:9} where key="k1"`, `get tasks select key where n = 9`},
			200, `\{"ok":3,"results":\[\{"affected":1\},\{"affected":1\},\{"rows":\[\{"key":"k1"\}\]\}\]\}`, "5"},
		{"all or nothing", []string{`put tasks {key:"k3"}`, `put tasks {zz:1}`, `put tasks {key:"k4"}`},
			404, `\{"error":".*zz.*","completed":0,"at":1\}`, ""},
		{"schema undone", []string{`create collection u (x int)`, `put u {x:1}`, `put tasks {key:"k1"}`},
			409, `\{"error":".*","completed":0,"at":2\}`, ""},
		{"schema", []string{`create collection u (x int)`, `put u {x:1}`},
			200, `\{"ok":2,"results":\[\{"message":".*"\},\{"affected":1\}\]\}`, "5"},
		{"reads", []string{`get tasks count`, `get tasks count`},
			200, `\{"ok":2,"results":\[\{"rows":\[\{"count":2\}\]\},\{"rows":\[\{"count":2\}\]\}\]\}`, "3"},
		{"read fails", []string{`get tasks count`, `get nope`}, 404, `\{"error":".*","completed":0,"at":1\}`, ""},
		{"collections", []string{`collections`}, 200, `\{"ok":1,"results":\[\{"collections":\[.*\]\}\]\}`, "3"},
		{"nothing to delete", []string{`del tasks where key="none"`}, 200, `\{"ok":1,"results":\[\{"affected":0\}\]\}`, "3"},
		{"does not parse", []string{`get tasks count`, `gett`}, 400, `\{"error":".*","completed":0,"at":1\}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := start(t, serve.Options{}, tasks...)
			r := c.batch(tc.lines...)
			require.Equal(t, tc.status, r.status, r.body)
			require.Regexp(t, regexp.MustCompile(`^`+tc.body+`$`), r.body)
			require.Equal(t, tc.seq, r.header.Get("Fenec-Seq"))
			if tc.status != 200 {
				require.Equal(t, `[{"count":2}]`, c.query("get tasks count").body)
				require.Equal(t, 404, c.query("get u").status)
			}
		})
	}
}

func TestBatchWithCompactIsNoBlock(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	r := c.batch(`put tasks {key:"k3"}`, `compact`, `put tasks {zz:1}`)
	require.Equal(t, 404, r.status)
	require.Regexp(t, `"completed":2,"at":2\}$`, r.body)
	require.Equal(t, `[{"count":3}]`, c.query("get tasks count").body)
}

func TestBatchLines(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	put := `{"query":"put tasks {n: 1}"}`
	for _, tc := range []struct {
		body   string
		status int
		want   string
	}{
		{"\n\n", 400, "no statement"},
		{"", 400, "no statement"},
		{put + "\n{bad", 400, "batch line 2"},
		{"\n{bad", 400, "batch line 2"},
		{put + "\r\n\r\n" + put + "\r\n", 200, `"ok":2`},
	} {
		r := c.do("POST", "/batch", tc.body)
		require.Equal(t, tc.status, r.status)
		require.Contains(t, r.body, tc.want)
	}
	require.Equal(t, `[{"count":4}]`, c.query("get tasks count").body)
}

func TestRoutes(t *testing.T) {
	c := start(t, serve.Options{}, books...)
	r := c.do("GET", "/", "")
	require.Equal(t, `{"fenecdb":"`+fenec.Version+`","collections":["books","reviews"]}`, r.body)
	require.Equal(t, c.query("collections").body, c.do("GET", "//collections/", "").body)
	require.Equal(t, `{"ok":true}`, c.do("GET", "/_health", "").body)
	head := c.do("HEAD", "/_health", "")
	require.Equal(t, 200, head.status)
	require.Equal(t, "11", head.header.Get("Content-Length"))
	require.Equal(t, 404, c.do("POST", "/_health", "").status)
	require.Equal(t, 404, c.do("GET", "/query", "").status)
	require.Equal(t, 404, c.do("GET", "/%2e/x%2Fy", "").status)
	require.Equal(t, 204, c.do("OPTIONS", "/query", "").status)
	require.Equal(t, 501, c.do("BREW", "/", "").status)
	require.Equal(t, "abc-1", c.do("GET", "/", "", "X-Request-Id: abc-1").header.Get("X-Request-Id"))
	require.Regexp(t, `^[0-9a-f]{16}$`, c.do("GET", "/", "", "X-Request-Id: "+strings.Repeat("x", 129)).header.Get("X-Request-Id"))
}

// A hook's error without a kind refuses the write, and its text is told.
func TestHookRefuses(t *testing.T) {
	c := start(t, serve.Options{}, "create collection n (i int)")
	c.db.SetHook(func(*fenec.RowChange) error { return errors.New("not on Sundays") })
	r := c.query("put n {i: 1}")
	require.Equal(t, 403, r.status)
	require.Equal(t, `{"error":"denied: not on Sundays"}`, r.body)
	r = c.batch("get n", "put n {i: 1}")
	require.Equal(t, 403, r.status)
	require.Equal(t, `{"error":"denied: not on Sundays","completed":0,"at":1}`, r.body)
}

func TestToken(t *testing.T) {
	c := start(t, serve.Options{Token: serve.NewSecret("sesame")}, tasks...)
	for _, h := range []string{"X: y", "Authorization: Bearer wrong", "Authorization: bearer sesame", "Authorization: sesame", "Authorization: Bearer  sesame"} {
		r := c.do("GET", "/", "", h)
		require.Equal(t, 401, r.status, h)
		require.Equal(t, "Bearer", r.header.Get("WWW-Authenticate"))
		require.NotContains(t, r.body, "sesame")
	}
	require.Equal(t, 200, c.do("GET", "/", "", "Authorization: Bearer sesame").status)
	require.Equal(t, 200, c.do("GET", "/_health", "").status)
	require.Equal(t, 401, c.do("OPTIONS", "/query", "").status)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", serve.NewSecret("sesame"), serve.Options{Token: serve.NewSecret("sesame")}, serve.Options{Token: serve.NewSecret("sesame")}), "sesame")
}

func TestBodyTooLarge(t *testing.T) {
	c := start(t, serve.Options{})
	req, err := http.NewRequest("POST", c.url+"/query", http.NoBody)
	require.NoError(t, err)
	req.Body, req.ContentLength = io.NopCloser(endless{}), 64<<20+1
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 413, res.StatusCode)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
