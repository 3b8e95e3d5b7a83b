package ql

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// parserAt returns a parser of text that has met terms before.
func parserAt(t *testing.T, text string, terms int) *parser {
	t.Helper()
	p, err := newParser(text)
	require.NoError(t, err)
	p.terms = terms
	return &p
}

func TestTerms(t *testing.T) {
	tests := []struct {
		text  string
		terms int
	}{
		{`get t`, 0},
		{`get t where a = b`, 2},
		{`get t where a in [f(), f($1), 1, 2]`, 4},
		{`get t select 1, a`, 3},
		{`get t order a, b`, 2},
		{`create collection t (a int, b int)`, 2},
		{`put t {a: 1, b: [1, 2], c: {d: 3}}`, 0},
		{`put t $1`, 1},
		{`set t {a: b} where c returning d, e`, 4},
		{`get t group by 1, a`, 3},
		{`get t facet a, b lookup u on a select b, c`, 4},
		{`create index on t (a) @hash`, 1},
	}
	for _, tt := range tests {
		p := parserAt(t, tt.text, maxTerms-tt.terms)
		p.statement()
		require.NoError(t, p.err, tt.text)
		require.Equal(t, maxTerms, p.terms, tt.text)

		p = parserAt(t, tt.text, maxTerms-tt.terms+1)
		p.statement()
		if tt.terms > 0 {
			require.ErrorContains(t, p.err, "too large", tt.text)
		}
	}
}

func TestTermsOfScript(t *testing.T) {
	p := parserAt(t, "get t where a; get t where a", maxTerms)
	p.script()
	require.NoError(t, p.err)
	require.Equal(t, 1, p.terms)
}
