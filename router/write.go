package router

import "github.com/fenec-go/fenecdb/internal/http1"

// certainlyWrites reports whether a request to a tenant writes, whatever its body says.
// target begins with /t/<tenant>. What a statement of /query or /batch does, and what
// routes do whose names begin with an underscore, only the node can tell.
func certainlyWrites(m http1.Method, target []byte) bool {
	if m.Safe() {
		return false
	}
	_, rest := http1.NextSegment(http1.Path(target))
	_, rest = http1.NextSegment(rest)
	first, rest := http1.NextSegment(rest)
	if len(first) > 0 && first[0] == '_' {
		return false
	}
	if m != http1.POST {
		return true
	}
	switch string(first) {
	case "query", "batch":
		return false
	}
	second, _ := http1.NextSegment(rest)
	return second == nil // POST /<collection>/near reads
}

// dataRoute reports whether a request is for data, which a node gives nobody without a
// token, if it asks for tokens. target begins with /t/<tenant>.
func dataRoute(m http1.Method, target []byte) bool {
	_, rest := http1.NextSegment(http1.Path(target))
	_, rest = http1.NextSegment(rest)
	first, _ := http1.NextSegment(rest)
	first = http1.Unescape(nil, first)
	return m != http1.OPTIONS && (len(first) == 0 || first[0] != '_')
}
