package main

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
)

// pebbleDB is a Pebble database with its default options but for the log, which
// stays quiet.
type pebbleDB struct{ db *pebble.DB }

func openPebble(path string) (*pebbleDB, error) {
	db, err := pebble.Open(path, &pebble.Options{Logger: quiet{}})
	if err != nil {
		return nil, err
	}
	return &pebbleDB{db: db}, nil
}

func (p *pebbleDB) put(id int64, body string) error {
	return p.db.Set(rowKey(id), rowValue(id, body), pebble.NoSync)
}

// fill puts the even ids up to 2*rows in large batches.
func (p *pebbleDB) fill(ctx context.Context, rows int, pool gen.Bodies) error {
	for from := 0; from < rows && ctx.Err() == nil; from += fillStep {
		b := p.db.NewBatch()
		for i := from; i < min(from+fillStep, rows); i++ {
			id := baseID(i)
			if err := b.Set(rowKey(id), rowValue(id, pool.At(id)), nil); err != nil {
				return err
			}
		}
		if err := b.Commit(pebble.NoSync); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.settle()
}

// settle writes what is in memory to tables.
func (p *pebbleDB) settle() error { return p.db.Flush() }

func (p *pebbleDB) close() error { return p.db.Close() }

type quiet struct{}

func (quiet) Infof(string, ...any)      {}
func (quiet) Errorf(string, ...any)     {}
func (quiet) Fatalf(f string, a ...any) { panic(fmt.Sprintf("pebble: "+f, a...)) }
