package fenec_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// scriptClock is the clock of every case.
func scriptClock() time.Time { return time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC) }

// TestConformance runs the scripts of testdata/fenecql: as they are, and
// without indexes that must not change an answer.
func TestConformance(t *testing.T) {
	for _, s := range readScripts(t, "testdata/fenecql/*.txt") {
		t.Run(s.name, func(t *testing.T) { runScript(t, s) })
		plain := withoutIndexes(s)
		t.Run(plain.name, func(t *testing.T) { runScript(t, plain) })
	}
}

func runScript(t *testing.T, s script) {
	for _, c := range s.cases {
		if strings.HasSuffix(s.name, unindexed) && strings.HasPrefix(c.line, "explain ") {
			continue
		}
		t.Run(c.line, func(t *testing.T) { runCase(t, s, &c) })
	}
}

func runCase(t *testing.T, s script, c *scriptCase) {
	db, err := fenec.OpenMemory(fenec.Options{Clock: scriptClock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, text := range s.fixture {
		_, err := db.Query(t.Context(), text)
		require.NoError(t, err, text)
	}
	before := dump(t, db)
	var got []answer
	for _, step := range c.steps {
		if step.batch != nil {
			got = runBatch(t, db, step.batch)
		} else {
			got = []answer{runStatement(t, db, step.text, step.params)}
		}
	}
	c.check(t, db, got)
	if got[0].kind != "" && len(c.steps) == 1 {
		require.Equal(t, before, dump(t, db), "a statement that fails changes nothing")
	}
}

// check requires the answers of the last step to be those wanted: one, or those
// of a batch between semicolons, and after "then" that of one more statement.
func (c *scriptCase) check(t *testing.T, db *fenec.DB, got []answer) {
	t.Helper()
	want, then, more := strings.Cut(c.want, "; then ")
	parts := []string{want}
	if c.steps[len(c.steps)-1].batch != nil && !strings.HasPrefix(want, "err ") {
		parts = strings.Split(want, "; ")
	}
	require.Len(t, got, len(parts), c.line)
	for i, part := range parts {
		c.matches(t, part, got[i])
	}
	if more {
		text, want, _ := strings.Cut(then, " => ")
		c.matches(t, want, runStatement(t, db, text, nil))
	}
}

func runStatement(t *testing.T, db *fenec.DB, text string, params []json.RawMessage) answer {
	t.Helper()
	args := make([]any, len(params))
	for i, p := range params {
		args[i] = p
	}
	res, err := db.Query(context.Background(), text, args...)
	if err != nil {
		return answer{kind: kindOf(t, err), body: err.Error()}
	}
	body, err := res.AppendJSON(nil)
	require.NoError(t, err)
	return answer{body: string(body)}
}

func runBatch(t *testing.T, db *fenec.DB, texts []string) []answer {
	t.Helper()
	var stmts []fenec.Statement
	for _, text := range texts {
		stmts = append(stmts, fenec.Statement{Text: text})
	}
	results, err := db.Batch(context.Background(), stmts)
	if err != nil {
		var be *fenec.BatchError
		require.ErrorAs(t, err, &be)
		require.Zero(t, be.Completed)
		return []answer{{kind: kindOf(t, err), at: be.At, body: err.Error()}}
	}
	var out []answer
	for _, res := range results {
		body, err := res.AppendJSON(nil)
		require.NoError(t, err)
		out = append(out, answer{body: string(body)})
	}
	return out
}

func kindOf(t *testing.T, err error) string {
	t.Helper()
	for kind, target := range map[string]error{
		"query":     fenec.ErrQuery,
		"type":      fenec.ErrType,
		"not_found": fenec.ErrNotFound,
		"exists":    fenec.ErrExists,
		"duplicate": fenec.ErrDuplicate,
	} {
		if errors.Is(err, target) {
			return kind
		}
	}
	t.Fatalf("an error of no kind: %v", err)
	return ""
}

// dump returns everything a database answers about its collections and rows.
func dump(t *testing.T, db *fenec.DB) string {
	t.Helper()
	out := runStatement(t, db, "collections", nil).body
	for _, name := range db.Collections() {
		out += "\n" + name + runStatement(t, db, "get "+name, nil).body
		out += runStatement(t, db, "get "+name+" count", nil).body
	}
	return out
}
