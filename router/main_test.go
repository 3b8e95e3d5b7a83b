package router

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test binary plays the part that this variable names, in a process of its
// own.
const playing = "FENEC_TEST_PART"

func TestMain(m *testing.M) {
	switch part := os.Getenv(playing); part {
	case "":
		os.Exit(m.Run())
	case "node":
		play(func(l net.Listener) error { return http.Serve(l, http.HandlerFunc(smallAnswer)) })
	case "tenants":
		playTenants(os.Getenv(playingDir), os.Getenv(playingAddr))
	case "station":
		playStation(os.Getenv(playingDir), os.Getenv(playingAddr))
	case "shard":
		playShard(os.Getenv(playingDir), os.Getenv(playingAddr))
	default:
		playRouter(part)
	}
}

// play listens, says where, and serves until the process is killed.
func play(serve func(net.Listener) error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	panic(serve(l))
}

// playRouter plays a router in front of one node.
func playRouter(node string) {
	rt, err := New(Options{})
	if err != nil {
		panic(err)
	}
	n := Node{Name: "n1", Addr: node, Token: NewToken("admin")}
	if err := rt.Directory().PutNode(n); err != nil {
		panic(err)
	}
	if err := rt.Directory().Place("acme", n); err != nil {
		panic(err)
	}
	play(rt.Serve)
}

func smallAnswer(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", jsonType)
	io.WriteString(w, `[{"id":1,"title":"the quick brown fox jumps over the lazy dog.."}]`)
}

// start starts a part and returns the address it listens on.
func start(t testing.TB, part string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playing+"="+part)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line := make([]byte, 64)
	n, err := out.Read(line)
	require.NoError(t, err)
	return string(bytes.TrimSpace(line[:n]))
}
