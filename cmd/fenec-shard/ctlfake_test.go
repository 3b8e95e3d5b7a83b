package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// exchanged is a request that a command makes, and what it is answered.
type exchanged struct {
	request string // method, target and body
	status  int    // 0 for 200
	answer  string
}

// fakeShard answers the requests that are expected, in their order.
type fakeShard struct {
	*httptest.Server
	mu     sync.Mutex // guards the fields below
	script []exchanged
	wrong  []string
}

func newFakeShard(t *testing.T, script ...exchanged) *fakeShard {
	f := &fakeShard{script: script}
	f.Server = httptest.NewServer(f)
	t.Cleanup(func() {
		f.Close()
		require.Empty(t, f.wrong)
		require.Empty(t, f.script, "requests that were expected")
	})
	return f
}

func (f *fakeShard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	got := strings.TrimSpace(r.Method + " " + r.RequestURI + " " + string(body))
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case len(f.script) == 0:
		f.wrong = append(f.wrong, "more than expected: "+got)
	case f.script[0].request != got:
		f.wrong = append(f.wrong, "got "+got+", want "+f.script[0].request)
	case r.Header.Get("Authorization") != "Bearer "+tokenOf(r):
		f.wrong = append(f.wrong, "Authorization: "+r.Header.Get("Authorization"))
	}
	if len(f.wrong) > 0 {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	now := f.script[0]
	f.script = f.script[1:]
	if now.status != 0 {
		w.WriteHeader(now.status)
	}
	io.WriteString(w, now.answer)
}

// tokenOf returns the token that a request is to carry.
func tokenOf(r *http.Request) string {
	if strings.HasPrefix(r.URL.Path, "/_replication/") {
		return "replication-token"
	}
	return "shard-token"
}

// said is what a command has done.
type said struct {
	code           int
	stdout, stderr string
}

// runCtl runs a command against the router at url, without anybody watching.
func runCtl(t *testing.T, url, line string) said {
	t.Helper()
	var stdout bytes.Buffer
	return runOn(t, url, line, &stdout, console{out: &stdout})
}

// runOn runs a command on a console whose pauses take no time, unless it has its own.
func runOn(t *testing.T, url, line string, stdout *bytes.Buffer, c console) said {
	t.Helper()
	t.Setenv("FENEC_SHARD_TOKEN", "")
	t.Setenv("FENEC_NODE_TOKEN", "")
	t.Setenv("FENEC_REPLICATION_TOKEN", "")
	if c.pause == nil {
		c.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	c.now = func() time.Time { return time.Time{} }
	var stderr bytes.Buffer
	code := control(append([]string{"--router", url, "--token", "shard-token"}, split(line)...), c, &stderr)
	return said{code, stdout.String(), stderr.String()}
}

// split splits a line into words; a word in single quotes may have blanks.
func split(line string) (words []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// golden is a table: without the first line, which is empty, and the tabs before
// each line.
func golden(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "\n"), "\t", "")
}
