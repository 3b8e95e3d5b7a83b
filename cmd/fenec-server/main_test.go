package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var startLine = regexp.MustCompile(`^fenec-http \S+ listening on: https?://(\S+)  \[(token|no auth)(, read only)?\]$`)

// serving runs a server until the returned function is called, and returns its
// address.
func serving(t *testing.T, args ...string) (addr string, stop func()) {
	t.Helper()
	return servingAt(t, "127.0.0.1:0", args...)
}

// servingAt is serving at an address.
func servingAt(t *testing.T, at string, args ...string) (addr string, stop func()) {
	t.Helper()
	cfg, err := parse(append(args, "--http", at), io.Discard)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serveUntil(ctx, cfg, w) }()
	out := bufio.NewReader(r)
	addr = announced(t, out)
	go io.Copy(io.Discard, out) // until w is closed
	return addr, func() {
		cancel()
		require.NoError(t, <-ended)
		w.Close()
	}
}

// announced returns the address that a server says it is at, after what it may log before.
func announced(t *testing.T, out *bufio.Reader) (addr string) {
	t.Helper()
	for {
		line, err := out.ReadString('\n')
		require.NoError(t, err, line)
		if m := startLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			return m[1]
		}
	}
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(b)
}

func TestShutdownKeepsEverything(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.fenec")
	addr, stop := serving(t, "--file", file, "--sync", "off")
	require.Zero(t, run([]string{"--ping", "--http", addr}, io.Discard))
	post(t, "http://"+addr+"/query", `{"query":"create collection t (a int)"}`)
	require.Equal(t, `{"affected":1}`, post(t, "http://"+addr+"/query", `{"query":"put t {a: 1}"}`))
	stop()
	require.NoFileExists(t, file+"-log", "a cleanly closed file stands by itself")
	require.Equal(t, 1, run([]string{"--ping", "--http", addr}, io.Discard))

	addr, stop = serving(t, "--file", file, "--no-checkpoint")
	require.Equal(t, `[{"id":1,"a":1}]`, post(t, "http://"+addr+"/query", `{"query":"get t"}`))
	post(t, "http://"+addr+"/query", `{"query":"put t {a: 2}"}`)
	stop()
	require.FileExists(t, file+"-log")

	addr, stop = serving(t, "--file", file)
	require.Equal(t, `[{"count":2}]`, post(t, "http://"+addr+"/query", `{"query":"get t count"}`))
	stop()
}

func TestDirectory(t *testing.T) {
	addr, stop := serving(t, "--dir", filepath.Join(t.TempDir(), "tenants"), "--admin-token", "a")
	defer stop()
	req, err := http.NewRequest("PUT", "http://"+addr+"/_admin/tenants/acme", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer a")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusCreated, res.StatusCode)
	require.Contains(t, post(t, "http://"+addr+"/t/acme/query", `{"query":"create collection t (a int)"}`), "message")
}

func TestTokenComesFromTheEnvironment(t *testing.T) {
	t.Setenv("FENEC_HTTP_TOKEN", "sesame")
	addr, stop := serving(t)
	defer stop()
	res, err := http.Get("http://" + addr + "/")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusUnauthorized, res.StatusCode)
}
