package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The test binary plays the command itself when this variable is set.
const playing = "FENEC_TEST_SHARD"

func TestMain(m *testing.M) {
	if os.Getenv(playing) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestExitCodes(t *testing.T) {
	unset(t)
	file := filepath.Join(t.TempDir(), "shard.fenec")
	hosts := filepath.Join(t.TempDir(), "hosts")
	require.NoError(t, os.WriteFile(hosts, []byte("acme.example.com\n"), 0o600))
	for _, tc := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"help", []string{"-h"}, 0, "--upstream-timeout"},
		{"unknown flag", []string{"--bogus"}, 2, "--bogus"},
		{"no value", []string{"--listen"}, 2, "--listen"},
		{"argument", []string{"shard.fenec"}, 2, "shard.fenec"},
		{"no directory", []string{"--directory", ""}, 2, "--directory"},
		{"no timeout", []string{"--upstream-timeout", "0"}, 2, "--upstream-timeout"},
		{"timeout no number", []string{"--upstream-timeout", "soon"}, 2, "soon"},
		{"no body", []string{"--max-body", "0"}, 2, "--max-body"},
		{"negative connections", []string{"--max-connections", "-1"}, 2, "--max-connections"},
		{"connections no number", []string{"--max-connections", "many"}, 2, "many"},
		{"no moves", []string{"--moves", "0"}, 2, "--moves"},
		{"no lease", []string{"--auto-failover", "0"}, 2, "--auto-failover"},
		{"negative hold", []string{"--hold", "-1"}, 2, "--hold"},
		{"negative delay", []string{"--auth-delay", "-1"}, 2, "--auth-delay"},
		{"no origin", []string{"--http-cors", "books.example"}, 2, "origin"},
		{"certificate without a key", []string{"--tls-cert", "x"}, 2, "--tls-key"},
		{"key without a certificate", []string{"--tls-key", "x"}, 2, "--tls-cert"},
		{"no such certificate", []string{"-d", file, "-l", "127.0.0.1:0", "--tls-cert", "/nonexistent/c", "--tls-key", "/nonexistent/k"}, 1, "nonexistent"},
		{"exposed", []string{"-d", file, "-l", "0.0.0.0:0"}, 1, "--token"},
		{"bad address", []string{"-d", file, "-l", "127.0.0.1:x"}, 1, "127.0.0.1:x"},
		{"no such directory", []string{"-d", "/nonexistent/shard.fenec", "-l", "127.0.0.1:0"}, 1, "nonexistent"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var stderr bytes.Buffer
			require.Equal(t, tc.code, run(tc.args, &stderr), stderr.String())
			require.Contains(t, stderr.String(), tc.says)
			require.NoFileExists(t, file)
		})
	}
	for name, want := range map[string]int{hosts: 2, "/nonexistent/hosts": 1} {
		var stderr bytes.Buffer
		require.Equal(t, want, run([]string{"-d", file, "-l", "127.0.0.1:0", "--hosts", name}, &stderr))
		require.Contains(t, stderr.String(), "hosts")
	}
}

func unset(t *testing.T) {
	t.Setenv("FENEC_SHARD_TOKEN", "") // an empty one is none
}

