package row_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

var benchTypes = []value.Type{
	value.TypeText, value.TypeText, value.TypeText, value.TypeInt, value.TypeInt, value.TypeFloat,
	value.ListType(value.TypeText), value.TypeTimestamp, value.TypeBool, value.TypeJSON,
}

// benchRow returns the values of a document of ten fields.
func benchRow(b *testing.B) []value.Value {
	doc := parse(b, `["A1","Anvil","tool",50,200,19.99,["iron","heavy"],"2026-01-01T00:00:00Z",true,{"lang":"en","pos":{"row":4}}]`)
	vals := make([]value.Value, len(benchTypes))
	for i, v := range doc.AsList() {
		var err error
		vals[i], err = value.Coerce(v, benchTypes[i])
		require.NoError(b, err)
	}
	return vals
}

func BenchmarkEncode(b *testing.B) {
	vals := benchRow(b)
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = row.Encode(dst[:0], benchTypes, vals)
	}
	b.ReportMetric(float64(len(dst)), "bytes/row")
}

func BenchmarkSeal(b *testing.B) {
	dst := row.Encode(nil, benchTypes, benchRow(b))
	n := len(dst)
	for b.Loop() {
		dst = row.Seal(dst[:n])
	}
}

func BenchmarkDecode(b *testing.B) {
	stored := row.Encode(nil, benchTypes, benchRow(b))
	b.Run("text=copy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, _ := row.Parse(stored)
			for i, t := range benchTypes {
				if _, err := r.Field(i, t); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("text=view", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, _ := row.Parse(stored)
			for i, t := range benchTypes {
				if _, err := r.View(i, t); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

func BenchmarkOneField(b *testing.B) {
	stored := row.Encode(nil, benchTypes, benchRow(b))
	for _, field := range []struct {
		name string
		i    int
	}{{"text", 1}, {"int", 4}, {"float", 5}, {"timestamp", 7}} {
		b.Run("type="+field.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := row.View(stored, field.i, benchTypes[field.i]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("type=path", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r, _ := row.Parse(stored)
			if _, err := r.ViewPath(9, "pos", "row"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkAppendJSON writes ten rows of five fields as an answer does: from the
// encoded bytes, through Values, and through maps and encoding/json.
func BenchmarkAppendJSON(b *testing.B) {
	stored := row.Encode(nil, benchTypes, benchRow(b))
	names := []string{`"sku":`, `"name":`, `"kind":`, `"price":`, `"qty":`, `"ratio":`}
	fields := []int{1, 3, 4, 5, 0}
	b.Run("from=bytes", func(b *testing.B) {
		var dst []byte
		b.ReportAllocs()
		for b.Loop() {
			dst = dst[:0]
			for range 10 {
				r, _ := row.Parse(stored)
				for _, i := range fields {
					dst = append(dst, names[i]...)
					dst, _ = r.AppendJSON(dst, i, benchTypes[i])
				}
			}
		}
		b.SetBytes(int64(len(dst)))
	})
	b.Run("from=values", func(b *testing.B) {
		var dst []byte
		b.ReportAllocs()
		for b.Loop() {
			dst = dst[:0]
			for range 10 {
				r, _ := row.Parse(stored)
				for _, i := range fields {
					dst = append(dst, names[i]...)
					v, _ := r.View(i, benchTypes[i])
					dst = value.AppendJSON(dst, v)
				}
			}
		}
		b.SetBytes(int64(len(dst)))
	})
	b.Run("from=maps", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var rows []map[string]any
			for range 10 {
				r, _ := row.Parse(stored)
				m := map[string]any{}
				for _, i := range fields {
					v, _ := r.Field(i, benchTypes[i])
					m[names[i]] = v.Go()
				}
				rows = append(rows, m)
			}
			if _, err := json.Marshal(rows); err != nil {
				b.Fatal(err)
			}
		}
	})
}
