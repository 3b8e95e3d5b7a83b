package main

import (
	"context"
	"encoding/binary"

	"go.etcd.io/bbolt"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
)

var boltBucket = []byte("rows")

// bolt is a bbolt database that syncs nothing, with one bucket of rows.
type bolt struct{ db *bbolt.DB }

func openBolt(path string) (*bolt, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(boltBucket)
		return err
	})
	return &bolt{db: db}, err
}

// put stores one row in a transaction of its own.
func (b *bolt) put(id int64, body string) error {
	return b.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(boltBucket).Put(rowKey(id), rowValue(id, body))
	})
}

// fill puts the even ids up to 2*rows in large transactions.
func (b *bolt) fill(ctx context.Context, rows int, pool gen.Bodies) error {
	for from := 0; from < rows && ctx.Err() == nil; from += fillStep {
		err := b.db.Update(func(tx *bbolt.Tx) error {
			bucket := tx.Bucket(boltBucket)
			for i := from; i < min(from+fillStep, rows); i++ {
				id := baseID(i)
				if err := bucket.Put(rowKey(id), rowValue(id, pool.At(id))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (b *bolt) close() error { return b.db.Close() }

// rowKey and rowValue are a row as the key-value stores keep it: the id, and
// the integer followed by the text.
func rowKey(id int64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(id)) }

func rowValue(k int64, body string) []byte {
	v := make([]byte, 0, 8+len(body))
	v = binary.BigEndian.AppendUint64(v, uint64(k))
	return append(v, body...)
}
