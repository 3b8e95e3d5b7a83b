package ql_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

func BenchmarkParse(b *testing.B) {
	for name, text := range map[string]string{
		"text=point": "get item where id = $1",
		"text=clauses": `select sku, name, price * qty as total, coalesce(note, "-") as note from item ` +
			`where kind = "tool" and (price > 10 or not live) and tags has "heavy" ` +
			`order by kind desc, price limit 10 offset 20`,
		"text=put":    `put item {sku: "A1", name: "Anvil", kind: "tool", price: 50, qty: 3, ratio: 1.5, tags: ["iron", "heavy"], live: true}`,
		"text=vector": "put doc {e: [" + strings.Repeat("0.0123456, ", 768) + "]}",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, err := ql.Parse(text)
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkPrint(b *testing.B) {
	stmt, err := ql.Parse(`get item where kind = "tool" and price > 10 order by price limit 10`)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		ql.Print(stmt)
	}
}
