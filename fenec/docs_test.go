package fenec_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// shown is a statement that a page shows.
type shown struct {
	text  string
	args  []any
	err   error  // that it ends with, or nil
	gives string // ids of rows, in order, maybe with their scores; "" if nothing is said
}

var (
	codeBlock = regexp.MustCompile("(?ms)^```\n(.*?)^```")
	comment   = regexp.MustCompile(`(?m)\s+-- (.*)$`)
	given     = regexp.MustCompile(`\$(\d+) = `)
	gives     = regexp.MustCompile(`^gives ([\d:., -]*\d|nothing)`)
)

// shownErrors are those that a comment names, by their first words.
var shownErrors = []error{
	fenec.ErrQuery, fenec.ErrType, fenec.ErrNotFound, fenec.ErrExists, fenec.ErrDuplicate, fenec.ErrUnmet,
}

// shownStatements returns the statements of a page in order. One begins at the
// start of a line and takes in the indented lines after it. Its comments say which
// parameters it gets and how it ends.
func shownStatements(t *testing.T, page string) []shown {
	t.Helper()
	var out []shown
	for _, block := range codeBlock.FindAllStringSubmatch(goBlock.ReplaceAllString(page, ""), -1) {
		for line := range strings.Lines(block[1]) {
			if !strings.HasPrefix(line, " ") && strings.TrimSpace(line) != "" {
				out = append(out, shown{})
			}
			if len(out) > 0 {
				out[len(out)-1].text += line
			}
		}
	}
	for i := range out {
		for _, m := range comment.FindAllStringSubmatch(out[i].text, -1) {
			out[i].read(t, m[1])
		}
	}
	return out
}

// read takes in a comment.
func (s *shown) read(t *testing.T, comment string) {
	t.Helper()
	for _, kind := range shownErrors {
		if strings.HasPrefix(comment, strings.TrimSuffix(kind.Error(), ": ")) {
			s.err = kind
		}
	}
	if strings.HasPrefix(comment, "gives ") {
		m := gives.FindStringSubmatch(comment)
		require.NotNil(t, m, comment)
		s.gives = m[1]
	}
	for _, at := range given.FindAllStringSubmatchIndex(comment, -1) {
		n, err := strconv.Atoi(comment[at[2]:at[3]])
		require.NoError(t, err)
		require.Equal(t, len(s.args)+1, n, comment)
		d := json.NewDecoder(strings.NewReader(comment[at[1]:]))
		d.UseNumber()
		var arg any
		require.NoError(t, d.Decode(&arg), comment)
		s.args = append(s.args, arg)
	}
}

// check runs the statement and holds its answer against what the page says.
func (s *shown) check(t *testing.T, db *fenec.DB) {
	t.Helper()
	res, err := db.Query(t.Context(), s.text, s.args...)
	if s.err != nil {
		require.ErrorIs(t, err, s.err, s.text)
		return
	}
	require.NoError(t, err, s.text)
	if s.gives != "" {
		require.Equal(t, s.gives, rowsAsShown(t, res, strings.Contains(s.gives, ":")), s.text)
	}
}

// rowsAsShown returns the ids of rows as pages give them, each with its score if
// that is asked for.
func rowsAsShown(t *testing.T, res *fenec.Result, scores bool) string {
	t.Helper()
	var rows []string
	for row := range res.All() {
		id, err := row.Int("id")
		require.NoError(t, err)
		text := strconv.FormatInt(id, 10)
		if scores {
			score, err := row.Float("_score")
			require.NoError(t, err)
			text += ": " + strconv.FormatFloat(score, 'f', 3, 64)
		}
		rows = append(rows, text)
	}
	if len(rows) == 0 {
		return "nothing"
	}
	return strings.Join(rows, ", ")
}

// TestDocumentation runs every statement that the pages on the language show, in
// order.
func TestDocumentation(t *testing.T) {
	for name, least := range map[string]struct{ statements, errors, answers int }{
		"fenecql.md": {80, 6, 6},
		"search.md":  {30, 3, 15},
	} {
		t.Run(name, func(t *testing.T) {
			page, err := os.ReadFile("../docs/" + name)
			require.NoError(t, err)
			statements := shownStatements(t, string(page))
			db := file(t, fenec.Options{})
			failed, answered := 0, 0
			for _, s := range statements {
				s.check(t, db)
				if s.err != nil {
					failed++
				}
				if s.gives != "" {
					answered++
				}
			}
			require.GreaterOrEqual(t, len(statements), least.statements)
			require.GreaterOrEqual(t, failed, least.errors)
			require.GreaterOrEqual(t, answered, least.answers)
		})
	}
}

