package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/exchange"
)

// TestSurface runs the exchanges of the HTTP surface against the command, whose
// front is a server of our own.
func TestSurface(t *testing.T) {
	unset(t)
	policy := filepath.Join(t.TempDir(), "policy")
	require.NoError(t, os.WriteFile(policy, []byte(exchange.Policy), 0o600))
	const secret = "0123456789abcdef0123456789abcdef01234567"
	flags := map[string][]string{
		"P":                 {"--http-token", "root", "--jwt-secret", secret, "--policy", policy, "--auth-delay", "0"},
		"cors":              {"--http-cors", "*"},
		"one origin, token": {"--http-cors", "https://a.example", "--http-token", "t", "--auth-delay", "0"},
		"token":             {"--http-token", "t", "--admin-token", "m", "--auth-delay", "0"},
		"read-only":         {"--http-read-only"},
		"feed":              {"--sync", "always", "--cdc"},
	}
	start := func(t *testing.T, fixture string) string {
		data, how, _ := strings.Cut(fixture, " ")
		file := filepath.Join(t.TempDir(), "x.fenec")
		if len(exchange.Fixtures[data]) > 0 {
			addr, stop := serving(t, "--file", file)
			for _, text := range exchange.Fixtures[data] {
				body, err := json.Marshal(map[string]string{"query": text})
				require.NoError(t, err)
				require.NotContains(t, post(t, "http://"+addr+"/query", string(body)), `"error"`)
			}
			stop()
		}
		args := append([]string{"--file", file}, flags[how]...)
		if how == "" {
			args = append(args, flags[data]...)
		}
		addr, stop := serving(t, args...)
		t.Cleanup(stop)
		return "http://" + addr
	}
	cases := append(exchange.Surface(t), exchange.Script(t, "K")...)
	cases = append(cases, exchange.Script(t, "O")...)
	exchange.Run(t, cases, start)
	tokens := func(claims string) string {
		var out strings.Builder
		cfg, err := parse([]string{"--jwt-secret", secret, "--mint-token", "{" + claims + "}"}, os.Stderr)
		require.NoError(t, err)
		require.NoError(t, mint(cfg.jwt, &out))
		return strings.TrimSpace(out.String())
	}
	exchange.Run(t, exchange.Script(t, "I"), start, names(tokens)...)
}

// names returns the tokens that the script I names. Of those that are refused, one
// will do here.
func names(mint func(claims string) string) (pairs []string) {
	for name, claims := range exchange.Claims {
		pairs = append(pairs, name, mint(claims))
	}
	pairs = append(pairs, "$EXPIRED", mint(`"sub":"ada","exp":1`))
	for _, name := range []string{"$NOEXP", "$EARLY", "$ALGNONE", "$OTHER", "$CHANGED", "$KID"} {
		pairs = append(pairs, name, "a.b.c")
	}
	rooms := strings.Repeat(`"r",`, 1000) + `"r"`
	return append(pairs, "$MANY", mint(fmt.Sprintf(`"sub":"ada","rooms":[%s]`, rooms)))
}
