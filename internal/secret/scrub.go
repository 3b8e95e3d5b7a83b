package secret

import (
	"io"
	"regexp"
)

// leaks are the forms in which a secret may get into a message that somebody else has
// made: in a header, and in a URL.
var leaks = []struct {
	form *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\bBearer +[^\s"'\]},;]+`), "Bearer " + redacted},
	{regexp.MustCompile(`(?i)(\bauthorization\b["':=\s\[]*)(?:basic|bearer|token) +[^\s"'\]},;]+`), "${1}" + redacted},
	{regexp.MustCompile(`(://)[^\s/?#@"']+@`), "${1}" + redacted + "@"},
}

// Scrub returns text without what looks like a bearer token or a URL's user and password.
func Scrub(text []byte) []byte {
	for _, l := range leaks {
		text = l.form.ReplaceAll(text, []byte(l.to))
	}
	return text
}

// Scrubbed returns a writer of messages, each in a Write of its own, that go to w
// scrubbed. It is the last line: what is known to be a secret is a Token.
func Scrubbed(w io.Writer) io.Writer { return scrubbed{w} }

type scrubbed struct{ w io.Writer }

// Write writes b scrubbed. It reports the length of b.
func (s scrubbed) Write(b []byte) (int, error) {
	if _, err := s.w.Write(Scrub(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}
