// Package target takes the target of a request apart: the path into its
// segments, the query string into an ordered list of keys and values, all of
// them decoded. Nothing is refused: any target has a reading.
//
// A percent sequence stands for its byte and a plus sign for a blank, in the
// path as well as in the query. An invalid percent sequence stays as it is, and
// bytes that are not UTF-8 become U+FFFD, so that every string here is valid
// UTF-8. Package net/url will not do: it refuses semicolons and invalid
// sequences, and loses the order of the pairs.
package target

import (
	"strings"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// Target is a request target, decoded.
type Target struct {
	// Segments are the pieces of the path between its slashes, without empty
	// ones: "//books/" is the one segment "books". A slash that was written %2F
	// is part of a segment.
	Segments []string

	// Query is the pairs of the query string in the order written, with those
	// that repeat a key.
	Query []Pair
}

// Pair is a key of a query string and its value.
type Pair struct{ Key, Value string }

// Parse takes a request target apart. Of a target in the absolute form the
// scheme and the host are passed over.
func Parse(raw string) Target {
	path, query, _ := strings.Cut(raw, "?")
	return Target{Segments: Segments(path), Query: ParseQuery(query)}
}

// Segments takes the path of a target apart, which may be in the absolute form.
func Segments(path string) []string {
	if path == "" || path[0] != '/' || !plain(path) {
		return http1.Segments([]byte(path))
	}
	var out []string
	for segment := range strings.SplitSeq(path, "/") {
		if segment != "" {
			out = append(out, segment)
		}
	}
	return out
}

// ParseQuery takes apart what follows the question mark of a target. Only the
// ampersand parts pairs, and what is empty between two is none. A key without an
// equals sign has the empty value.
func ParseQuery(query string) []Pair {
	if query == "" {
		return nil
	}
	return AppendQuery(make([]Pair, 0, strings.Count(query, "&")+1), query)
}

// AppendQuery appends what ParseQuery returns.
func AppendQuery(pairs []Pair, query string) []Pair {
	for piece := range strings.SplitSeq(query, "&") {
		if piece == "" {
			continue
		}
		key, value, _ := strings.Cut(piece, "=")
		pairs = append(pairs, Pair{unescape(key), unescape(value)})
	}
	return pairs
}

// unescape decodes a key or a value. One with nothing to decode shares the
// memory of s.
func unescape(s string) string {
	if plain(s) {
		return s
	}
	return string(http1.Unescape(nil, []byte(s)))
}

// plain reports whether s certainly decodes to itself.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c == '%' || c == '+' || c >= 0x80 {
			return false
		}
	}
	return true
}
