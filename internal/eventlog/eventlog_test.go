package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func at(l *Log) *Log {
	l.now = func() time.Time { return time.Date(2026, 3, 1, 10, 0, 0, 1e6, time.FixedZone("", 3600)) }
	return l
}

func TestLines(t *testing.T) {
	require.Nil(t, New(nil))
	var b bytes.Buffer
	l := at(New(&b))
	e := l.Begin("slow", "warn", Origin{Peer: "10.0.0.1:80", RequestID: "a\"b"})
	e.Text("statement", "get t where a < 'é\n' \xff")
	e.Bool("failed", true)
	e.Int("http_status", 503)
	e.Float("duration_ms", 0.25)
	e.Value("new", map[string]any{"rows": 5, "zone": "<b>"})
	l.End(e)
	e = l.Begin("refused", "info", Origin{Peer: "10.0.0.1", Via: "10.0.0.2:9", RequestID: "x", Tenant: "acme"})
	l.End(e)
	require.Equal(t, `{"at":"2026-03-01T09:00:00.001Z","event":"slow","level":"warn","proto":"http","peer":"10.0.0.1:80",`+
		`"request_id":"a\"b","statement":"get t where a < 'é\n' \ufffd","failed":true,"http_status":503,"duration_ms":0.25,"new":{"rows":5,"zone":"<b>"}}`+"\n"+
		`{"at":"2026-03-01T09:00:00.001Z","event":"refused","level":"info","proto":"http","peer":"10.0.0.1","via":"10.0.0.2:9",`+
		`"request_id":"x","tenant":"acme"}`+"\n", b.String())
	for line := range bytes.Lines(b.Bytes()) {
		require.True(t, json.Valid(line))
	}
}

// A line is written by one call, so that two are never mixed up.
type oneAtATime struct {
	mu    sync.Mutex
	calls int
	whole bool
}

func (w *oneAtATime) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	w.whole = w.whole && bytes.Count(p, []byte{'\n'}) == 1 && json.Valid(p)
	return 0, errors.New("full")
}

func TestManyWriters(t *testing.T) {
	w := &oneAtATime{whole: true}
	l := New(w)
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for range 100 {
				l.End(l.Begin("admin", "info", Origin{}))
			}
		})
	}
	writers.Wait()
	require.Equal(t, 800, w.calls, "a full disk stops nothing")
	require.True(t, w.whole)
}
