package rest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	s := open(t, library...)
	tests := []struct{ target, want string }{
		{"/books?id=1", `[{"id":1,"title":"Go in Practice","tags":["go","web"],"pages":310,"blurb":"x","out":"2024-02-01T00:00:00Z","price":19.5,"vec":[2,0,1]}]`},
		{"/books?id=9", `[]`},
		{"//books/?select=title&pages=205", `[{"title":"Deep Queues"}]`},
		{"/books?select=pages&pages=gte.200&order=pages.desc", `[{"pages":310},{"pages":205}]`},
		{"/books?select=pages&order=pages&limit=2&offset=1", `[{"pages":205},{"pages":310}]`},
		{"/books?select=id&pages=gte.100&pages=lt.300", `[{"id":2}]`},
		{"/books?select=id&tags=has.go", `[{"id":1},{"id":2}]`},
		{"/books?select=id&title=like.QUEUE", `[{"id":2}]`},
		{"/books?select=id&blurb=is.null", `[{"id":2}]`},
		{"/books?select=id&blurb=not.is.null", `[{"id":1},{"id":3}]`},
		{"/books?select=id&pages=in.(96,310)&order=id", `[{"id":1},{"id":3}]`},
		{"/books?select=id&pages=not.in.(96,310)", `[{"id":2}]`},
		{"/books?select=id&pages=neq.96&order=id.desc", `[{"id":2},{"id":1}]`},
		{"/books?select=id&out=gte.2023-01-01", `[{"id":1}]`},
		{"/books?select=id&out=gte.1672531200000", `[{"id":1}]`},
		{"/books?select=id&price=0.1", `[{"id":2}]`},
		{"/books?select=price&order=price", `[{"price":0.1},{"price":7},{"price":19.5}]`},
		{"/books?select=out&id=2", `[{"out":"2022-07-15T10:00:00Z"}]`},
		{"/books?count", `{"count":3}`},
		{"/books?count=yes&pages=gt.100", `{"count":2}`},
		{"/books?count=no&select=id&limit=1", `[{"id":1}]`},
		{"/books?select=id&where=pages = 96 or pages = 310", `[{"id":1},{"id":3}]`},
		{`/books?select=id&where=lower(title) ~ "maps"`, `[{"id":3}]`},
		{"/books?select=id&title=like.in+Prac", `[{"id":1}]`},
		{"/reviews?select=book,count(*),sum(stars),avg(stars)&group=book&order=count(*).desc",
			`[{"book":1,"count":2,"sum(stars)":7,"avg(stars)":3.5},{"book":3,"count":1,"sum(stars)":4,"avg(stars)":4}]`},
		{"/reviews?select=max(stars),min(who)&book=eq.1", `[{"max(stars)":5,"min(who)":"ann"}]`},
		{"/reviews?select=who,stars * 2 as twice&order=id&limit=1", `[{"who":"ann","twice":10}]`},
		{"/books?title=v1.2", `[]`},
		{"/books?select=id&limit=1&facet=pages top 1", `{"rows":[{"id":1}],"facets":{"pages":[{"value":96,"count":1}]}}`},
		{"/books?count&facet=blurb", `{"count":3,"facets":{"blurb":[{"value":null,"count":1},{"value":"x","count":1},{"value":"z","count":1}]}}`},

		// The last of a repeated clause, and every condition.
		{"/books?select=id&limit=3&limit=1&select=title", `[{"title":"Go in Practice"}]`},
		{"/books?select=id&where=pages > 100&where=pages < 300&title=not.like.maps", `[{"id":2}]`},
		{"/books?select=id&where=pages > 400 or pages < 100&where=true", `[{"id":3}]`},
		{"/books?count=no&count=TRUE", `{"count":3}`},
		{"/books?select= id , ,title,&id=3", `[{"id":3,"title":"Old Maps"}]`},
		{"/books?select=id&order=,blurb.desc,id", `[{"id":3},{"id":1},{"id":2}]`},
		{"/books?select=title&order=title.desc.tr&limit=1", `[{"title":"Old Maps"}]`},
		{"/books?select=title&order=title.und&limit=1", `[{"title":"Deep Queues"}]`},
		{"/books?select=id&pages=not.not.gt.300", `[{"id":1}]`},
		{"/books?select=id&tags=in.(web, infra)", `[{"id":1},{"id":2}]`},
		{"/books?select=id&tags=not.has.go", `[{"id":3}]`},
		{"/books?select=id&vec=not.is.null&limit=1", `[{"id":1}]`},
		{"/books?select=id&pages=like.31", `[]`},
		{"/reviews?select=book,count(*) as n&group=book&order=n.desc,book&limit=1", `[{"book":1,"n":2}]`},
		{"/reviews?select=book,max(stars)&group=by book&order=max(stars).asc", `[{"book":3,"max(stars)":4},{"book":1,"max(stars)":5}]`},
		{"/reviews?select=bucket(stars, 3) as s,count(*)&group=s", `[{"s":0,"count":1},{"s":3,"count":2}]`},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			status, got := s.do("GET", tt.target, "")
			require.Equal(t, 200, status, got)
			require.Equal(t, tt.want, got)
		})
	}
	_, want := s.do("GET", "/books?count", "")
	_, got := s.do("HEAD", "/books?count", "")
	require.Equal(t, want, got)
}

