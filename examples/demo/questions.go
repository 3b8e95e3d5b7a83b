package main

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

// topic is one of the things the demo shows: what it is, and the requests that
// show it.
type topic struct {
	title string
	why   string
	asks  []exchange
}

// exchange is a request to the router and what its answer must be.
type exchange struct {
	method string
	path   string
	shard  bool        // needs the router's token instead of the data's
	body   []statement // one for a query, several lines for a batch
	check  check
}

// query asks one statement of a tenant.
func query(tenant string, c check, text string, params ...any) exchange {
	return exchange{method: "POST", path: "/t/" + tenant + "/query", body: []statement{{text, params}}, check: c}
}

// questions returns the topics. What they expect is worked out from the
// documents that were loaded.
func questions(tenants []tenant) []topic {
	acme, bosphorus := tenants[0], tenants[1]
	return []topic{
		{
			"Filter by an index", "A @hash index on title finds the paragraphs; the others are not read.",
			[]exchange{query(acme.name, rows(acme.lib.longest("Oxygen", 3)),
				"get paragraphs where title = $1 order words desc limit 3 select id, title, words", "Oxygen")},
		},
		{
			"A range, an order, a page", "A @sorted index on words serves all three.",
			[]exchange{query(acme.name, rows(acme.lib.between(200, 300, 4)),
				"get paragraphs where words >= 200 and words < 300 order words limit 4 select id, title, words")},
		},
		{
			"Text that contains", "~ finds a substring, whatever the case.",
			[]exchange{query(acme.name, rows(acme.lib.asked("oxygen", 3)),
				"get questions where q ~ $1 limit 3 select id, q, answer", "OXYGEN")},
		},
		{
			"Count", "Counting answers a number, without the rows.",
			[]exchange{query(acme.name, count(acme.lib.countAsked("how many")),
				"get questions where q ~ $1 count", "how many")},
		},
		{
			"Computed columns", "Expressions are worked out for the rows of the page only.",
			[]exchange{query(acme.name, rows(acme.lib.measured(3)),
				"get paragraphs where id <= 3 select id, upper(title) as title, len(body) as characters, len(body) / words as per_word")},
		},
		{
			"A unique value is taken", "Two articles cannot have one title: 409, and nothing is written.",
			[]exchange{query(acme.name, refused(http.StatusConflict, "Oxygen"),
				"insert articles {title: $1, lang: $2}", "Oxygen", "en")},
		},
		{
			"A batch is all or nothing", "The second line fails, so the first leaves nothing.",
			[]exchange{
				{
					method: "POST", path: "/t/" + acme.name + "/batch",
					body: []statement{
						{"put paragraphs {title: $1, body: $2}", []any{"A draft", "To come."}},
						{"insert articles {title: $1, lang: $2}", []any{"Oxygen", "en"}},
					},
					check: refused(http.StatusConflict, `"completed":0`, `"at":1`),
				},
				query(acme.name, count(0), "get paragraphs where title = $1 count", "A draft"),
			},
		},
		{
			"Change what matches", "set takes any filter that get takes.",
			[]exchange{
				query(acme.name, affected(len(acme.lib.titled("university"))),
					"set articles {starred: true} where title ~ $1", "university"),
				query(acme.name, rows(acme.lib.titled("university")),
					"get articles where starred = true select id, title"),
			},
		},
		{
			"How a query is carried out", "explain runs it and says which index was used.",
			[]exchange{query(acme.name, explained("filter:", "title @hash", "rows: "),
				"explain get paragraphs where title = $1 and words > 100", "Oxygen")},
		},
		{
			"Tenants see only their own", "The same words asked of two tenants: two databases, most likely on two nodes.",
			[]exchange{
				query(acme.name, count(acme.lib.countAsked("oksijen")), "get questions where q ~ $1 count", "oksijen"),
				query(bosphorus.name, count(bosphorus.lib.countAsked("oksijen")), "get questions where q ~ $1 count", "oksijen"),
			},
		},
		{
			"Who lives where", "The router's directory, with each tenant's size. It has a token of its own.",
			[]exchange{{method: "GET", path: "/_shard/tenants?bytes", shard: true, check: placed(tenants)}},
		},
	}
}

// row is a row of an expected answer.
type row = map[string]any

// longest returns the n paragraphs of an article with the most words.
func (l *library) longest(title string, n int) []row {
	var found []paragraph
	for _, p := range l.paragraphs {
		if p.Title == title {
			found = append(found, p)
		}
	}
	return page(found, func(a, b paragraph) int { return b.Words - a.Words }, n, paragraph.brief)
}

// between returns the n shortest paragraphs of low words or more, but fewer
// than high.
func (l *library) between(low, high, n int) []row {
	var found []paragraph
	for _, p := range l.paragraphs {
		if low <= p.Words && p.Words < high {
			found = append(found, p)
		}
	}
	return page(found, func(a, b paragraph) int { return a.Words - b.Words }, n, paragraph.brief)
}

func (p paragraph) brief() row { return row{"id": p.ID, "title": p.Title, "words": p.Words} }

// asked returns the first n questions that contain text.
func (l *library) asked(text string, n int) []row {
	var out []row
	for _, q := range l.questions {
		if len(out) < n && contains(q.Q, text) {
			out = append(out, row{"id": q.ID, "q": q.Q, "answer": q.Answer})
		}
	}
	return out
}

func (l *library) countAsked(text string) int { return len(l.asked(text, len(l.questions))) }

// measured returns the first n paragraphs with their lengths.
func (l *library) measured(n int) []row {
	var out []row
	for _, p := range l.paragraphs[:n] {
		chars := utf8.RuneCountInString(p.Body)
		out = append(out, row{"id": p.ID, "title": strings.ToUpper(p.Title), "characters": chars, "per_word": chars / p.Words})
	}
	return out
}

// titled returns the articles whose title contains text.
func (l *library) titled(text string) []row {
	var out []row
	for _, a := range l.articles {
		if contains(a.Title, text) {
			out = append(out, row{"id": a.ID, "title": a.Title})
		}
	}
	return out
}

func contains(s, text string) bool { return strings.Contains(strings.ToLower(s), text) }
