package rest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Random filters find what the same conditions find that are written by hand in
// the language.
func TestFiltersAgreeWithTheLanguage(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, 1))
	s := open(t, filterSchema)
	for range 60 {
		_, err := s.db.Query(context.Background(), "put t "+randomDocument(r))
		require.NoError(t, err)
	}
	found := 0
	for range 3000 {
		query, condition := randomFilters(r)
		res, err := s.db.Query(context.Background(), "get t select id where "+condition)
		require.NoError(t, err, condition)
		want, err := res.AppendJSON(nil)
		require.NoError(t, err)
		status, got := s.do("GET", "/t?select=id&"+query, "")
		require.Equal(t, 200, status, "%s: %s", query, got)
		require.Equal(t, string(want), got, "seed %d: %s: %s", seed, query, condition)
		found += res.Len()
	}
	require.Greater(t, found, 3000, "the filters find too little to tell anything")
}

const filterSchema = `create collection t (i int @sorted, f float, s text @hash, b bool, at timestamp, l [int], meta json)`

// values are a few values of each field, as filters and as the language have them.
var values = map[string][][2]string{
	"id":     {{"3", "3"}, {"17", "17"}},
	"i":      {{"-1", "-1"}, {"0", "0"}, {"7", "7"}},
	"f":      {{"0.5", "0.5"}, {"2", "2.0"}, {"1e1", "10.0"}},
	"s":      {{"a", `"a"`}, {"A.b", `"A.b"`}, {"eq", `"eq"`}, {`q"\`, `"q\"\\"`}},
	"b":      {{"true", "true"}, {"0", "false"}},
	"at":     {{"1970-01-02", "86400000"}, {"5", "timestamp(5)"}, {"1970-01-01T00:00:01Z", `timestamp("1970-01-01T00:00:01Z")`}},
	"l":      {{"1", "1"}, {"2", "2"}, {"3", "3"}},
	"meta.k": {{"1", "1"}, {`"1"`, `"1"`}, {"x", `"x"`}, {"true", "true"}, {"null", "null"}, {"2.5", "2.5"}},
}

var fields = []string{"id", "i", "f", "s", "b", "at", "l", "meta.k"}

func randomDocument(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("{")
	for _, field := range fields[1:] {
		if r.IntN(4) == 0 {
			continue
		}
		v := values[field][r.IntN(len(values[field]))][1]
		if field == "l" {
			v = []string{"[]", "[1]", "[2, 3]", "[1, 2, 3]"}[r.IntN(4)]
		}
		fmt.Fprintf(&b, "%s: %s, ", field, v)
	}
	return b.String() + "}"
}

func randomFilters(r *rand.Rand) (query, condition string) {
	var pairs, conditions []string
	for range 1 + r.IntN(3) {
		pair, c := randomFilter(r)
		pairs, conditions = append(pairs, pair), append(conditions, "("+c+")")
	}
	if r.IntN(4) == 0 {
		c := "i > 0 or b is null"
		pairs, conditions = append(pairs, "where="+url.QueryEscape(c)), append(conditions, "("+c+")")
	}
	return strings.Join(pairs, "&"), strings.Join(conditions, " and ")
}

var operators = [][2]string{
	{"eq", "="}, {"neq", "!="}, {"ne", "!="}, {"lt", "<"}, {"lte", "<="}, {"le", "<="}, {"gt", ">"}, {"gte", ">="}, {"ge", ">="},
}

// randomFilter returns a pair of a query string and its condition.
func randomFilter(r *rand.Rand) (pair, condition string) {
	field := fields[r.IntN(len(fields))]
	pick := func() [2]string { return values[field][r.IntN(len(values[field]))] }
	v := pick()
	var text string
	switch op := operators[r.IntN(len(operators))]; r.IntN(6) {
	case 0:
		text, condition = "is.null", field+" is null"
	case 1:
		text, condition = randomIn(field, v, pick())
	case 2:
		text, condition = "has."+v[0], field+" has "+v[1]
	case 3:
		text, condition = "like."+v[0], field+" ~ "+strconv.Quote(v[0])
	case 4:
		text, condition = v[0], field+" = "+v[1]
	default:
		text, condition = op[0]+"."+v[0], field+" "+op[1]+" "+v[1]
	}
	if field == "l" && !strings.HasPrefix(text, "in.") && text != "is.null" {
		text, condition = "has."+v[0], "l has "+v[1]
	}
	for range r.IntN(3) {
		text, condition = "not."+text, "not ("+condition+")"
	}
	return url.QueryEscape(field) + "=" + url.QueryEscape(text), condition
}

func randomIn(field string, a, b [2]string) (text, condition string) {
	text = "in.(" + a[0] + ", " + b[0] + ")"
	if field == "l" {
		return text, "l has " + a[1] + " or l has " + b[1]
	}
	return text, field + " in [" + a[1] + ", " + b[1] + "]"
}
