package conformance

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Start is the time at which every case begins.
var Start = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// Subject is what scripts are run against: a fresh database.
type Subject interface {
	// SetClock sets the clock of the statements to come.
	SetClock(now time.Time)
	// Run runs one statement.
	Run(t *testing.T, text string, params []json.RawMessage) Answer
	// RunBatch runs statements as one batch. After an error it returns one answer.
	RunBatch(t *testing.T, texts []string) []Answer
}

// Answer is what a statement came to.
type Answer struct {
	Kind string // of the error, a word such as "not_found"; "" without one
	At   int    // the statement of a batch that failed
	Body string // the answer as JSON, or the error's text
}

// Test runs all cases of a script, each against what open returns.
func (s Script) Test(t *testing.T, open func(t *testing.T) Subject) {
	for i := range s.cases {
		c := &s.cases[i]
		t.Run(c.line, func(t *testing.T) { s.run(t, c, open(t)) })
	}
}

func (s Script) run(t *testing.T, c *scriptCase, sub Subject) {
	sub.SetClock(Start)
	for _, text := range s.fixture {
		a := sub.Run(t, text, nil)
		require.Empty(t, a.Kind, "%s: %s", text, a.Body)
	}
	before := dump(t, sub)
	got := c.run(t, sub)
	if got[0].Kind != "" && len(c.steps) == 1 {
		require.Equal(t, before, dump(t, sub), "a statement that fails changes nothing")
	}
	if c.then != nil {
		c.then.run(t, sub)
	}
}

// run runs the steps and requires what the last of them is to answer.
func (c *scriptCase) run(t *testing.T, sub Subject) (got []Answer) {
	for _, s := range c.steps {
		sub.SetClock(Start.Add(s.clock))
		if s.batch != nil {
			got = sub.RunBatch(t, s.batch)
		} else {
			got = []Answer{sub.Run(t, s.text, s.params)}
		}
	}
	want := strings.Split(c.want, " | ")
	require.Len(t, got, len(want), "%s\ngot %+v", c.line, got)
	for i, w := range want {
		c.match(t, w, got[i])
	}
	return got
}

// dump returns everything that can be asked about collections and rows.
func dump(t *testing.T, sub Subject) string {
	t.Helper()
	all := sub.Run(t, "collections", nil)
	var list []struct{ Name string }
	require.NoError(t, json.Unmarshal([]byte(all.Body), &list), all.Body)
	out := all.Body
	for _, c := range list {
		for _, text := range []string{"get " + c.Name, "get " + c.Name + " count"} {
			out += "\n" + sub.Run(t, text, nil).Body
		}
	}
	return out
}

// match requires an answer to be what a case wants.
func (c *scriptCase) match(t *testing.T, want string, got Answer) {
	t.Helper()
	word, rest, _ := strings.Cut(want, " ")
	if word == "err" {
		kind, at, has := strings.Cut(rest, ", at ")
		require.Equal(t, kind, got.Kind, "%s\ngot %+v", c.line, got)
		if has {
			require.Equal(t, at, strconv.Itoa(got.At), c.line)
		}
		return
	}
	require.Empty(t, got.Kind, "%s\ngot %+v", c.line, got)
	if first, facets, ok := strings.Cut(want, "; "); ok {
		rows, counted := splitFacets(t, got.Body)
		c.match(t, first, Answer{Body: rows})
		require.Equal(t, facets, counted, c.line)
		return
	}
	switch {
	case word == "ids":
		require.Equal(t, strings.Trim(rest, "-"), idsOf(t, got.Body), c.line)
	case word == "scores":
		c.matchScores(t, rest, got.Body)
	case word == "rows":
		require.Equal(t, canonical(t, rest), valuesOf(t, got.Body), c.line)
	case word == "approx":
		c.matchAbout(t, rest, valuesOf(t, got.Body))
	case word == "json":
		require.Equal(t, rest, got.Body, c.line)
	case word == "len":
		require.Equal(t, rest, strconv.Itoa(len(rowsOf(t, got.Body))), c.line)
	case word == "count":
		require.Equal(t, `[{"count":`+rest+`}]`, got.Body, c.line)
	case word == "plan":
		rows := rowsOf(t, got.Body)
		require.Equal(t, strconv.Quote(rest), string(rows[len(rows)-1][0].value), c.line)
	case want == "ok":
		require.Regexp(t, `^\{"message":".+"\}$`, got.Body, c.line)
	case strings.HasPrefix(want, "n="):
		require.Equal(t, `{"affected":`+want[2:]+`}`, got.Body, c.line)
	case strings.Contains(word, ":["):
		require.Equal(t, want, familiesOf(t, got.Body), c.line)
	default:
		t.Fatalf("%s: an answer of unknown form", c.line)
	}
}

// scoreTolerance is by what part of it a score may be off, or by how much one of 0.
const scoreTolerance = 1e-5

// matchScores requires ids in order, each with its score.
func (c *scriptCase) matchScores(t *testing.T, want, body string) {
	t.Helper()
	got := scoresOf(t, body)
	entries := strings.Split(want, ",")
	require.Len(t, got, len(entries), "%s\ngot %s", c.line, body)
	for i, entry := range entries {
		id, text, ok := strings.Cut(entry, ":")
		require.True(t, ok, c.line)
		score, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err, c.line)
		require.Equal(t, id, got[i].id, "%s\ngot %s", c.line, body)
		require.InDelta(t, score, got[i].score, scoreTolerance*max(1e-3, math.Abs(score)), "%s\ngot %s", c.line, body)
	}
}

func (c *scriptCase) matchAbout(t *testing.T, want, got string) {
	t.Helper()
	within, list, _ := strings.Cut(want, " ")
	tolerance, err := strconv.ParseFloat(within, 64)
	require.NoError(t, err, c.line)
	var w, g [][]float64
	require.NoError(t, json.Unmarshal([]byte(list), &w), c.line)
	require.NoError(t, json.Unmarshal([]byte(got), &g), "%s\ngot %s", c.line, got)
	require.Len(t, g, len(w), c.line)
	for i := range w {
		require.InEpsilonSlice(t, w[i], g[i], tolerance, c.line)
	}
}
