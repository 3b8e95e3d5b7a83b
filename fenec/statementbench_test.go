package fenec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// benchStatements returns a database in a file with 10,000 documents of about 200
// bytes, 20 for each value of k, which are folded; and two empty collections to be
// written.
func benchStatements(b *testing.B) *fenec.DB {
	db := file(b, fenec.Options{Sync: fenec.SyncOff},
		"create collection docs (k int @hash, owner text, body text)",
		"create collection notes (k int, owner text, body text)",
		"create collection keys (key text @unique, request bytes, status int, body text, at timestamp @ttl(1d))")
	docs := make([]any, 10_000)
	for i := range docs {
		docs[i] = map[string]any{"k": i % 500, "owner": "ada", "body": benchText}
	}
	_, err := db.Exec(b.Context(), "put docs $1", docs)
	require.NoError(b, err)
	require.NoError(b, db.Checkpoint(b.Context()))
	return db
}

var benchText = strings.Repeat("lorem ipsum ", 16)

// BenchmarkStatement runs statements by their text, as servers do, and writes what
// they answer as JSON.
func BenchmarkStatement(b *testing.B) {
	note := map[string]any{"k": 1, "owner": "ada", "body": benchText}
	var out []byte
	answered := func(res *fenec.Result, err error) error {
		if err != nil {
			return err
		}
		out, err = res.AppendJSON(out[:0])
		return err
	}
	for _, test := range []struct {
		name string
		run  func(db *fenec.DB, i int) error
	}{
		{"get", func(db *fenec.DB, i int) error {
			return answered(db.Query(b.Context(), "get docs where id = $1", i*7919%10_000+1))
		}},
		{"filter", func(db *fenec.DB, i int) error {
			return answered(db.Query(b.Context(), "get docs where k = $1 limit 10", i*7919%500))
		}},
		{"equal", func(db *fenec.DB, i int) error {
			return answered(db.Query(b.Context(), "get docs where k = $1", i*7919%500))
		}},
		{"put", func(db *fenec.DB, _ int) error {
			return answered(db.Query(b.Context(), "put notes $1", note))
		}},
		{"pairs", func(db *fenec.DB, i int) error {
			return answered(db.Query(b.Context(), "put notes {k: $1, owner: $2, body: $3}", i, "ada", benchText))
		}},
		{"keyed", func(db *fenec.DB, i int) error {
			_, err := db.Update(b.Context(), func(tx *fenec.Tx) error {
				if err := answered(tx.Query(b.Context(), "put notes $1", note)); err != nil {
					return err
				}
				_, err := tx.Query(b.Context(), "insert keys {key: $1, request: $2, status: $3, body: $4, at: now()}",
					fmt.Sprintf("key %d", i), out, 200, string(out))
				return err
			})
			return err
		}},
	} {
		b.Run("statement="+test.name, func(b *testing.B) {
			db := benchStatements(b)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := test.run(db, i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
