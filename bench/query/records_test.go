package main

import (
	"context"
	"errors"
	"testing"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/fenec"
)

// A wrong answer of a mix is noticed, and workers write rows of their own only.
func TestWorker(t *testing.T) {
	en := openTestFenec(t)
	ctx := context.Background()
	const rows = 100
	tb := loadTestRecords(t, en, rows)
	keys := newZipf(rows)
	for all := range 20 {
		for number := range all {
			w := newWorker(tb, number, all, keys)
			for range 50 {
				if i := w.own() - 1; i < 0 || i >= rows || int(i)%all != number {
					t.Fatalf("worker %d of %d writes row %d", number, all, i)
				}
			}
		}
	}
	w := newWorker(tb, 0, 1, keys)
	for range 100 {
		for _, m := range mixes {
			if err := m.do(ctx, w); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tb.verify(ctx); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]string{
		"a lost update":  "set record {version: version - 1} where id = 7",
		"a foreign body": `set record {body: "x"} where id = 7`,
		"a lost row":     "del record where id = 7",
	} {
		t.Run(name, func(t *testing.T) {
			en := openTestFenec(t)
			tb := loadTestRecords(t, en, rows)
			w := newWorker(tb, 0, 1, keys)
			if err := errors.Join(w.write(ctx, 7, 1), w.readKey(ctx, 7), tb.verify(ctx)); err != nil {
				t.Fatal(err)
			}
			if err := en.run(ctx, spoil); err != nil {
				t.Fatal(err)
			}
			if w.readKey(ctx, 7) == nil || tb.verify(ctx) == nil {
				t.Error("is not noticed")
			}
			if name != "a lost update" && w.scanRange(ctx, 1, 20) == nil {
				t.Error("is not noticed by a scan")
			}
		})
	}
}

func openTestFenec(t *testing.T) *fenecEngine {
	t.Helper()
	en, err := openFenec("", fenec.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = en.close() })
	return en
}

func loadTestRecords(t *testing.T, en engine, n int) *records {
	t.Helper()
	pool := gen.MakeBodies(64, recordBody)
	if err := loadRecords(context.Background(), en, n, pool); err != nil {
		t.Fatal(err)
	}
	tb, err := newRecords(en, n, pool)
	if err != nil {
		t.Fatal(err)
	}
	return tb
}
