package metrics

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPage(t *testing.T) {
	var p Page
	p.Family("fenec_documents", Gauge, "Documents.")
	p.Uint(3, "collection", "t")
	p.Uint(0, "collection", "a\\\"\nb", "x", "y")
	p.Family("fenec_up", Gauge, "One.")
	p.Float(0.25)
	require.Equal(t, "# HELP fenec_documents Documents.\n# TYPE fenec_documents gauge\n"+
		"fenec_documents{collection=\"t\"} 3\n"+
		"fenec_documents{collection=\"a\\\\\\\"\\nb\",x=\"y\"} 0\n"+
		"# HELP fenec_up One.\n# TYPE fenec_up gauge\nfenec_up 0.25\n", string(p.Bytes()))
}

func TestStatements(t *testing.T) {
	var s Statements
	s.Observe(Read, 100*time.Microsecond, false) // a bound belongs to its bucket
	s.Observe(Read, 101*time.Microsecond, true)
	s.Observe(Write, time.Minute, false)
	var p Page
	s.Write(&p)
	text := string(p.Bytes())
	for _, line := range []string{
		`fenec_statements_total{kind="read"} 2`,
		`fenec_statements_total{kind="write"} 1`,
		`fenec_statement_errors_total{kind="read"} 1`,
		`fenec_statement_errors_total{kind="write"} 0`,
		`fenec_statement_duration_seconds_bucket{kind="read",le="0.0001"} 1`,
		`fenec_statement_duration_seconds_bucket{kind="read",le="0.00025"} 2`,
		`fenec_statement_duration_seconds_bucket{kind="read",le="+Inf"} 2`,
		`fenec_statement_duration_seconds_bucket{kind="write",le="10"} 0`,
		`fenec_statement_duration_seconds_bucket{kind="write",le="+Inf"} 1`,
		`fenec_statement_duration_seconds_sum{kind="write"} 60`,
		`fenec_statement_duration_seconds_count{kind="read"} 2`,
	} {
		require.Contains(t, text, line+"\n")
	}
	require.Equal(t, 17, strings.Count(text, `_bucket{kind="read"`))
}

func TestDistributionsAddUp(t *testing.T) {
	var a Histogram
	a.Observe(&Slow, 10*time.Millisecond)
	a.Observe(&Slow, 11*time.Millisecond)
	var b, d Distribution
	b.Observe(&Slow, time.Hour)
	d.AddHistogram(&a)
	d.Add(&b)
	require.EqualValues(t, 3, d.Count())
	var p Page
	p.Family("fenec_moves", TypeHistogram, "Moves.")
	p.Durations(&Slow, &d, "to", "n1")
	p.Durations(&Slow, &d)
	text := string(p.Bytes())
	for _, line := range []string{
		`fenec_moves_bucket{to="n1",le="0.01"} 1`,
		`fenec_moves_bucket{to="n1",le="0.025"} 2`,
		`fenec_moves_bucket{to="n1",le="1000"} 2`,
		`fenec_moves_bucket{to="n1",le="+Inf"} 3`,
		`fenec_moves_bucket{le="+Inf"} 3`,
		`fenec_moves_sum 3600.021`,
		`fenec_moves_count{to="n1"} 3`,
		`fenec_moves_count 3`,
	} {
		require.Contains(t, text, line+"\n")
	}
	for _, bounds := range []*Bounds{&Quick, &Slow} {
		require.True(t, slices.IsSorted(bounds[:]))
	}
}
