package secret_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/secret"
)

func TestTokenNeverShows(t *testing.T) {
	const text = "s3cret-words"
	token := secret.Token(text)
	options := struct{ Token secret.Token }{token}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10s", "%T"} {
		fmt.Fprintf(&out, verb+"\n", token)
		fmt.Fprintf(&out, verb+"\n", options)
		fmt.Fprintf(&out, verb+"\n", &options)
		fmt.Fprintf(&out, verb+"\n", []secret.Token{token})
	}
	fmt.Fprintln(&out, token, options, errors.New("bad token "+token.String()), fmt.Errorf("%w: %v", errors.New("refused"), token))
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("start", "token", token, "options", options)
	}
	encoded, err := json.Marshal(map[string]any{"a": token, "b": options})
	require.NoError(t, err)
	out.Write(encoded)
	require.NotContains(t, out.String(), text)
	require.NotContains(t, out.String(), fmt.Sprintf("%x", text))
	require.Contains(t, out.String(), "[redacted]")
}

func TestOpens(t *testing.T) {
	for _, c := range []struct {
		token secret.Token
		given string
		opens bool
	}{
		{"abc", "abc", true},
		{"abc", "abd", false},
		{"abc", "ab", false},
		{"abc", "abcd", false},
		{"abc", "", false},
		{"", "", false},
		{"", "abc", false},
	} {
		require.Equal(t, c.opens, c.token.Opens(c.given), "%q by %q", string(c.token), c.given)
	}
	require.True(t, secret.Token("").Equal(""))
	require.True(t, secret.Token("a").Equal("a"))
	require.False(t, secret.Token("a").Equal("b"))
}
