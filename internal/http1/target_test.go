package http1_test

import (
	"testing"
	"unicode/utf8"

	"github.com/fenec-go/fenecdb/internal/http1"
	"github.com/stretchr/testify/require"
)

func TestSegments(t *testing.T) {
	for _, c := range []struct {
		target string
		want   []string
	}{
		{"/", nil},
		{"*", nil},
		{"", nil},
		{"/t/acme/notes", []string{"t", "acme", "notes"}},
		{"//t//acme//notes/", []string{"t", "acme", "notes"}},
		{"/t/acme?x=/y", []string{"t", "acme"}},
		{"/%74/a%2Fb", []string{"t", "a/b"}},
		{"/t/..", []string{"t", ".."}},
		{"/a+b/c%20d", []string{"a b", "c d"}},
		{"/a%zz/%4/%", []string{"a%zz", "%4", "%"}},
		{"/%ff/\xc3\xa4", []string{"\uFFFD", "ä"}},
		{"http://host:80/t/acme", []string{"t", "acme"}},
		{"HTTPS://host?/t", nil},
		{"http://host", nil},
		{"ftp://host/t", nil},
		{"t/acme", nil},
	} {
		require.Equal(t, c.want, http1.Segments([]byte(c.target)), "%s", c.target)
	}
}

func TestPath(t *testing.T) {
	for target, want := range map[string]string{
		"/t/a%2F?b=?c":        "/t/a%2F",
		"http://h/x?y":        "/x",
		"http://h?y=/t/other": "",
		"?x":                  "",
		"/a#b":                "/a#b",
	} {
		require.Equal(t, want, string(http1.Path([]byte(target))), target)
	}
}

func FuzzUnescape(f *testing.F) {
	f.Add([]byte("a%2Fb+c%zz%"))
	f.Add([]byte("\xff%ff"))
	f.Fuzz(func(t *testing.T, segment []byte) {
		before := string(segment)
		got := http1.Unescape(make([]byte, 3), segment)
		require.True(t, utf8.Valid(got))
		require.Equal(t, before, string(segment), "the target must stay as it came")
	})
}