// TestDocumentedValues holds what the page says about values against answers.
func TestDocumentedValues(t *testing.T) {
	db := memory(t,
		`create collection c (n int, out timestamp, s text @unique, l [text] @hash)`,
		`put c [{n: 4, out: "2026-01-01", s: "a", l: ["x", "y"]}, {n: 4, out: 0}, {}, {s: "a \"b\" \\ \c\n"}, {s: 'it\'s
2'}]`)
	for text, want := range map[string]string{
		`get id from c where out < "01.01.1970"`:                             `[{"id":1},{"id":2}]`,
		`get id from c where out < "1970-01-02"`:                             `[{"id":2}]`,
		`get id from c where n < "9"`:                                        `[{"id":1},{"id":2}]`,
		`get id from c where n == 4 and s <> "a"`:                            `[{"id":2}]`,
		`get s from c where id > 3`:                                          `[{"s":"a \"b\" \\ c\n"},{"s":"it's\n2"}]`,
		`get count(*), count(distinct n), sum(n), avg(n), first(s) from c`:   `[{"count":5,"count(distinct n)":1,"sum(n)":8,"avg(n)":4,"first(s)":"a"}]`,
		`get min(n), max(n), last(n), sum(n), avg(n) from c where id = 3`:    `[{"min(n)":null,"max(n)":null,"last(n)":null,"sum(n)":null,"avg(n)":null}]`,
		`get count(distinct n), approx_count_distinct(n) from c where false`: `[{"count(distinct n)":0,"approx_count_distinct(n)":0}]`,
		`get hll_accumulate(n) from c where false`:                           `[{"hll_accumulate(n)":null}]`,
		`get coalesce(sum(n), 0) as n from c where id = 3`:                   `[{"n":0}]`,
		`get n, count(*) from c group n`:                                     `[{"n":null,"count":3},{"n":4,"count":2}]`,
		`get id from c where l has "x"`:                                      `[{"id":1}]`,
	} {
		require.Equal(t, want, body(t, db, text), text)
	}
	require.Contains(t, body(t, db, `explain get c where l has "x"`), "scan of all rows")
	require.Contains(t, body(t, db, `explain get c where l = ["x", "y"]`), "index l @hash")
	_, err := db.Batch(t.Context(), []fenec.Statement{
		{Text: `alter collection c add m int @sorted`}, {Text: `set c {m: n}`},
		{Text: `alter collection c drop n`}, {Text: `alter collection c rename m to n`},
	})
	require.NoError(t, err)
	require.Equal(t, `[{"sum(n)":8}]`, body(t, db, `get sum(n) from c`))
}

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```")

// TestGoOnPages requires the Go code of every page to be that of a test.
func TestGoOnPages(t *testing.T) {
	var compiled string
	for _, name := range []string{"docs_test.go", "example_docs_test.go", "example_search_test.go"} {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		compiled += flush(string(b))
	}
	for _, name := range []string{"../tenant/example_docs_test.go", "../router/docs_test.go", "../replication/mirror/example_docs_test.go"} {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		compiled += flush(checks.ReplaceAllString(string(b), ""))
	}
	pages, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	blocks := 0
	for _, name := range append(pages, "../README.md") {
		page, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, block := range goBlock.FindAllStringSubmatch(string(page), -1) {
			require.True(t, strings.Contains(compiled, flush(block[1])), "no test has this code of %s:\n%s", name, block[1])
			blocks++
		}
	}
	require.GreaterOrEqual(t, blocks, 7)
}

// checks are the lines of a test between those that a page shows.
var checks = regexp.MustCompile(`(?m)^\t(require|defer tenants|_, err = h\.Exec|\trequire).*\n`)

// flush returns Go code without its indentation.
func flush(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		b.WriteString(strings.TrimLeft(line, "\t"))
	}
	return b.String()
}
