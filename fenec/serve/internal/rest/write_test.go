package rest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// exchange is a request and its answer. Where the status is an error's, want is
// what it tells.
type exchange struct {
	method, target, body string
	status               int
	want                 string
}

func (s *surface) require(t *testing.T, list ...exchange) {
	t.Helper()
	for _, x := range list {
		status, got := s.do(x.method, x.target, x.body)
		require.Equal(t, x.status, status, "%s %s: %s", x.method, x.target, got)
		if status >= 400 {
			require.Contains(t, got, x.want)
		} else {
			require.Equal(t, x.want, got, "%s %s", x.method, x.target)
		}
	}
}

func TestWrite(t *testing.T) {
	tests := map[string]struct {
		fixture   []string
		exchanges []exchange
		changes   uint64
	}{
		"insert one":  {library, []exchange{{"POST", "/books", `{"title":"New","pages":1}`, 201, `{"inserted":1}`}}, 1},
		"insert many": {library, []exchange{{"POST", "/books", `[{"title":"a"},{"title":"b"}]`, 201, `{"inserted":2}`}}, 2},
		"insert with an id": {library, []exchange{
			{"POST", "/books", `{"id":40,"title":"x"}`, 201, `{"inserted":1}`},
			{"GET", "/books?select=title&id=40", ``, 200, `[{"title":"x"}]`},
		}, 1},
		"insert a taken id": {library, []exchange{
			{"POST", "/books", `[{"id":41,"title":"x"},{"id":1,"title":"y"}]`, 409, "1"},
			{"GET", "/books?count", ``, 200, `{"count":3}`},
		}, 0},
		"insert what is wrong": {library, []exchange{
			{"POST", "/books", `{"nofield":1}`, 400, "nofield"},
			{"POST", "/books", `{"title":"x","title.a":1}`, 400, "title.a"},
			{"POST", "/books", `{"pages":1}`, 400, "title"},
			{"POST", "/books", `{"title":5}`, 400, "title"},
			{"POST", "/books", `{"title":"x","pages":"7"}`, 400, "pages"},
			{"POST", "/books", `{"title":"x","vec":[1,2]}`, 400, "vec"},
			{"POST", "/books", `[]`, 400, "empty"},
			{"POST", "/books", `{oops`, 400, ""},
			{"POST", "/books", ``, 400, ""},
			{"POST", "/books", `7`, 400, "document"},
			{"POST", "/books", `[{"title":"x"},7]`, 400, "document"},
			{"POST", "/books", `{"title":"x","title":"y"}`, 400, "title"},
			{"POST", "/nope", `{"a":1}`, 404, "nope"},
			{"POST", "/", `{"a":1}`, 404, ""},
			{"POST", "/books/all", `{"title":"x"}`, 404, ""},
			{"POST", "/books/1", `{"title":"x"}`, 404, ""},
		}, 0},
		"update": {library, []exchange{
			{"PATCH", "/books?pages=gte.200", `{"blurb":"n"}`, 200, `{"updated":2}`},
			{"PATCH", "/books?id=99", `{"blurb":"n"}`, 200, `{"updated":0}`},
			{"GET", "/books?select=id&blurb=n", ``, 200, `[{"id":1},{"id":2}]`},
		}, 2},
		"put is no replacement": {library, []exchange{
			{"PUT", "/books?id=1", `{"blurb":null}`, 200, `{"updated":1}`},
			{"GET", "/books?select=title,blurb&id=1", ``, 200, `[{"title":"Go in Practice","blurb":null}]`},
		}, 1},
		"update with a list of one": {library, []exchange{{"PATCH", "/books?id=1", `[{"blurb":"n"}]`, 200, `{"updated":1}`}}, 1},
		"update all":                {library, []exchange{{"PATCH", "/books/all", `{"blurb":"n"}`, 200, `{"updated":3}`}}, 3},
		"update what is wrong": {library, []exchange{
			{"PATCH", "/books", `{"blurb":"n"}`, 400, "/books/all"},
			{"PATCH", "/books/all?id=1", `{"blurb":"n"}`, 400, "filter"},
			{"PATCH", "/books/all?limit=1", `{"blurb":"n"}`, 400, "limit"},
			{"PATCH", "/books?id=1&limit=1", `{"blurb":"n"}`, 400, "limit"},
			{"PATCH", "/books?id=1&order=id", `{"blurb":"n"}`, 400, "order"},
			{"PATCH", "/books?id=1&where=title ~ $1", `{"blurb":"n"}`, 400, "where"},
			{"PATCH", "/books?nofield=1", `{"blurb":"n"}`, 404, "nofield"},
			{"PATCH", "/books?id=1", `{}`, 400, ""},
			{"PATCH", "/books?id=1", `[{"blurb":"a"},{"blurb":"b"}]`, 400, ""},
			{"PATCH", "/books?id=1", `[1]`, 400, ""},
			{"PATCH", "/books?id=1", `{"nofield":1}`, 400, "nofield"},
			{"PATCH", "/books?id=1", `{"id":7}`, 400, "id"},
			{"PATCH", "/books?id=1", `{"pages":"7"}`, 400, "pages"},
			{"PUT", "/books/near", `{"vector":[1,0,0]}`, 404, ""},
			{"PATCH", "/nope?id=1", `{"a":1}`, 404, "nope"},
		}, 0},
		"delete":     {library, []exchange{{"DELETE", "/books?pages=lt.300", ``, 200, `{"deleted":2}`}}, 2},
		"delete all": {library, []exchange{{"DELETE", "/books/all", ``, 200, `{"deleted":3}`}, {"GET", "/books?count", ``, 200, `{"count":0}`}}, 3},
		"delete by a condition": {library, []exchange{
			{"DELETE", `/books?where=pages < 100 and title ~ "maps"`, ``, 200, `{"deleted":1}`},
		}, 1},
		"delete what is wrong": {library, []exchange{
			{"DELETE", "/books", ``, 400, "/books/all"},
			{"DELETE", "/books/all?id=1", ``, 400, "filter"},
			{"DELETE", "/books/all?where=true", ``, 400, "filter"},
			{"DELETE", "/books?lookup=reviews", ``, 400, "lookup"},
			{"DELETE", "/books/near", ``, 404, ""},
		}, 0},
		"unique values": {tasks, []exchange{
			{"POST", "/tasks", `{"key":"k1","state":"x"}`, 409, "k1"},
			{"PATCH", "/tasks?key=k2", `{"key":"k1"}`, 409, "k1"},
		}, 0},
		"surrogates": {tasks, []exchange{
			{"POST", "/tasks", `{"key":"\ud83e\udd80"}`, 201, `{"inserted":1}`},
			{"GET", "/tasks?select=key&id=3", ``, 200, `[{"key":"🦀"}]`},
		}, 1},
		"exact numbers": {accounts, []exchange{
			{"POST", "/accts", `{"name":"c","bal":9223372036854775807}`, 201, `{"inserted":1}`},
			{"GET", "/accts?select=bal&name=c", ``, 200, `[{"bal":9223372036854775807}]`},
			{"GET", "/accts?select=name&bal=9223372036854775807", ``, 200, `[{"name":"c"}]`},
			{"POST", "/accts", `{"name":"d","bal":9223372036854775808}`, 400, "bal"},
		}, 1},
		"json": {documents, []exchange{
			{"POST", "/docs", `{"title":"a","meta":{"z":[19.99,12345678901],"b":{"c":1}}}`, 201, `{"inserted":1}`},
			{"GET", "/docs?select=meta", ``, 200, `[{"meta":{"b":{"c":1},"z":[19.99,12345678901]}}]`},
			{"PATCH", "/docs?title=a", `{"meta.b.c":2}`, 200, `{"updated":1}`},
			{"GET", "/docs?select=meta.b", ``, 200, `[{"meta.b":{"c":2}}]`},
			{"GET", "/docs?select=title&meta.b.c=gte.2", ``, 200, `[{"title":"a"}]`},
			{"POST", "/docs", `{"meta":{"a":1,"a":2}}`, 400, ""},
			{"POST", "/docs", `{"title":"b","meta.k":"v","meta.n":7}`, 201, `{"inserted":1}`},
			{"PATCH", "/docs?title=b", `{"meta.a b":2}`, 400, "meta.a b"},
			{"GET", "/docs?select=title&meta.k=v", ``, 200, `[{"title":"b"}]`},
			{"GET", `/docs?select=title&meta.n=in.(6,7)`, ``, 200, `[{"title":"b"}]`},
			{"GET", `/docs?select=title&meta.n="7"`, ``, 200, `[]`},
			{"GET", `/docs?select=title&meta.k=null&order=meta.n.desc`, ``, 200, `[{"title":"a"}]`},
			{"GET", `/docs?select=title&meta.b.c=not.is.null`, ``, 200, `[{"title":"a"}]`},
			{"GET", `/docs?select=title&meta.z=has.19.99`, ``, 200, `[{"title":"a"}]`},
			{"GET", `/docs?select=title&meta.k=like.V`, ``, 200, `[{"title":"b"}]`},
			{"GET", `/docs?select=title,meta.n&order=meta.n.desc`, ``, 200, `[{"title":"b","meta.n":7},{"title":"a","meta.n":null}]`},
			{"GET", `/docs?order=meta.k.tr`, ``, 400, "meta.k"},
			{"GET", `/docs?select=meta.a b`, ``, 400, "meta.a b"},
			{"GET", `/docs?meta.a--b=1`, ``, 400, "meta.a--b"},
		}, 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := open(t, tt.fixture...)
			before := s.db.Seq()
			s.require(t, tt.exchanges...)
			require.Equal(t, before+tt.changes, s.db.Seq(), "documents written")
		})
	}
}

