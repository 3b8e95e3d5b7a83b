package exchange

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Run runs the cases, each against the server whose base address start returns
// for its fixture. names are pairs of what headers may hold and what it stands
// for, as tokens that are made for the run.
func Run(t *testing.T, cases []Case, start func(t *testing.T, fixture string) (base string), names ...string) {
	expand := strings.NewReplacer(names...)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			base := start(t, c.Fixture)
			for _, s := range c.Steps {
				s.run(t, base, expand)
			}
		})
	}
}

// client follows no redirect and asks for no compression.
var client = &http.Client{
	Transport: &http.Transport{DisableCompression: true, DialContext: (&net.Dialer{}).DialContext, MaxIdleConnsPerHost: 4},
}

func (s *Step) run(t *testing.T, base string, expand *strings.Replacer) {
	t.Helper()
	req, err := http.NewRequest(s.Method, base+encode(s.Target), strings.NewReader(s.Body))
	require.NoError(t, err, "line %d", s.Line)
	for _, h := range s.Headers {
		name, value, _ := strings.Cut(h, ":")
		req.Header.Set(name, expand.Replace(strings.TrimSpace(value)))
	}
	res, err := client.Do(req)
	require.NoError(t, err, "line %d", s.Line)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err, "line %d", s.Line)
	body := string(b)
	require.Equal(t, s.Status, res.StatusCode, "line %d: %s %s: %s", s.Line, s.Method, s.Target, body)
	for _, w := range s.Want {
		w.check(t, s.Line, body, res.Header)
	}
}

func (w *Want) check(t *testing.T, line int, body string, h http.Header) {
	t.Helper()
	switch w.Kind {
	case '=':
		if Matches(w.Text, body) {
			return
		}
		require.Equal(t, w.Text, body, "line %d", line)
	case '~':
		require.Contains(t, body, w.Text, "line %d", line)
	case '!':
		require.NotContains(t, body, w.Text, "line %d", line)
	case '+':
		name, value, _ := strings.Cut(w.Text, ": ")
		if got := h.Get(name); !Matches(value, got) {
			require.Equal(t, value, got, "line %d: header %s", line, name)
		}
	case '-':
		require.Empty(t, h.Values(w.Text), "line %d: header %s", line, w.Text)
	}
}

// Matches reports whether got is want, in which "…" stands for any text.
func Matches(want, got string) bool {
	parts := strings.Split(want, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$").MatchString(got)
}

// encode percent-encodes what a target may not hold, but no percent sign.
func encode(target string) string {
	var b strings.Builder
	for i := range len(target) {
		c := target[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			b.WriteString("%" + strings.ToUpper(string([]byte{hex[c>>4], hex[c&15]})))
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

const hex = "0123456789abcdef"

func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string is never refused
	}
	return strings.TrimSpace(b.String())
}
