package fenec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStmtCache(t *testing.T) {
	db, err := OpenMemory(Options{})
	require.NoError(t, err)
	defer db.Close()
	prepare := func(text string) *Stmt {
		st, err := db.Prepare(text)
		require.NoError(t, err)
		return st
	}
	used := prepare("get c")
	require.Same(t, used, prepare("get c"))
	for i := range 10 * cachedStmts {
		prepare(fmt.Sprintf("get c where n = %d", i))
		require.Same(t, used, prepare("get c"), "what is used stays")
	}
	require.LessOrEqual(t, len(db.stmts.young)+len(db.stmts.old), 2*cachedStmts)
	first := prepare("get c where n = 0")
	for i := range 3 * cachedStmts {
		prepare(fmt.Sprintf("get d where n = %d", i))
	}
	require.NotSame(t, first, prepare("get c where n = 0"), "what is not used goes")
	long := "get c where s = '" + strings.Repeat("x", cachedText) + "'"
	require.NotSame(t, prepare(long), prepare(long))
}
