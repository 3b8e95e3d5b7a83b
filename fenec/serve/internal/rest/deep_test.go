package rest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// More terms than an expression may have levels.
func TestManyTerms(t *testing.T) {
	s := open(t, library...)
	status, got := s.do("GET", "/books?count"+strings.Repeat("&pages=gt.100", 2000), "")
	require.Equal(t, 200, status, got)
	require.Equal(t, `{"count":2}`, got)

	status, got = s.do("GET", "/books?count&tags=in.(web"+strings.Repeat(",x", 2000)+")", "")
	require.Equal(t, 200, status, got)
	require.Equal(t, `{"count":1}`, got)

	status, got = s.do("GET", "/books?count&pages="+strings.Repeat("not.", 2001)+"gt.100", "")
	require.Equal(t, 200, status, got)
	require.Equal(t, `{"count":1}`, got)
}

// A condition that has all the levels there are leaves none for a filter.
func TestDeepConditions(t *testing.T) {
	s := open(t, library...)
	deepest := strings.Repeat("(", 511) + "pages > 100 or pages < 1" + strings.Repeat(")", 511)
	status, got := s.do("GET", "/books?count&where="+deepest, "")
	require.Equal(t, 200, status, got)
	require.Equal(t, `{"count":2}`, got)

	chain := "pages > 100" + strings.Repeat(" or pages > 100", 512)
	status, got = s.do("GET", "/books?count&where="+chain, "")
	require.Equal(t, 200, status, got)

	for _, query := range []string{
		"where=" + chain + " or pages > 100",
		"where=" + chain + "&id=1",
		"where=" + strings.Repeat("(", 600) + "true" + strings.Repeat(")", 600),
	} {
		status, got = s.do("GET", "/books?count&"+query, "")
		require.Equal(t, 400, status, got)
		require.Contains(t, got, "deep")
	}
}
