package main

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/router"
)

func TestReplicationFlags(t *testing.T) {
	unset(t)
	t.Setenv("FENEC_REPLICATION_TOKEN", "")
	cfg, err := parse(nil, io.Discard)
	require.NoError(t, err)
	require.Zero(t, cfg.file)
	cfg, err = parse([]string{"--replication-token", "r1"}, io.Discard)
	require.NoError(t, err)
	require.EqualValues(t, 8<<20, cfg.file.Feed)
	require.True(t, cfg.options.ReplicationToken.Opens("r1"))
	t.Setenv("FENEC_REPLICATION_TOKEN", "of-the-environment")
	cfg, err = parse([]string{"--replica-of", "http://10.0.0.1:8090/", "--replication-buffer", "2"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, router.DirectoryOptions{Feed: 2 << 20, Follow: "http://10.0.0.1:8090"}, cfg.file)
	require.True(t, cfg.options.ReplicationToken.Opens("of-the-environment"))
}

// D6, and what else is refused.
func TestReplicationRefusals(t *testing.T) {
	unset(t)
	t.Setenv("FENEC_REPLICATION_TOKEN", "")
	dir := t.TempDir()
	follower, filled := filepath.Join(dir, "follower"), filepath.Join(dir, "filled")
	d, err := router.OpenDirectoryWith(follower, router.DirectoryOptions{Follow: "http://127.0.0.1:1"})
	require.NoError(t, err)
	require.NoError(t, d.Close())
	d, err = router.OpenDirectory(filled)
	require.NoError(t, err)
	require.NoError(t, d.PutNode(router.Node{Name: "n1", Addr: "a:1", Token: router.NewToken("x")}))
	require.NoError(t, d.Close())
	const primary, token = "--replica-of=http://127.0.0.1:1", "--replication-token=r1"
	for _, tc := range []struct {
		name string
		args []string
		says string
	}{
		{"no token", []string{primary}, "--replication-token"},
		{"both", []string{primary, token, "--promote"}, "--promote"},
		{"no URL", []string{"--replica-of", "127.0.0.1:1", token}, "--replica-of"},
		{"encrypted", []string{"--replica-of", "https://127.0.0.1:1", token}, "http://"},
		{"a path", []string{"--replica-of", "http://127.0.0.1:1/t/acme", token}, "path"},
		{"no buffer", []string{token, "--replication-buffer", "0"}, "--replication-buffer"},
		{"a file that follows", []string{"-d", follower}, "--promote"},
		{"a file with a life of its own", []string{"-d", filled, primary, token}, "never replicated"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var stderr bytes.Buffer
			require.Equal(t, 2, run(append(tc.args, "-l", "127.0.0.1:0"), &stderr), stderr.String())
			require.Contains(t, stderr.String(), tc.says)
		})
	}
}
