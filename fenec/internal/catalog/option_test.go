package catalog

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// An index has the options of its kind and no others.
func TestOptionsMatchTheKind(t *testing.T) {
	text := &TextOptions{K1: 0.9, B: 0.4, PrefixMin: 3}
	hnsw := &HNSWOptions{M: 16, EFConstruction: 200, EFSearch: 100}
	for kind, typ := range map[IndexKind]value.Type{
		Hash: value.TypeText, TTL: value.TypeTimestamp, Geo: value.TypeGeo,
		Text: value.TypeText, HNSW: value.VectorType(2, false), Inverted: value.SparseType(2),
	} {
		for _, x := range []*Index{
			{Kind: kind}, {Kind: kind, Period: time.Hour}, {Kind: kind, Text: text}, {Kind: kind, HNSW: hnsw},
			{Kind: kind, Text: text, HNSW: hnsw}, {Kind: kind, Period: time.Hour, Text: text},
		} {
			fits := (x.Period != 0) == (kind == TTL) && (x.Text != nil) == (kind == Text) && (x.HNSW != nil) == (kind == HNSW)
			err := x.check(&Field{Name: "x", Type: typ})
			require.Equal(t, fits, err == nil, "%+v: %v", x, err)
		}
	}
	require.EqualError(t, (&Index{}).check(&Field{Name: "x", Type: value.TypeInt}), "query error: an index needs a kind")
}