// Names of fields that are words of the language.
func TestFieldsWithNamesOfKeywords(t *testing.T) {
	s := open(t, `create collection from (null int, not bool, case text, by int, desc int, limit int, where int, in text)`,
		`put from {null: 1, not: true, case: "x", by: 2, desc: 3, limit: 4, where: 5, in: "y"}`)
	s.require(t,
		exchange{"GET", "/from?not=true&select=not,case", "", 200, `[{"not":true,"case":"x"}]`},
		exchange{"GET", "/from?case=not.eq.y&not=not.is.null&select=by&by=in.(2)&in=y", "", 200, `[{"by":2}]`},
		exchange{"GET", "/from?order=by.desc,desc,null&select=desc&desc=not.lt.3", "", 200, `[{"desc":3}]`},
		exchange{"GET", "/from?where=limit = 4 and not&select=where", "", 200, `[{"where":5}]`},
		exchange{"GET", "/from?select=not,count(*)&group=not", "", 200, `[{"not":true,"count":1}]`},
		exchange{"GET", "/from?null=1", "", 400, "null"},
		exchange{"GET", "/from?select=null", "", 400, "null"},
		exchange{"PATCH", "/from?not=t", `{"null":7,"not":false,"in":"z"}`, 200, `{"updated":1}`},
		exchange{"GET", "/from?not=f", "", 200,
			`[{"id":1,"null":7,"not":false,"case":"x","by":2,"desc":3,"limit":4,"where":5,"in":"z"}]`},
		exchange{"DELETE", "/from?in=z", "", 200, `{"deleted":1}`},
	)
}

