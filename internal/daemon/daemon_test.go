package daemon

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test binary plays the daemon when this variable names a part.
const playing = "FENEC_TEST_DAEMON"

func TestMain(m *testing.M) {
	switch os.Getenv(playing) {
	case "listens":
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		fmt.Fprintln(os.Stderr, "fenec-http 0.1.0 listening on: http://127.0.0.1:4242  [token]")
		<-asked
		os.Exit(0)
	case "fails":
		fmt.Fprintln(os.Stderr, "fenec-server: no such directory")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func start(t *testing.T, part string) (*Process, error) {
	t.Helper()
	t.Setenv(playing, part)
	return Start(context.Background(), "n1", os.Args[0])
}

func TestStartWaitsForTheAddress(t *testing.T) {
	p, err := start(t, "listens")
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:4242", p.Addr())
	require.Equal(t, "http://127.0.0.1:4242", p.URL())
	require.Equal(t, "n1", p.Name())
	require.Contains(t, p.Log(), "listening on")

	require.NoError(t, p.Stop())
	<-p.Done()
	require.NoError(t, p.Stop(), "stopping twice")
}

func TestStartReportsWhatADaemonSaid(t *testing.T) {
	_, err := start(t, "fails")
	require.ErrorContains(t, err, "n1 ended before it listened")
	require.ErrorContains(t, err, "no such directory")
}

func TestStartWithoutABinary(t *testing.T) {
	_, err := Start(context.Background(), "n1", t.TempDir()+"/nothing")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestListenAddress(t *testing.T) {
	for line, want := range map[string]string{
		"fenec-http 0.1.0 listening on: http://127.0.0.1:8080  [no auth]": "127.0.0.1:8080",
		"fenec-shard 0.1.0 listening on: http://[::1]:8090  [token]":      "[::1]:8090",
		"metrics on: http://127.0.0.1:9/_metrics":                         "",
		"listening on: http://":                                           "",
	} {
		got, ok := listenAddress(line)
		require.Equal(t, want != "", ok, line)
		if ok {
			require.Equal(t, want, got, line)
		}
	}
}
