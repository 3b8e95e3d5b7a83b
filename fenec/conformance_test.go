package fenec_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/conformance"
)

// TestConformance runs the scripts of testdata/fenecql: as they are, and
// without indexes that must not change an answer.
func TestConformance(t *testing.T) {
	for _, s := range conformance.Read(t, "testdata/fenecql/*.txt") {
		for _, s := range []conformance.Script{s, s.WithoutIndexes()} {
			t.Run(s.Name, func(t *testing.T) { s.Test(t, openEmbedded) })
		}
	}
}

// embedded is a database in memory, as a program uses it.
type embedded struct {
	db  *fenec.DB
	now time.Time
}

func openEmbedded(t *testing.T) conformance.Subject {
	e := &embedded{now: conformance.Start}
	var err error
	e.db, err = fenec.OpenMemory(fenec.Options{Clock: func() time.Time { return e.now }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.db.Close()) })
	return e
}

func (e *embedded) SetClock(now time.Time) { e.now = now }

func (e *embedded) Run(t *testing.T, text string, params []json.RawMessage) conformance.Answer {
	t.Helper()
	args := make([]any, len(params))
	for i, p := range params {
		args[i] = p
	}
	res, err := e.db.Query(context.Background(), text, args...)
	if err != nil {
		return conformance.Answer{Kind: kindOf(t, err), Body: err.Error()}
	}
	return answerOf(t, res)
}

func (e *embedded) RunBatch(t *testing.T, texts []string) []conformance.Answer {
	t.Helper()
	var stmts []fenec.Statement
	for _, text := range texts {
		stmts = append(stmts, fenec.Statement{Text: text})
	}
	results, err := e.db.Batch(context.Background(), stmts)
	if err != nil {
		var be *fenec.BatchError
		require.ErrorAs(t, err, &be)
		require.Zero(t, be.Completed)
		return []conformance.Answer{{Kind: kindOf(t, err), At: be.At, Body: err.Error()}}
	}
	var out []conformance.Answer
	for _, res := range results {
		out = append(out, answerOf(t, res))
	}
	return out
}

func answerOf(t *testing.T, res *fenec.Result) conformance.Answer {
	t.Helper()
	body, err := res.AppendJSON(nil)
	require.NoError(t, err)
	return conformance.Answer{Body: string(body)}
}

// kinds are the kinds of errors that statements end with.
var kinds = map[string]error{
	"query":     fenec.ErrQuery,
	"type":      fenec.ErrType,
	"not_found": fenec.ErrNotFound,
	"exists":    fenec.ErrExists,
	"duplicate": fenec.ErrDuplicate,
	"unmet":     fenec.ErrUnmet,
}

func kindOf(t *testing.T, err error) string {
	t.Helper()
	for kind, target := range kinds {
		if errors.Is(err, target) {
			return kind
		}
	}
	t.Fatalf("an error of no kind: %v", err)
	return ""
}
