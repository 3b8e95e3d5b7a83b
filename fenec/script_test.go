package fenec_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// script is a file of testdata/fenecql: statements that make the collections
// every case begins with, and the cases.
type script struct {
	name    string
	fixture []string
	cases   []scriptCase
}

// scriptCase is one line: steps that are run one after the other, and what the
// last of them answers.
type scriptCase struct {
	line  string
	steps []scriptStep
	want  string
}

// scriptStep is one statement with its parameters, or the statements of one
// batch.
type scriptStep struct {
	text   string
	params []json.RawMessage
	batch  []string
}

// readScripts reads all files of testdata/fenecql.
func readScripts(t *testing.T, pattern string) []script {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var scripts []script
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		scripts = append(scripts, parseScript(t, strings.TrimSuffix(filepath.Base(file), ".txt"), string(text)))
	}
	return scripts
}

func parseScript(t *testing.T, name, text string) script {
	t.Helper()
	s := script{name: name}
	part := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case line == "fixture" || line == "cases":
			part = line
		case part == "fixture":
			s.fixture = append(s.fixture, line)
		default:
			s.cases = append(s.cases, parseCase(t, line))
		}
	}
	require.NotEmpty(t, s.fixture, name)
	require.NotEmpty(t, s.cases, name)
	return s
}

var withParams = regexp.MustCompile(` with (\[.*\])$`)

func parseCase(t *testing.T, line string) scriptCase {
	t.Helper()
	at := strings.Index(line, " => ")
	require.Positive(t, at, line)
	c := scriptCase{line: line, want: line[at+len(" => "):]}
	for _, text := range strings.Split(line[:at], " ;; ") {
		c.steps = append(c.steps, parseStep(t, text))
	}
	return c
}

func parseStep(t *testing.T, text string) scriptStep {
	t.Helper()
	if list, ok := strings.CutPrefix(text, "["); ok {
		return scriptStep{batch: splitBatch(strings.TrimSuffix(list, "]"))}
	}
	step := scriptStep{text: text}
	if m := withParams.FindStringSubmatchIndex(text); m != nil {
		require.NoError(t, json.Unmarshal([]byte(text[m[2]:m[3]]), &step.params), text)
		step.text = text[:m[0]]
	}
	return step
}

// splitBatch splits statements between commas: those outside of braces,
// brackets and parentheses.
func splitBatch(text string) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range text {
		switch r {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(text[from:i]))
				from = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(text[from:]))
}

// answer is what a statement came to, in the words of scripts.
type answer struct {
	kind string // of the error; "" without one
	at   int    // the statement of a batch that failed
	body string // the answer as JSON, see Result.AppendJSON
}

// matches requires an answer to be what a case wants.
func (c *scriptCase) matches(t *testing.T, want string, got answer) {
	t.Helper()
	word, rest, _ := strings.Cut(want, " ")
	if word == "err" {
		require.Equal(t, strings.Fields(strings.ReplaceAll(rest, ",", " "))[0], got.kind, "%s\ngot %+v", c.line, got)
		if strings.Contains(rest, "at 1") {
			require.Equal(t, 1, got.at, c.line)
		}
		return
	}
	require.Empty(t, got.kind, "%s\ngot %+v", c.line, got)
	switch {
	case word == "ids":
		require.JSONEq(t, "["+strings.Trim(rest, "-")+"]", columnOf(t, got.body, "id"), c.line)
	case word == "rows":
		require.Equal(t, compact(t, rest), valuesOf(t, got.body), c.line)
	case word == "count":
		require.Equal(t, `[{"count":`+rest+`}]`, got.body, c.line)
	case word == "ok":
		require.Regexp(t, `^\{"message":".+"\}$`, got.body, c.line)
	case strings.HasPrefix(word, "n="):
		require.Equal(t, `{"affected":`+word[2:]+`}`, got.body, c.line)
	case strings.HasPrefix(want, "last row of `plan` is "):
		var rows []map[string]string
		require.NoError(t, json.Unmarshal([]byte(got.body), &rows), c.line)
		last := strings.TrimPrefix(want, "last row of `plan` is ")
		require.Equal(t, last, `"`+rows[len(rows)-1]["plan"]+`"`, c.line)
	default:
		t.Fatalf("%s: a result of unknown form", c.line)
	}
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v), text)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(v))
	return strings.TrimSpace(b.String())
}

// columnOf returns one member of each row as a JSON list.
func columnOf(t *testing.T, body, name string) string {
	t.Helper()
	var rows []map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body), &rows), body)
	values := []json.RawMessage{}
	for _, row := range rows {
		require.Contains(t, row, name, body)
		values = append(values, row[name])
	}
	out, err := json.Marshal(values)
	require.NoError(t, err)
	return string(out)
}

// valuesOf returns the values of each row, in the order of its members, as a
// JSON list of lists.
func valuesOf(t *testing.T, body string) string {
	t.Helper()
	var rows []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body), &rows), body)
	out := "["
	for i, row := range rows {
		if i > 0 {
			out += ","
		}
		out += "["
		dec := json.NewDecoder(strings.NewReader(string(row)))
		_, err := dec.Token()
		require.NoError(t, err)
		for first := true; dec.More(); first = false {
			_, err := dec.Token()
			require.NoError(t, err)
			var v json.RawMessage
			require.NoError(t, dec.Decode(&v))
			if !first {
				out += ","
			}
			out += string(v)
		}
		out += "]"
	}
	return out + "]"
}

// unindexed ends the names of scripts without indexes.
const unindexed = "/unindexed"

// withoutIndexes returns a script whose collections have no @hash and no
// @sorted index, which must not change an answer.
func withoutIndexes(s script) script {
	strip := strings.NewReplacer(" @hash", "", " @sorted", "")
	fixture := make([]string, len(s.fixture))
	for i, line := range s.fixture {
		fixture[i] = strip.Replace(line)
	}
	s.name += unindexed
	s.fixture = fixture
	return s
}
