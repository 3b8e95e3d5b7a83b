package http1_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
)

func TestRequestIDs(t *testing.T) {
	for id, usable := range map[string]bool{
		"": false, "a": true, " ~": true, strings.Repeat("x", 128): true, strings.Repeat("x", 129): false,
		"a\tb": false, "a\x7f": false, "é": false,
	} {
		require.Equal(t, usable, http1.UsableID(id), "%q", id)
		require.Equal(t, usable, http1.UsableID([]byte(id)), "%q", id)
	}
	require.Regexp(t, `^[0-9a-f]{16}$`, http1.NewID())
	require.NotEqual(t, http1.NewID(), http1.NewID())
}
