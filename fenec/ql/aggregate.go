package ql

var aggregateNames = [...]string{
	"count", "sum", "avg", "min", "max", "first", "last",
	"approx_count_distinct", "hll_accumulate", "hll_combine",
}

// IsAggregate reports whether a call of the function name is an aggregate: it
// takes the values of many rows to one.
func IsAggregate(name string) bool {
	for _, w := range aggregateNames {
		if isWord(name, w) {
			return true
		}
	}
	return false
}

// HasAggregate reports whether an aggregate stands in e. Those inside an inner
// get are not of its level.
func HasAggregate(e Expr) bool {
	found := false
	Walk(e, func(e Expr) bool {
		switch e := e.(type) {
		case *Call:
			found = found || IsAggregate(e.Name)
		case *In:
			if e.Get != nil {
				found = found || HasAggregate(e.X)
				return false
			}
		}
		return !found
	})
	return found
}

// CallName returns the name of a column that is a call, such as
// "sum(total)". That of count(*), which counts rows, is "count".
func CallName(c *Call) string {
	if isWord(c.Name, "count") && len(c.Args) == 0 {
		return "count"
	}
	return PrintExpr(c)
}
