package rest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNear(t *testing.T) {
	s := open(t, append(library,
		`create collection notes (title text, body text @text, more text @text, v vector<2> @hnsw(dot), u vector<2> @hnsw,
			s sparse<10> @inverted, at geo @geo, plain vector<2>)`,
		`put notes [
			{title: "a", body: "a red fox", more: "hen", v: [1, 0], u: [1, 0], s: "{1:2}/10", at: [29, 41]},
			{title: "b", body: "a hen", more: "fox", v: [0, 1], u: [0, 1], s: "{1:1,2:4}/10", at: [30, 41]}]`,
		`create collection pages (body text @text, v vector<2> @hnsw(dot))`,
		`put pages [{body: "fox", v: [0, 1]}, {body: "hen", v: [1, 0]}, {body: "owl", v: [0.5, 0.5]}]`)...)
	s.require(t,
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"limit":2,"select":["id"]}`, 200, `[{"id":1,"_score":2},{"id":2,"_score":0.25}]`},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"select":"id","limit":1}`, 200, `[{"id":1,"_score":2}]`},
		exchange{"POST", "/books/near?pages=lt.300", `{"vector":[1,0,0],"limit":5,"select":["id"],"where":"tags has \"go\""}`, 200, `[{"id":2,"_score":0.25}]`},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"limit":1,"offset":1,"select":["id"],"exact":true}`, 200, `[{"id":2,"_score":0.25}]`},
		exchange{"POST", "/books/near?limit=x&where=pages < 300&order=zz", `{"vector":[1,0,0],"limit":null,"ef":0,"select":["id","title"],"other":1}`, 200,
			`[{"id":2,"title":"Deep Queues","_score":0.25},{"id":3,"title":"Old Maps","_score":0}]`},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"ef":50,"limit":1,"select":"id,lower(title) as t"}`, 200, `[{"id":1,"t":"go in practice","_score":2}]`},
		exchange{"POST", "/books/near", `{"field":"title","vector":[1,0,0]}`, 400, "title"},
		exchange{"POST", "/books/near", `{"field":"zz","vector":[1,0,0]}`, 404, "zz"},
		exchange{"POST", "/books/near", `{"field":"id","vector":[1,0,0]}`, 400, "id"},
		exchange{"POST", "/books/near", `{"field":7,"vector":[1,0,0]}`, 400, "field"},
		exchange{"POST", "/books/near", `{"vector":[]}`, 400, "vector"},
		exchange{"POST", "/books/near", `{"vector":null}`, 400, "vector"},
		exchange{"POST", "/books/near", `{"vector":[1,0]}`, 400, "vector<3>"},
		exchange{"POST", "/books/near", `{"vector":[1,0,"x"]}`, 400, "vector<3>"},
		exchange{"POST", "/books/near", `{"limit":3}`, 400, "vector"},
		exchange{"POST", "/books/near", `{"vector":"x"}`, 400, "vector"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"limit":-1}`, 400, "limit"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"limit":"1"}`, 400, "limit"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"limit":10001}`, 400, "10000"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"limit":9999,"offset":2}`, 400, "10000"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"exact":1}`, 400, "exact"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"select":["zz"]}`, 404, "zz"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"select":[1]}`, 400, "select"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"select":7}`, 400, "select"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"select":[]}`, 400, "select"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"where":"pages >"}`, 400, "where"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"where":"pages > $1"}`, 400, "where"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"where":7}`, 400, "where"},
		exchange{"POST", "/books/near?zz=1", `{"vector":[1,0,0]}`, 404, "zz"},
		exchange{"POST", "/books/near", `[1,0,0]`, 400, "vector"},
		exchange{"POST", "/books/near", ``, 400, ""},
		exchange{"POST", "/reviews/near", `{"vector":[1]}`, 400, "vector"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"match":"go"}`, 400, "@text"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"match":7}`, 400, "match"},
		exchange{"POST", "/books/near", `{"vector":[1,0,0],"fuse_k":"x"}`, 400, "fuse_k"},
		exchange{"POST", "/nope/near", `{"vector":[1]}`, 404, "nope"},

		exchange{"POST", "/notes/near", `{"vector":[1,0]}`, 400, "several"},
		exchange{"POST", "/notes/near", `{"field":"plain","vector":[1,0]}`, 400, "plain"},
		exchange{"POST", "/notes/near", `{"field":"v","vector":[0,2],"limit":1,"select":"title"}`, 200, `[{"title":"b","_score":2}]`},
		exchange{"POST", "/notes/near", `{"field":"s","vector":"{1:1,2:1}/10","select":"title"}`, 200, `[{"title":"b","_score":5},{"title":"a","_score":2}]`},
		exchange{"POST", "/notes/near", `{"field":"s","vector":[1,1],"select":"title"}`, 400, "text"},
		exchange{"POST", "/notes/near", `{"field":"s","vector":"{1:1}/11","select":"title"}`, 400, ""},
		exchange{"POST", "/notes/near", `{"field":"at","vector":[30,41],"limit":1,"select":"title"}`, 200, `[{"title":"b","_score":0}]`},
		exchange{"POST", "/notes/near", `{"field":"at","vector":[30,91]}`, 400, ""},
		exchange{"POST", "/notes/near", `{"field":"at","vector":"x"}`, 400, "longitude"},

		exchange{"POST", "/pages/near", `{"vector":[1,0],"match":"fox","limit":2,"select":["body"],"fuse_k":1,"candidates":1}`, 200,
			`[{"body":"fox","_score":0.5},{"body":"hen","_score":0.5}]`},
		exchange{"POST", "/pages/near", `{"vector":[1,0],"match":"fox","match_field":"body","limit":1,"select":["highlight(body)"],"fuse_k":0,"candidates":0}`, 200,
			`[{"highlight(body)":[[0,3]],"_score":1.3333334}]`},
		exchange{"POST", "/pages/near", `{"vector":[1,0],"match":"fox","match_field":"v"}`, 400, "match_field"},
		exchange{"POST", "/pages/near", `{"vector":[1,0],"match":"fox","match_field":"zz"}`, 400, "match_field"},
		exchange{"POST", "/pages/near", `{"vector":[1,0],"match":"fox","candidates":10001}`, 400, "10000"},
		exchange{"POST", "/pages/near", `{"vector":[1,0],"match":"fox","limit":10001}`, 400, "10000"},
		exchange{"POST", "/notes/near", `{"field":"v","vector":[1,0],"match":"fox"}`, 400, "several"},
		exchange{"POST", "/notes/near", `{"field":"v","vector":[1,0],"match":"fox","match_field":"more","limit":1,"candidates":1,"select":"title"}`, 200,
			`[{"title":"a","_score":0.016393442}]`},
	)
	before := s.db.Seq()
	st, err := s.translate("POST", "/books/near", `{"vector":[1,0,0]}`)
	require.NoError(t, err)
	require.False(t, st.Writes())
	require.Equal(t, before, s.db.Seq())
}