func TestFlags(t *testing.T) {
	unset(t)
	cfg, err := parse(nil, io.Discard)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:8090", cfg.listen)
	require.Equal(t, "shard.fenec", cfg.directory)
	require.True(t, cfg.options.Token.IsZero())
	require.Equal(t, 1000, cfg.options.MaxConnections)
	require.EqualValues(t, 64<<20, cfg.options.MaxBody)
	require.Equal(t, time.Minute, cfg.options.UpstreamTimeout)

	require.Equal(t, 500*time.Millisecond, cfg.options.Hold)
	require.Equal(t, 100*time.Millisecond, cfg.options.RefusalDelay)
	require.Equal(t, 2, cfg.options.Moves)
	require.Zero(t, cfg.options.AutoFailover)
	require.Empty(t, cfg.options.AllowOrigin)
	require.False(t, cfg.hosts.on())

	cfg, err = parse([]string{
		"--hold", "0", "--auth-delay", "0", "--moves", "3", "--replicas", "--auto-failover", "5", "--http-cors", "https://a.example", "--audit", "log",
		"--host-suffix", "example.com", "--tls-cert", "c", "--tls-key", "k",
	}, io.Discard)
	require.NoError(t, err)
	require.Negative(t, cfg.options.Hold)
	require.Zero(t, cfg.options.RefusalDelay)
	require.Equal(t, 3, cfg.options.Moves)
	require.Equal(t, 5*time.Second, cfg.options.AutoFailover)
	require.True(t, cfg.options.Replicas)
	require.Equal(t, "https://a.example", cfg.options.AllowOrigin)
	require.Equal(t, "log", cfg.audit)
	require.True(t, cfg.hosts.on())
	require.True(t, cfg.guard().TLS)

	t.Setenv("FENEC_SHARD_TOKEN", "of-the-environment")
	cfg, err = parse([]string{"-l", "127.0.0.1:1", "-d", "x", "--max-connections", "0", "--max-body=1", "--upstream-timeout=2"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:1", cfg.listen)
	require.Equal(t, "x", cfg.directory)
	require.True(t, cfg.options.Token.Opens("of-the-environment"))
	require.Equal(t, -1, cfg.options.MaxConnections)
	require.EqualValues(t, 1<<20, cfg.options.MaxBody)
	require.Equal(t, 2*time.Second, cfg.options.UpstreamTimeout)

	cfg, err = parse([]string{"--token", "of-the-flag"}, io.Discard)
	require.NoError(t, err)
	require.True(t, cfg.options.Token.Opens("of-the-flag"))
}

var startLine = regexp.MustCompile(`^fenec-shard \S+ listening on: http://(\S+)  \[(token|no auth)\]\n$`)

// TestProcess starts the command, asks it, and ends it by each of the signals.
func TestProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shard.fenec")
	for _, tc := range []struct {
		signal syscall.Signal
		args   []string
		auth   string
	}{
		{syscall.SIGTERM, nil, "no auth"},
		{syscall.SIGINT, []string{"--token", "secret"}, "token"},
		{syscall.SIGHUP, nil, "no auth"},
	} {
		t.Run(tc.signal.String(), func(t *testing.T) {
			cmd := exec.Command(os.Args[0], append(tc.args, "-d", file, "-l", "127.0.0.1:0")...)
			cmd.Env = append(os.Environ(), playing+"=1", "FENEC_SHARD_TOKEN=")
			stderr, err := cmd.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			defer cmd.Process.Kill()
			out := bufio.NewReader(stderr)
			line, err := out.ReadString('\n')
			require.NoError(t, err)
			m := startLine.FindStringSubmatch(line)
			require.NotNil(t, m, line)
			require.Equal(t, tc.auth, m[2])

			resp, err := http.Get("http://" + m[1] + "/_health")
			require.NoError(t, err)
			resp.Body.Close()
			require.Equal(t, 200, resp.StatusCode)

			require.NoError(t, cmd.Process.Signal(tc.signal))
			rest, err := io.ReadAll(out)
			require.NoError(t, err)
			require.Empty(t, string(rest))
			require.NoError(t, cmd.Wait(), "exit code 0")
		})
	}
}

func TestClosedStandardError(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-d", filepath.Join(t.TempDir(), "shard.fenec"), "-l", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), playing+"=1", "FENEC_SHARD_TOKEN=")
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stderr = w
	require.NoError(t, cmd.Start())
	defer cmd.Process.Kill()
	w.Close()
	line, err := bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err)
	r.Close()
	addr := startLine.FindStringSubmatch(line)[1]

	// A node that does not answer is logged.
	put := func(path, body string) int {
		req, err := http.NewRequestWithContext(context.Background(), "PUT", "http://"+addr+path, strings.NewReader(body))
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		return resp.StatusCode
	}
	node := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "PUT" {
			w.WriteHeader(201)
		}
		io.WriteString(w, `{"disk":0}`)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go node.Serve(l)
	require.Equal(t, 201, put("/_shard/nodes/n1", `{"addr":"`+l.Addr().String()+`","token":"x"}`))
	require.Equal(t, 201, put("/_shard/tenants/acme", ""))
	node.Close()
	for range 2 {
		resp, err := http.Get("http://" + addr + "/t/acme/x")
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, 502, resp.StatusCode)
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
}