func TestReadRefused(t *testing.T) {
	s := open(t, library...)
	tests := []struct {
		target string
		status int
		names  string // what the error tells
	}{
		{"/nope", 404, "nope"},
		{"/books?nofield=1", 404, `"nofield" in collection "books"`},
		{"/books?title.x=1", 404, "title.x"},
		{"/books?=1", 404, ""},
		{"/books?select=nofield", 404, "nofield"},
		{"/books?select=lower(nofield) as x", 404, "nofield"},
		{"/books?select=*", 404, "*"},
		{"/books?select=", 400, "select"},
		{"/books?select=title(", 400, "select"},
		{"/books?select=count(*) limit 1", 400, "select"},
		{"/books?select=count(*) from reviews", 400, "select"},
		{"/books?select=id as x where false", 400, "select"},
		{"/books?order=nofield", 404, "nofield"},
		{"/books?order=pages.up", 400, "up"},
		{"/books?order=title.de", 400, "de"},
		{"/books?order=pages.tr", 400, "pages"},
		{"/books?order=id.und", 400, "id"},
		{"/books?order=pages.desc.asc", 400, "asc"},
		{"/books?order=pages.", 400, "modifier"},
		{"/books?order=", 400, "order"},
		{"/books?order=count(*)", 400, "group"},
		{"/books?order=lower(title)", 400, "lower"},
		{"/books?order=pages desc", 404, "pages desc"},
		{"/books?pages=gte.x", 400, "pages"},
		{"/books?pages=", 400, "pages"},
		{"/books?pages=1.5", 400, "pages"},
		{"/books?pages=9223372036854775808", 400, "pages"},
		{"/books?pages=in.()", 400, "pages"},
		{"/books?pages=in.(1,,2)", 400, "pages"},
		{"/books?price=NaN", 400, "price"},
		{"/books?price=inf", 400, "price"},
		{"/books?price=-inf", 400, "price"},
		{"/books?price=", 400, "price"},
		{"/books?price=1e", 400, "price"},
		{"/books?price=1.2.3", 400, "price"},
		{"/books?price=--1", 400, "price"},
		{"/books?price=0x10", 400, "price"},
		{"/books?price=1e999", 400, "price"},
		{"/books?limit=all", 400, "limit"},
		{"/books?limit=-1", 400, "limit"},
		{"/books?limit=", 400, "limit"},
		{"/books?offset=1.0", 400, "offset"},
		{"/books?limit=9223372036854775808", 400, "limit"},
		{"/books?tags=eq.go", 400, "has"},
		{"/books?tags=go", 400, "has"},
		{"/books?tags=like.go", 400, "has"},
		{"/books?vec=eq.1", 400, "near"},
		{"/books?vec=in.(1,2)", 400, "near"},
		{"/books?vec=like.1", 400, "near"},
		{"/books?blurb=is.true", 400, "null"},
		{"/books?out=gte.yesterday", 400, "out"},
		{"/books?count&limit=2", 400, "limit"},
		{"/books?count&offset=2", 400, "offset"},
		{"/books?count&order=id", 400, "order"},
		{"/books?count&select=id", 400, "select"},
		{"/books?count&group=pages", 400, "group"},
		{"/books?where=pages > 1 limit 1", 400, "where"},
		{"/books?where=pages >", 400, "where"},
		{"/books?where=", 400, "where"},
		{"/books?where=pages > $1", 400, "parameters"},
		{"/books?where=count(*) > 1", 400, "count"},
		{"/books?where=true) or (true", 400, "where"},
		{"/books?select=$1 as x,lower(title) as y", 400, "parameters"},
		{"/reviews?select=sum(who)", 400, "who"},
		{"/reviews?select=count(*)&limit=1", 400, "limit"},
		{"/reviews?group=book", 400, ""},
		{"/reviews?select=count(*)&group=book having true", 400, "group"},
		{"/reviews?select=count(*)&group=", 400, "group"},
		{"/books/near", 404, ""},
		{"/books/1", 404, ""},
		{"/books/all", 404, ""},
		{"/books/near/x", 404, ""},
		{"/", 404, ""},
		{"/books?facet=pages,pages", 400, "pages"},
		{"/books?facet=nofield", 404, "nofield"},
		{"/books?facet=pages limit 3", 400, "facet"},
		{"/books?facet=pages&group=pages&select=count(*)", 400, "group"},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			status, got := s.do("GET", tt.target, "")
			require.Equal(t, tt.status, status, got)
			require.Contains(t, got, tt.names)
		})
	}
}

