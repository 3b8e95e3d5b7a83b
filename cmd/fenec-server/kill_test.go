package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// command is the command as a process of its own.
type command struct {
	*exec.Cmd
	addr string
}

// launch starts the command. It is killed with the test, if it still runs then.
func launch(t *testing.T, args ...string) *command {
	t.Helper()
	return launchAt(t, "127.0.0.1:0", args...)
}

// launchAt is launch at an address.
func launchAt(t *testing.T, addr string, args ...string) *command {
	t.Helper()
	cmd := exec.Command(os.Args[0], append(args, "--http", addr)...)
	cmd.Env = append(os.Environ(), playing+"=1")
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := &command{Cmd: cmd}
	t.Cleanup(func() { c.kill() })
	c.addr = announced(t, bufio.NewReader(stderr))
	return c
}

// kill ends the process as the end of its machine would.
func (c *command) kill() {
	_ = c.Process.Kill()
	_ = c.Wait()
}

// keyed is a write with an idempotency key, as raw bytes.
func keyed(n int) string {
	body := fmt.Sprintf(`{"n":%d}`, n)
	return fmt.Sprintf("POST /logs HTTP/1.1\r\nHost: x\r\nIdempotency-Key: key-%d\r\nContent-Length: %d\r\n\r\n%s", n, len(body), body)
}

// TestKilledBeforeTheAnswer kills the server at moments around the answer of a
// write with a key. Sent again, the write is there once, and an answer that had
// begun to come is replayed.
func TestKilledBeforeTheAnswer(t *testing.T) {
	unset(t)
	file := filepath.Join(t.TempDir(), "x.fenec")
	server := launch(t, "--file", file, "--sync", "always")
	post(t, "http://"+server.addr+"/query", `{"query":"create collection logs (n int)"}`)
	for n, wait := range []time.Duration{0, 0, 100 * time.Microsecond, 300 * time.Microsecond, 700 * time.Microsecond, 1500 * time.Microsecond, -1, -1} {
		conn := connect(t, server.addr)
		_, err := conn.Write([]byte(keyed(n)))
		require.NoError(t, err)
		answered := killWithin(server, conn, wait)
		server = launch(t, "--file", file, "--sync", "always")
		again := ask(t, connect(t, server.addr), keyed(n), 1)[0]
		require.Equal(t, http.StatusCreated, again.status)
		if answered {
			require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
		}
		count := ask(t, connect(t, server.addr), fmt.Sprintf("GET /logs?count&n=%d HTTP/1.1\r\nHost: x\r\n\r\n", n), 1)[0]
		require.Equal(t, `{"count":1}`, count.body)
	}
}

// killWithin kills the server once an answer begins to come, or before: at the
// latest after wait, if that is not negative. It reports whether one came.
func killWithin(server *command, conn net.Conn, wait time.Duration) (answered bool) {
	if wait >= 0 {
		_ = conn.SetReadDeadline(time.Now().Add(wait))
	}
	n, _ := conn.Read(make([]byte, 1))
	server.kill()
	return n > 0
}
