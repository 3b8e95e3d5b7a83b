package expr

import "github.com/fenec-go/fenecdb/fenec/ql"

// Builtin reports whether the language has a function of that name, in lower
// case.
func Builtin(name string) bool {
	_, ok := functions[name]
	return ok || name == "now" || name == "bucket" || name == expiredName || ql.IsAggregate(name)
}
