package report

import "fmt"

// Goal is what a ratio is held against. The zero Goal asks for nothing.
type Goal struct {
	least, most float64 // in times; 0 asks for nothing
}

// AtLeast asks for a ratio of x or more.
func AtLeast(x float64) Goal { return Goal{least: x} }

// AtMost asks for a ratio of x or less.
func AtMost(x float64) Goal { return Goal{most: x} }

func (g Goal) met(ratio float64) bool {
	return (g.least == 0 || ratio >= g.least) && (g.most == 0 || ratio <= g.most)
}

// verdict says how a ratio stands to the goal. Whoever means to be faster than
// its peer and is slower is told so.
func (g Goal) verdict(ratio float64) string {
	switch {
	case g == Goal{}:
		return ""
	case g.met(ratio):
		return "ok"
	case g.least > 1 && ratio < 1:
		return "MISS, SLOWER"
	}
	return "MISS"
}

func (g Goal) String() string {
	switch {
	case g.least > 0:
		return fmt.Sprintf(">= %gx", g.least)
	case g.most > 0:
		return fmt.Sprintf("<= %gx", g.most)
	}
	return "-"
}
