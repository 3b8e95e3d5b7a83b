package quota_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
)

// A quota that is set while writers wait for the lock counts what they write.
func TestLimitsSetWhileWritersWait(t *testing.T) {
	db := openDB(t, fenec.Options{})
	var wg sync.WaitGroup
	_, err := db.Update(t.Context(), func(tx *fenec.Tx) error {
		var asleep sync.WaitGroup
		for range writers {
			asleep.Add(1)
			wg.Go(func() {
				asleep.Done()
				_ = put(t, db)
			})
		}
		asleep.Wait()
		quota.New(db, quota.Limits{Rows: 10}, nil)
		return nil
	})
	require.NoError(t, err)
	wg.Wait()
	require.LessOrEqual(t, rows(stats(t, db), "c"), int64(10))
}
