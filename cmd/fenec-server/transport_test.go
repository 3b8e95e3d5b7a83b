package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// asked is one answer, taken raw.
type asked struct {
	status int
	close  bool
	header http.Header
	body   string
}

// ask sends raw on a connection and reads n answers.
func ask(t *testing.T, conn net.Conn, raw string, n int) []asked {
	t.Helper()
	_, err := io.WriteString(conn, raw)
	require.NoError(t, err)
	return answers(t, bufio.NewReader(conn), n)
}

func answers(t *testing.T, r *bufio.Reader, n int) (out []asked) {
	t.Helper()
	for range n {
		res, err := http.ReadResponse(r, nil)
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		out = append(out, asked{res.StatusCode, res.Close, res.Header, string(body)})
	}
	return out
}

func connect(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestTransport asks what is answered before it comes to a route, by a server whose
// answers pages of other origins may read: these, too.
func TestTransport(t *testing.T) {
	unset(t)
	addr, stop := serving(t, "--http-cors", "*")
	defer stop()
	const post = "POST /query HTTP/1.1\r\nHost: x\r\n"
	const chunked = "Transfer-Encoding: chunked\r\n"
	const query = `{"query":"collections"}`
	for _, tc := range []struct {
		name, raw string
		status    int
	}{
		{"chunked", post + chunked + "\r\n17\r\n" + query + "\r\n0\r\n\r\n", 200},
		{"chunked with a length", post + chunked + "Content-Length: 23\r\n\r\n17\r\n" + query + "\r\n0\r\n\r\n", 400},
		{"chunked with trailers", post + chunked + "\r\n17\r\n" + query + "\r\n0\r\nA: b\r\n\r\n", 400},
		{"length past the ceiling", post + "Content-Length: 67108865\r\n\r\n", 413},
		{"length abc", post + "Content-Length: abc\r\n\r\n", 400},
		{"70 KiB of headers", "GET / HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("A: "+strings.Repeat("b", 1021)+"\r\n", 70) + "\r\n", 431},
		{"garbage", "GARBAGE\r\n\r\n", 400},
		{"another method", "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", 501},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := ask(t, connect(t, addr), tc.raw, 1)[0]
			require.Equal(t, tc.status, got.status, got.body)
			require.Equal(t, tc.status != 200, got.close)
			require.NotEmpty(t, got.header.Get("X-Request-Id"))
			require.Equal(t, []string{"*"}, got.header["Access-Control-Allow-Origin"])
			require.Contains(t, got.header.Get("Access-Control-Expose-Headers"), "x-request-id")
			if tc.status != 200 {
				require.Contains(t, got.body, `{"error":"`)
			}
		})
	}
	t.Run("pipelined", func(t *testing.T) {
		got := ask(t, connect(t, addr), "GET /_health HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\r\n\r\nGET /nope HTTP/1.1\r\nHost: x\r\nX-Request-Id: b\r\n\r\n", 2)
		require.Equal(t, []int{200, 404}, []int{got[0].status, got[1].status})
		require.Equal(t, "a", got[0].header.Get("X-Request-Id"))
		require.Equal(t, "b", got[1].header.Get("X-Request-Id"))
	})
	t.Run("HTTP/1.0", func(t *testing.T) {
		require.True(t, ask(t, connect(t, addr), "GET / HTTP/1.0\r\n\r\n", 1)[0].close)
	})
	t.Run("request ids", func(t *testing.T) {
		conn := connect(t, addr)
		for sent, kept := range map[string]bool{"abc-1": true, strings.Repeat("x", 128): true, strings.Repeat("x", 129): false, "a\tb": false} {
			got := ask(t, conn, "GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: "+sent+"\r\n\r\n", 1)[0].header.Get("X-Request-Id")
			if kept {
				require.Equal(t, sent, got)
			} else {
				require.Regexp(t, "^[0-9a-f]{16}$", got)
			}
		}
	})
}

func TestIdleTimeout(t *testing.T) {
	unset(t)
	addr, stop := serving(t, "--idle-timeout", "1", "--http-cors", "https://a.example")
	defer stop()
	between, within := connect(t, addr), connect(t, addr)
	ask(t, between, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 1)
	io.WriteString(within, "GET / HTTP/1.1\r\nHost: x\r\n")
	b, err := io.ReadAll(between)
	require.NoError(t, err)
	require.Empty(t, b)
	late := answers(t, bufio.NewReader(within), 1)[0]
	require.Equal(t, 408, late.status)
	require.Equal(t, "https://a.example", late.header.Get("Access-Control-Allow-Origin"))
}

func TestMaxConnections(t *testing.T) {
	unset(t)
	addr, stop := serving(t, "--max-connections", "1", "--http-cors", "*")
	defer stop()
	const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	first := connect(t, addr)
	require.Equal(t, 200, ask(t, first, get, 1)[0].status)
	second := answers(t, bufio.NewReader(connect(t, addr)), 1)[0]
	require.Equal(t, 503, second.status)
	require.Equal(t, "1", second.header.Get("Retry-After"))
	require.Equal(t, "*", second.header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, 200, ask(t, first, get, 1)[0].status)
	first.Close()
	require.Equal(t, 200, ask(t, connect(t, addr), get, 1)[0].status)
}

// The test binary plays the command itself when this variable is set.
const playing = "FENEC_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(playing) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestProcess starts the command and ends it by each of the signals.
func TestProcess(t *testing.T) {
	unset(t)
	for _, tc := range []struct {
		signal syscall.Signal
		args   []string
		state  string
	}{
		{syscall.SIGTERM, nil, "[no auth]"},
		{syscall.SIGINT, []string{"--http-token", "secret"}, "[token]"},
		{syscall.SIGHUP, []string{"--http-read-only"}, "[no auth, read only]"},
	} {
		t.Run(tc.signal.String(), func(t *testing.T) {
			cmd := exec.Command(os.Args[0], append(tc.args, "--http", "127.0.0.1:0")...)
			cmd.Env = append(os.Environ(), playing+"=1")
			stderr, err := cmd.StderrPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			defer cmd.Process.Kill()
			out := bufio.NewReader(stderr)
			line, err := out.ReadString('\n')
			require.NoError(t, err)
			m := startLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			require.NotNil(t, m, line)
			require.True(t, strings.HasSuffix(line, "  "+tc.state+"\n"), line)
			require.Equal(t, 200, ask(t, connect(t, m[1]), "GET /_health HTTP/1.1\r\nHost: x\r\n\r\n", 1)[0].status)

			require.NoError(t, cmd.Process.Signal(tc.signal))
			rest, err := io.ReadAll(out)
			require.NoError(t, err)
			require.Empty(t, string(rest))
			require.NoError(t, cmd.Wait(), "exit code 0")
		})
	}
}
