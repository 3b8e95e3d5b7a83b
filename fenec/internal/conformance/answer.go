package conformance

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// member is one member of an object, in its place.
type member struct {
	name  string
	value json.RawMessage
}

// rowsOf returns the rows of an answer, their members in order.
func rowsOf(t *testing.T, body string) [][]member {
	t.Helper()
	var list []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body), &list), body)
	rows := make([][]member, len(list))
	for i, row := range list {
		rows[i] = membersOf(t, row)
	}
	return rows
}

func membersOf(t *testing.T, object json.RawMessage) (out []member) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(object)))
	_, err := dec.Token()
	require.NoError(t, err)
	for dec.More() {
		name, err := dec.Token()
		require.NoError(t, err)
		m := member{name: name.(string)}
		require.NoError(t, dec.Decode(&m.value))
		out = append(out, m)
	}
	return out
}

// idsOf returns the ids of rows between commas.
func idsOf(t *testing.T, body string) string {
	t.Helper()
	var ids []string
	for _, row := range rowsOf(t, body) {
		ids = append(ids, idOf(t, row))
	}
	return strings.Join(ids, ",")
}

func idOf(t *testing.T, row []member) string {
	t.Helper()
	for _, m := range row {
		if m.name == "id" {
			return string(m.value)
		}
	}
	t.Fatalf("a row without id: %v", row)
	return ""
}

// scored is a row's id with its score.
type scored struct {
	id    string
	score float64
}

// scoresOf returns the ids of rows with their scores, which are each row's last
// member.
func scoresOf(t *testing.T, body string) (out []scored) {
	t.Helper()
	for _, row := range rowsOf(t, body) {
		last := row[len(row)-1]
		require.Equal(t, scoreName, last.name, body)
		s := scored{id: idOf(t, row)}
		require.NoError(t, json.Unmarshal(last.value, &s.score), body)
		out = append(out, s)
	}
	return out
}

const scoreName = "_score"

// valuesOf returns the values of each row, in the order of its members and
// without the score, as a JSON list of lists.
func valuesOf(t *testing.T, body string) string {
	t.Helper()
	list := [][]json.RawMessage{}
	for _, row := range rowsOf(t, body) {
		values := []json.RawMessage{}
		for _, m := range row {
			if m.name != scoreName {
				values = append(values, m.value)
			}
		}
		list = append(list, values)
	}
	return encoded(t, list)
}

// canonical returns JSON without blanks, numbers as they are.
func canonical(t *testing.T, text string) string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v), text)
	return encoded(t, v)
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(v))
	return strings.TrimSpace(b.String())
}

// familiesOf returns the ids of rows with those of their children, which are
// each row's last member.
func familiesOf(t *testing.T, body string) string {
	t.Helper()
	var out []string
	for _, row := range rowsOf(t, body) {
		last := row[len(row)-1].value
		if last[0] != '[' || len(last) > 1 && last[1] != '{' && last[1] != ']' {
			return idsOf(t, body)
		}
		out = append(out, idOf(t, row)+":["+childrenOf(t, string(last))+"]")
	}
	return strings.Join(out, " ")
}

// childrenOf returns ids between commas, or families between blanks.
func childrenOf(t *testing.T, body string) string {
	if body == "[]" {
		return ""
	}
	return familiesOf(t, body)
}

// splitFacets returns the rows of an answer with facets, and the facets as
// scripts write them.
func splitFacets(t *testing.T, body string) (rows, facets string) {
	t.Helper()
	var parts []string
	for _, m := range membersOf(t, json.RawMessage(body)) {
		if m.name == "rows" {
			rows = string(m.value)
			continue
		}
		require.Equal(t, "facets", m.name, body)
		for _, f := range membersOf(t, m.value) {
			parts = append(parts, f.name+": "+countsOf(t, f.value))
		}
	}
	return rows, strings.Join(parts, "; ")
}

func countsOf(t *testing.T, list json.RawMessage) string {
	t.Helper()
	var entries []struct {
		Value json.RawMessage
		Count json.RawMessage
	}
	require.NoError(t, json.Unmarshal(list, &entries), string(list))
	if len(entries) == 0 {
		return "none"
	}
	var out []string
	for _, e := range entries {
		out = append(out, string(e.Value)+" "+string(e.Count))
	}
	return strings.Join(out, ", ")
}
