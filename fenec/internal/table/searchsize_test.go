package table_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// distinct returns so many different words.
func distinct(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "w%07d ", i)
	}
	return s.String()
}

// A text with more terms than a block has room for is refused before they are made,
// while a long text that is there may be changed a little.
func TestTermsBeyondBlock(t *testing.T) {
	const many = 40_000
	path := filepath.Join(t.TempDir(), "db")
	d := open(t, path)
	d.must(t, func(x *tx) error { return x.create("create collection page (body text @text)") })
	d.must(t, func(x *tx) error { return x.put("page", 1, value.Text(distinct(many))) })
	require.NoError(t, d.Checkpoint(ctx))
	require.NoError(t, d.Close())

	var r table.Replayer
	s, err := store.Open(path, store.Options{BlockBytes: 1 << 20, Load: r.Load, Replay: r.Replay, Merger: table.Merger{}})
	require.NoError(t, err)
	d = &db{Store: s, path: path, cat: r.Catalog()}
	put := func(id uint64, text string) error {
		return d.block(t, func(x *tx) error { return x.put("page", id, value.Text(text)) })
	}
	refused := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, store.ErrBlockTooLarge)
		require.ErrorContains(t, err, "the terms of field")
	}
	refused(put(2, distinct(many)))
	refused(put(1, distinct(2*many)))
	refused(d.block(t, func(x *tx) error { return x.delete("page", 1) }))
	require.NoError(t, put(2, distinct(5000)))
	require.NoError(t, put(2, distinct(4000)))
	require.NoError(t, put(1, strings.Replace(distinct(many), "w0000007", "oak", 1)))
	d = d.check(t)
	require.NoError(t, d.Close())
}
