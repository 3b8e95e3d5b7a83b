package fenec_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/text"
)

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		options, text, query string
		tagged, snippet      string // of two words
	}{
		{``, "İstanbul'da IŞIK", "istanbul işik", "<İstanbul>'da <IŞIK>", "<İstanbul>'da~"},
		{``, "red Oak 😀 OAK, oak-tree", "oak", "red <Oak> 😀 <OAK>, <oak>-tree", "red <Oak>~"},
		{``, "東京都庁の前", "京都", "東<京都>庁の前", "東<京>~"},
		{``, "東京都庁の前", "東京 京都", "<東京都>庁の前", "<東京>~"},
		{`(chars)`, "東京都庁の前", "都", "東京<都>庁の前", "~京<都>~"},
		{`(prefix=5)`, "bu kitapların dili", "kitap", "bu <kitapların> dili", "bu <kitapların>~"},
		{``, "bu kitapların dili kitap", "kitap", "bu kitapların dili <kitap>", "~dili <kitap>"},
		{``, "e\u0301 te\u0301 oak", "e", "<e\u0301> te\u0301 oak", "<e\u0301> te\u0301~"},
		{``, "กรุงเทพ oak", "กรุ oak", "<กรุ>งเทพ <oak>", "<กรุ>~"},
		{``, "ＡＢＣ１２ x", "abc12", "<ＡＢＣ１２> x", "<ＡＢＣ１２> x"},
		{``, "3.14 C++ foo_bar", "c bar 14", "3.<14> <C>++ foo_<bar>", "3.<14>~"},
		{``, "a <b> & \"oak\"", "oak b", "a <<b>> & \"<oak>\"", "a <<b>~"},
	} {
		db := memory(t, `create collection docs (body text @text`+c.options+`)`)
		query(t, db, "put docs {body: $1}", c.text)
		marked := func(column string) any {
			res := query(t, db, "get "+column+" from docs match body $1", c.query)
			require.True(t, res.Next(), c.text)
			v, err := res.Row().Value(0)
			require.NoError(t, err)
			return v
		}
		require.Equal(t, c.tagged, marked(`highlight(body, "<", ">")`), c.text)
		require.Equal(t, c.snippet, marked(`snippet(body, 2, "~", "<", ">")`), c.text)
	}
}

// marksOf returns the columns of a get of marks, by the row's id.
func marksOf(t *testing.T, q querier, statement string, args ...any) map[int64][]json.RawMessage {
	t.Helper()
	res, err := q.Query(ctx, statement, args...)
	require.NoError(t, err, statement)
	b, err := res.AppendJSON(nil)
	require.NoError(t, err)
	var rows []map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(b, &rows))
	out := map[int64][]json.RawMessage{}
	for _, row := range rows {
		var id int64
		require.NoError(t, json.Unmarshal(row["id"], &id))
		for _, name := range res.Columns() {
			if name != "id" && name != "_score" {
				out[id] = append(out[id], row[name])
			}
		}
	}
	return out
}

// tagged puts < and > around ranges of UTF-16 units.
func tagged(s string, marks [][2]int) string {
	units, out := utf16.Encode([]rune(s)), strings.Builder{}
	end := 0
	for _, m := range marks {
		out.WriteString(string(utf16.Decode(units[end:m[0]])) + "<" + string(utf16.Decode(units[m[0]:m[1]])) + ">")
		end = m[1]
	}
	return out.String() + string(utf16.Decode(units[end:]))
}

// What highlight marks is one of the words that are searched for, and nothing
// else is; its two forms, and those of snippet, say the same.
func TestMarksAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 68))
	db := memory(t, `create collection docs (body text @text)`)
	texts := map[int64]string{}
	for id := int64(1); id <= 150; id++ {
		texts[id] = prose(r, 12) + " 😀 " + prose(r, 3)
		query(t, db, "put docs {id: $1, body: $2}", id, texts[id])
	}
	for range 12 {
		q := prose(r, 3) + " oak"
		terms := map[string]bool{}
		for _, term := range (text.Analyzer{}).Terms(q) {
			terms[term.Text] = true
		}
		plain := marksOf(t, db, "get id, highlight(body), snippet(body, 4, \"…\") from docs match body $1", q)
		tags := marksOf(t, db, `get id, highlight(body, "<", ">"), snippet(body, 4, "…", "<", ">") from docs match body $1`, q)
		require.Len(t, tags, len(plain))
		for id, columns := range plain {
			var marks [][2]int
			require.NoError(t, json.Unmarshal(columns[0], &marks))
			require.NotEmpty(t, marks)
			var tag string
			require.NoError(t, json.Unmarshal(tags[id][0], &tag))
			require.Equal(t, tagged(texts[id], marks), tag)
			requireMarked(t, tag, terms)
			var snippet struct {
				Marks [][2]int
				Text  string
			}
			require.NoError(t, json.Unmarshal(columns[1], &snippet))
			require.NoError(t, json.Unmarshal(tags[id][1], &tag))
			require.Equal(t, tagged(snippet.Text, snippet.Marks), tag)
			require.NotEmpty(t, snippet.Marks)
			require.Contains(t, texts[id], strings.Trim(snippet.Text, "…"))
		}
	}
}

// requireMarked requires of a highlighted text that every mark, and nothing
// outside, has one of the terms.
func requireMarked(t *testing.T, s string, terms map[string]bool) {
	t.Helper()
	has := func(part string) bool {
		for _, term := range (text.Analyzer{}).Terms(part) {
			if terms[term.Text] {
				return true
			}
		}
		return false
	}
	for i, part := range strings.Split(s, "<") {
		in, out, ok := strings.Cut(part, ">")
		if !ok {
			in, out = "", part
		}
		require.Equal(t, i > 0, has(in), "%q in %q", in, s)
		require.False(t, has(out), "%q in %q", out, s)
	}
}

// A snippet is the window with most hits, the earliest of these, centred.
func TestSnippetWindow(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 68))
	db := memory(t, `create collection docs (body text @text)`)
	list := map[int64][]string{}
	for id := int64(1); id <= 200; id++ {
		list[id] = []string{"hit"}
		for range r.IntN(25) {
			list[id] = append(list[id], []string{"hit", "other", "more", "word", "x"}[r.IntN(5)])
		}
		r.Shuffle(len(list[id]), func(i, j int) { list[id][i], list[id][j] = list[id][j], list[id][i] })
		query(t, db, "put docs {id: $1, body: $2}", id, strings.Join(list[id], " "))
	}
	for n := 1; n <= 9; n++ {
		for id, columns := range marksOf(t, db, fmt.Sprintf(`get id, snippet(body, %d, "~", "", "") from docs match body "hit"`, n)) {
			var got string
			require.NoError(t, json.Unmarshal(columns[0], &got))
			require.Equal(t, window(list[id], n), got, "%d of %v", n, list[id])
		}
	}
}

func window(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, " ")
	}
	best, start := 0, 0
	for i := 0; i+n <= len(list); i++ {
		hits, first, last := 0, -1, 0
		for j := i; j < i+n; j++ {
			if list[j] == "hit" {
				if hits++; first < 0 {
					first = j
				}
				last = j
			}
		}
		if hits > best {
			best, start = hits, max(0, min((first+last)/2-n/2, len(list)-n))
		}
	}
	out := strings.Join(list[start:start+n], " ")
	if start > 0 {
		out = "~" + out
	}
	if start+n < len(list) {
		out += "~"
	}
	return out
}
