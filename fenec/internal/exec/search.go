package exec

import (
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// checkSearch refuses the clauses that rank documents, which this release has
// not.
func checkSearch(s *ql.Get) error {
	word := ""
	switch {
	case s.Match != nil:
		word = "match"
	case s.Near != nil:
		word = "near"
	case s.Rerank != nil:
		word = "rerank"
	case s.Fuse != nil:
		word = "fuse"
	default:
		for i := range s.Columns {
			if s.Columns[i].Mark != nil {
				word = "highlight and snippet"
			}
		}
	}
	if word == "" {
		return nil
	}
	return fault.New(fault.Query, "%s: search is not part of this release", word)
}
