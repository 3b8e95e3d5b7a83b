package ql_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

var codeBlock = regexp.MustCompile("(?s)```\n(.*?)```")

// TestDocumentation parses every statement that the language's page shows.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/fenecql.md")
	require.NoError(t, err)
	blocks := codeBlock.FindAllSubmatch(page, -1)
	require.Greater(t, len(blocks), 5)
	for _, b := range blocks {
		_, err := ql.ParseScript(string(b[1]))
		require.NoError(t, err, string(b[1]))
	}
}