func TestLookup(t *testing.T) {
	s := open(t, append(library, `create collection notes (review int @hash, text text, meta json)`,
		`put notes [{review: 1, text: "a", meta: {k: 1}}, {review: 1, text: "b", meta: {k: 2}}]`)...)
	tests := []struct {
		target string
		status int
		want   string
	}{
		{"/books?select=title&id=1&lookup=reviews&reviews.on=book&reviews.select=stars&reviews.stars=gte.3",
			200, `[{"title":"Go in Practice","reviews":[{"stars":5}]}]`},
		{"/books?select=id&lookup=reviews&reviews.on=book&reviews.select=who&reviews.order=stars&reviews.limit=1",
			200, `[{"id":1,"reviews":[{"who":"bo"}]},{"id":2,"reviews":[]},{"id":3,"reviews":[{"who":"cy"}]}]`},
		{"/books?select=id&lookup=reviews&reviews.on=book&reviews.stars=gte.5&reviews.required=true&reviews.select=who",
			200, `[{"id":1,"reviews":[{"who":"ann"}]}]`},
		{"/books?count&lookup=reviews&reviews.on=book&reviews.required=1", 200, `{"count":2}`},
		{"/books?select=id&lookup=reviews,notes&reviews.on=book&notes.on=review&notes.where=text = \"b\"&notes.select=text,meta.k" +
			"&reviews.select=id&reviews.required&notes.required&notes.parent=id&notes.meta.k=2",
			200, `[{"id":1,"reviews":[{"id":1,"notes":[{"text":"b","meta.k":2}]}]}]`},
		{"/books?select=id&id=1&lookup=reviews&lookup=nope&reviews.on=book&reviews.select=id&reviews.offset=1&reviews.order=id.desc",
			200, `[{"id":1,"reviews":[{"id":1}]}]`},

		{"/books?lookup=reviews", 400, "reviews.on"},
		{"/books?lookup=nope&nope.on=x", 404, "nope"},
		{"/books?lookup=reviews&reviews.on=zz", 404, "zz"},
		{"/books?lookup=reviews&reviews.on=book&reviews.parent=zz", 404, "zz"},
		{"/books?lookup=reviews&reviews.on=book&count", 400, "required"},
		{"/books?lookup=books&books.on=id", 400, "itself"},
		{"/books?lookup=reviews,reviews&reviews.on=book", 400, "itself"},
		{"/books?lookup=", 400, "lookup"},
		{"/books?lookup=a,b,c,d,e,f,g,h,i", 400, "8"},
		{"/books?lookup=reviews&reviews.on=book&reviews.zz=1", 404, "zz"},
		{"/books?lookup=reviews&reviews.on=book&reviews.select=zz", 404, "zz"},
		{"/books?lookup=reviews&reviews.on=book&reviews.select=count(*)", 400, "reviews.select"},
		{"/books?lookup=reviews&reviews.on=book&reviews.order=sum(stars)", 400, ""},
		{"/books?lookup=reviews&reviews.on=book&reviews.limit=x", 400, "reviews.limit"},
		{"/books?lookup=reviews&reviews.on=book&reviews.where=stars >", 400, "reviews.where"},
		{"/books?lookup=reviews&reviews.on=who", 400, "index"},
		{"/books?reviews.on=book", 404, "reviews.on"},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			status, got := s.do("GET", tt.target, "")
			require.Equal(t, tt.status, status, got)
			require.Contains(t, got, tt.want)
		})
	}
}
