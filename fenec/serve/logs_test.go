package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/exchange"
	tokens "github.com/fenec-go/fenecdb/internal/secret"
)

func TestOriginsReadOnlyAndFigures(t *testing.T) {
	options := map[string]serve.Options{
		"cors":              {AllowOrigin: "*"},
		"one origin, token": {AllowOrigin: "https://a.example", Token: serve.NewSecret("t")},
		"token":             {Token: serve.NewSecret("t"), MetricsToken: serve.NewSecret("m")},
		"read-only":         {ReadOnly: true},
	}
	exchange.Run(t, exchange.Script(t, "K"), func(t *testing.T, fixture string) string {
		data, how, _ := strings.Cut(fixture, " ")
		return start(t, options[how], exchange.Fixtures[data]...).url
	})
}

// lines is a log that can be read while it is written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

// read returns the lines, of JSON.
func (l *lines) read(t *testing.T) (out []map[string]any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.buf.String()) {
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &m), line)
		out = append(out, m)
	}
	return out
}

func TestSlowLog(t *testing.T) {
	log := &lines{}
	c := start(t, serve.Options{SlowLog: log}, tasks...)
	r := c.query("get tasks where n = $1 count", "1")
	got := log.read(t)
	require.Len(t, got, 1)
	line := got[0]
	require.Equal(t, "slow", line["event"])
	require.Equal(t, "warn", line["level"])
	require.Equal(t, "http", line["proto"])
	require.Equal(t, "read", line["kind"])
	require.Equal(t, false, line["failed"])
	require.Equal(t, r.header.Get("X-Request-Id"), line["request_id"])
	require.Equal(t, "POST /query get tasks where n = $1 count (1 parameters)", line["statement"])
	require.NotEmpty(t, line["peer"])
	require.Positive(t, line["duration_ms"])
	_, err := time.Parse("2006-01-02T15:04:05.000Z", line["at"].(string))
	require.NoError(t, err)

	c.query(`put tasks {key: "` + strings.Repeat("x", 2000) + `"}`)
	line = log.read(t)[1]
	require.Equal(t, "write", line["kind"])
	require.Len(t, line["statement"], 1003)

	quiet := &lines{}
	c = start(t, serve.Options{SlowLog: quiet, SlowAfter: time.Hour}, tasks...)
	c.query("get tasks")
	require.Empty(t, quiet.read(t))
}

func TestAuditLog(t *testing.T) {
	log := &lines{}
	c := start(t, serve.Options{Token: serve.NewSecret("t"), AuditLog: log})
	c.do("GET", "/nope?secret=1", "", "Authorization: Bearer wrong")
	for _, text := range []string{"create collection t (a int)", "put t {a: 12345}", "drop collection t", "drop collection t", "compact"} {
		c.do("POST", "/query", `{"query":`+quote(text)+`}`, "Authorization: Bearer t")
	}
	got := log.read(t)
	require.Len(t, got, 5)
	require.Equal(t, []any{"refused", "warn", "GET", "/nope"}, []any{got[0]["event"], got[0]["level"], got[0]["method"], got[0]["path"]})
	require.Equal(t, []any{"schema", "create collection t (a int)", false}, []any{got[1]["event"], got[1]["statement"], got[1]["failed"]})
	require.Equal(t, []any{"drop collection t", false}, []any{got[2]["statement"], got[2]["failed"]})
	require.Equal(t, []any{"drop collection t", true}, []any{got[3]["statement"], got[3]["failed"]})
	require.Equal(t, "compact", got[4]["statement"])
	require.NotContains(t, log.buf.String(), "12345")
	require.NotContains(t, log.buf.String(), "secret")
}

// What a router that knows the token has forwarded is its client's, and its refusal
// does not wait.
func TestForwarded(t *testing.T) {
	log := &lines{}
	router := serve.NewSecret("known to the router")
	c := start(t, serve.Options{Token: serve.NewSecret("t"), AuditLog: log, RouterToken: router, RefusalDelay: 10 * time.Millisecond})
	began := time.Now()
	c.do("GET", "/", "", "Authorization: Bearer x", "Fenec-Router: 10.1.2.3 forged")
	require.GreaterOrEqual(t, time.Since(began), 10*time.Millisecond)
	for range 20 { // of which the last would wait for seconds
		c.do("GET", "/", "", "Authorization: Bearer x", "Fenec-Router: 10.1.2.3 "+tokens.Mark(router))
	}
	require.Less(t, time.Since(began), 4*time.Second)
	got := log.read(t)
	require.Len(t, got, 21)
	require.NotContains(t, got[0], "via")
	require.Contains(t, got[0]["peer"], "127.0.0.1:")
	require.Equal(t, "10.1.2.3", got[20]["peer"])
	require.Equal(t, "127.0.0.1", got[20]["via"])
}

// Who closes a half of the connection gets no answer before its time, nor after it.
func TestRefusalsCannotBeHurried(t *testing.T) {
	c := start(t, serve.Options{Token: serve.NewSecret("t"), RefusalDelay: time.Hour})
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n\r\n")
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	answer, _ := io.ReadAll(conn)
	require.Empty(t, string(answer))
}

func TestRefusalsWait(t *testing.T) {
	c := start(t, serve.Options{Token: serve.NewSecret("t"), RefusalDelay: 20 * time.Millisecond})
	wrong := func() time.Duration {
		began := time.Now()
		require.Equal(t, 401, c.do("GET", "/", "", "Authorization: Bearer x").status)
		return time.Since(began)
	}
	require.GreaterOrEqual(t, wrong(), 20*time.Millisecond)
	require.GreaterOrEqual(t, wrong(), 40*time.Millisecond)
	require.GreaterOrEqual(t, wrong(), 80*time.Millisecond)
	require.Equal(t, 200, c.do("GET", "/", "", "Authorization: Bearer t").status)
	require.GreaterOrEqual(t, wrong(), 20*time.Millisecond)
}
