package secret_test

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/secret"
)

func TestScrub(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "",
		"GET /t/acme/notes: no token":       "GET /t/acme/notes: no token",
		"a bearer token is needed":          "a bearer token is needed",
		"Bearer abc.def-_~+/=":              "Bearer [redacted]",
		`{"auth":"Bearer abc","b":1}`:       `{"auth":"Bearer [redacted]","b":1}`,
		"map[Authorization:[Bearer x y]":    "map[Authorization:[[redacted]] y]",
		"authorization: bearer abc, x":      "authorization: [redacted], x",
		`"Authorization": "Basic YTpi"`:     `"Authorization": "[redacted]"`,
		"dial http://user:pass@host/x":      "dial http://[redacted]@host/x",
		"http://token@host:1/a?b=c@d":       "http://[redacted]@host:1/a?b=c@d",
		"http://host/a@b":                   "http://host/a@b",
		"two: http://a:b@c and ws://d:e@f.": "two: http://[redacted]@c and ws://[redacted]@f.",
		"mail me@example.com":               "mail me@example.com",
	} {
		require.Equal(t, want, string(secret.Scrub([]byte(in))), in)
	}
}

func TestScrubbed(t *testing.T) {
	var out strings.Builder
	l := log.New(secret.Scrubbed(&out), "", 0)
	h := http.Header{"Authorization": {"Bearer s3cret"}}
	l.Printf("failed with %v", h)
	l.Print(errors.New(`parse "http://u:s3cret@host:bad": invalid port`))
	n, err := fmt.Fprint(secret.Scrubbed(&out), "Bearer s3cret")
	require.NoError(t, err)
	require.Equal(t, len("Bearer s3cret"), n, "a writer reports what it was given")
	require.NotContains(t, out.String(), "s3cret")
	require.Equal(t, 3, strings.Count(out.String(), "[redacted]"))
	_, err = secret.Scrubbed(broken{}).Write([]byte("x"))
	require.Error(t, err)
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }
