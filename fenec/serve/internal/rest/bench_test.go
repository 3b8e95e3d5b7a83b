package rest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve/internal/rest"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

func BenchmarkTranslate(b *testing.B) {
	schemas := schemasOf(b, library...)
	for name, raw := range map[string]string{
		"id":     "/books?id=1",
		"filter": "/books?select=id,title&pages=gte.200&order=pages.desc&limit=20",
		"in":     "/books?select=id&pages=in.(1,2,3,4)",
		"where":  "/books?select=id&where=pages > 100 and price < 3",
	} {
		to := target.Parse(raw)
		b.Run("request="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := rest.Translate(schemas, rest.Request{Method: "GET", Path: to.Segments, Query: to.Query})
				require.NoError(b, err)
			}
		})
	}
}
