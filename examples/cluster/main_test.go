package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// built returns the daemons, which are built for all tests.
var built = sync.OnceValues(func() (binaries, error) {
	text, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", daemons, "../../cmd/...").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return binaries{filepath.Join(daemons, "fenec-server"), filepath.Join(daemons, "fenec-shard")}, err
})

// term is how long leases are, in seconds: so long that a machine with much to do loses
// none of them.
const term = 2

// daemons is the directory that they are in.
var daemons string

func TestMain(m *testing.M) {
	var err error
	if daemons, err = os.MkdirTemp("", "fenec-daemons-"); err != nil {
		panic(err)
	}
	daemons += string(os.PathSeparator)
	code := m.Run()
	os.RemoveAll(daemons)
	os.Exit(code)
}

// What the show claims it checks itself; here it is that everything is shown.
func TestRun(t *testing.T) {
	b, err := built()
	require.NoError(t, err)
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, b, term), &out)
	shown := out.String()
	t.Log(shown)
	for text, least := range map[string]int{
		`(?m)^# `: 6,
		`(?m)^all [1-9]\d* notes that were acknowledged are there, each once$`:              4,
		`(?m)^n\d and n\d hold the same: digest [0-9a-f]{16} at change \d+$`:                2,
		`(?m)^  +\d+\.\d\d s  note \d+ is acknowledged, \d+ ms after it was first refused$`: 3,
		`note \d+: 503, tenant "acme": the node's lease has lapsed`:                         1,
		`the router does not answer, the client turns to the other one`:                     1,
		`(?m)^n\d .* lost$`:                             1,
		`the router takes changes; 1 router follows it`: 2,
		`(?m)^127\.0\.0\.1:\d+ +[\d,]+ +[\d,]+ +-$`:     1,
	} {
		require.GreaterOrEqual(t, len(regexp.MustCompile(text).FindAllString(shown, -1)), least, text)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestRunEndsWithItsContext(t *testing.T) {
	b, err := built()
	require.NoError(t, err)
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	var out cancelAt = func(text string) {
		if strings.Contains(text, "is dead") {
			cancel()
		}
	}
	require.ErrorIs(t, run(ctx, out, b, term), context.Canceled)
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// cancelAt is told what is written.
type cancelAt func(string)

func (c cancelAt) Write(b []byte) (int, error) {
	c(string(b))
	return len(b), nil
}

func TestRunWithoutDaemons(t *testing.T) {
	require.ErrorContains(t, run(t.Context(), new(bytes.Buffer), binaries{"nothing", "nothing"}, term), "nothing")
}