// Filters of every type, and what each takes for a value.
func TestLiterals(t *testing.T) {
	s := open(t, `create collection t (b bool, i int, f float, s text, x bytes, at timestamp, p geo, v vector<2>, w sparse<4>, l [float], m [[int]])`,
		`put t {b: true, i: -3, f: 2.5, s: "1.5", x: "ab", at: 86400000, p: [29, 41], v: [1, 0], w: "{1:1}/4", l: [1, 2.5], m: [[1]]}`)
	one, none := `{"count":1}`, `{"count":0}`
	for _, tt := range []struct {
		filter string
		want   string // or an error that tells so
	}{
		{"b=T", one}, {"b=1", one}, {"b=TRUE", one}, {"b=f", none}, {"b=yes", "type error"}, {"b=", "type error"},
		{"i=-3", one}, {"i=eq.-3", one}, {"i=ne.-3", none}, {"i=ge.-3", one}, {"i=le.-4", none}, {"i= -3", "type error"},
		{"f=2.5", one}, {"f=%2B25e-1", one}, {"f=.25e1", one}, {"f=gt.2", one}, {"f=1_0", "type error"},
		{"s=1.5", one}, {"s=eq.1.5", one}, {"s=EQ.1.5", none}, {"s=in.(1.5,2)", one}, {"s=in.1.5", one}, {"s=gte.1.4", one},
		{"s=has.1", none}, {"s=", none}, {"s=like.", one}, {"s=is.NULL", none},
		{"x=ab", one}, {"x=like.b", none}, {"x=gt.aa", one},
		{"at=86400000", one}, {"at=1970-01-02", one}, {"at=1970-01-02 03:00%2B03:00", one}, {"at=1970/01/02", "type error"}, {"at=1970-02-30", "type error"},
		{"p=is.null", none}, {"p=1", "distance("}, {"p=has.1", "distance("}, {"p=like.1", "distance("},
		{"v=is.null", none}, {"v=1", "near"}, {"w=not.is.null", one}, {"w=1", "near"},
		{"l=has.2.5", one}, {"l=has.x", "type error"}, {"l=in.(7,1)", one}, {"l=not.in.(7,1)", none}, {"l=gt.1", "has"},
		{"m=has.1", "list"}, {"m=is.null", none},
	} {
		t.Run(tt.filter, func(t *testing.T) {
			status, got := s.do("GET", "/t?count&"+tt.filter, "")
			if status == 200 {
				require.Equal(t, tt.want, got)
				return
			}
			require.Equal(t, 400, status)
			require.Contains(t, got, tt.want)
		})
	}
}

// Requests of one form have one text, so that the database keeps it compiled.
func TestEqualShapesHaveEqualTexts(t *testing.T) {
	s := open(t, library...)
	same := func(method, body string, targets ...string) {
		t.Helper()
		first, err := s.translate(method, targets[0], body)
		require.NoError(t, err)
		for _, to := range targets[1:] {
			st, err := s.translate(method, to, body)
			require.NoError(t, err)
			require.Equal(t, first.Text, st.Text)
		}
	}
	same("GET", "", "/books?id=1", "//books/?id=eq.2")
	same("GET", "", "/books?title=like.a&pages=in.(1,2)", `/books?title=like."; del books&pages=in.(3,4)`)
	same("GET", "", "/books?where=pages>1", "/books?where=pages  > 1 -- one")
	same("DELETE", "", "/books?id=1", "/books?id=2")
	same("PATCH", `{"blurb":"a"}`, "/books?id=1", "/books?id=2")

	st, err := s.translate("GET", "/books?select=id&title=x&pages=gte.7&where=price < 2 or price > 3", "")
	require.NoError(t, err)
	require.Equal(t, `get books select id where title = $1 and pages >= $2 and (price < 2 or price > 3)`, st.Text)
	require.Len(t, st.Args, 2)
	_, err = s.db.Query(context.Background(), st.Text, st.Args...)
	require.NoError(t, err)
}
