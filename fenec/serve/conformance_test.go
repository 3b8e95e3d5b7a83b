package serve_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/conformance"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// TestConformance runs the scripts of the language through POST /query and
// POST /batch.
func TestConformance(t *testing.T) {
	for _, s := range conformance.Read(t, "../testdata/fenecql/*.txt") {
		t.Run(s.Name, func(t *testing.T) { s.Test(t, openServed) })
	}
}

// served is a database in memory behind its handler.
type served struct {
	handler http.Handler
	now     time.Time
}

func openServed(t *testing.T) conformance.Subject {
	s := &served{now: conformance.Start}
	db, err := fenec.OpenMemory(fenec.Options{Clock: func() time.Time { return s.now }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	s.handler = serve.New(serve.Options{}).Handler(db)
	return s
}

func (s *served) SetClock(now time.Time) { s.now = now }

func (s *served) post(t *testing.T, path, body string) (status int, answer []byte) {
	t.Helper()
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	return w.Code, w.Body.Bytes()
}

func (s *served) Run(t *testing.T, text string, params []json.RawMessage) conformance.Answer {
	t.Helper()
	b, err := json.Marshal(map[string]any{"query": text, "params": params})
	require.NoError(t, err)
	status, body := s.post(t, "/query", string(b))
	if status != http.StatusOK {
		return refusal(t, status, body)
	}
	return conformance.Answer{Body: strings.TrimSpace(string(body))}
}

func (s *served) RunBatch(t *testing.T, texts []string) []conformance.Answer {
	t.Helper()
	var lines []string
	for _, text := range texts {
		lines = append(lines, `{"query":`+quote(text)+`}`)
	}
	status, body := s.post(t, "/batch", strings.Join(lines, "\n"))
	if status != http.StatusOK {
		return []conformance.Answer{refusal(t, status, body)}
	}
	var all struct{ Results []json.RawMessage }
	require.NoError(t, json.Unmarshal(body, &all), string(body))
	var out []conformance.Answer
	for _, r := range all.Results {
		var rows struct{ Rows json.RawMessage }
		require.NoError(t, json.Unmarshal(r, &rows), string(r))
		if rows.Rows != nil {
			r = rows.Rows
		}
		out = append(out, conformance.Answer{Body: string(r)})
	}
	return out
}

// statuses are the statuses of the kinds of errors, by the words that an
// error's text begins with.
var statuses = map[string]struct {
	kind   string
	status int
}{
	"query error":    {"query", 400},
	"type error":     {"type", 400},
	"not found":      {"not_found", 404},
	"already exists": {"exists", 409},
	"duplicate":      {"duplicate", 409},
	"unmet":          {"unmet", 412},
}

func refusal(t *testing.T, status int, body []byte) conformance.Answer {
	t.Helper()
	var e struct {
		Error     string
		Completed int
		At        int
	}
	require.NoError(t, json.Unmarshal(body, &e), string(body))
	words, _, _ := strings.Cut(e.Error, ":")
	kind, ok := statuses[words]
	require.True(t, ok, "an error of no kind: %s", e.Error)
	require.Equal(t, kind.status, status, e.Error)
	require.Zero(t, e.Completed)
	return conformance.Answer{Kind: kind.kind, At: e.At, Body: e.Error}
}
