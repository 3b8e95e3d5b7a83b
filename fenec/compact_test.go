package fenec_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// A file of which most is free is rewritten by itself, once 64 MiB are.
func TestCompactByItself(t *testing.T) {
	for name, x := range map[string]struct {
		ratio float64
		rows  int // of a MiB
		want  uint64
	}{"much is free": {0, 160, 1}, "little is free": {0, 40, 0}, "it is turned off": {-1, 80, 0}} {
		t.Run(name, func(t *testing.T) {
			if x.want == 0 {
				sequential(t)
			}
			path := filepath.Join(t.TempDir(), "test.fenec")
			db, err := fenec.Open(path, fenec.Options{CompactRatio: x.ratio, IdleCheckpoint: 5 * time.Millisecond, Sync: fenec.SyncOff})
			require.NoError(t, err)
			runAll(t, db, "create collection c (n int, b bytes)")
			data := make([]byte, 1<<20)
			for n := range x.rows + 10 {
				_, err := db.Exec(t.Context(), "put c {n: $1, b: $2}", n, data)
				require.NoError(t, err)
			}
			runAll(t, db, "del c where n >= 10")
			folded := func() bool { st := stats(t, db); return st.FoldedSeq == st.Seq && st.MemoryBytes < 1<<20 }
			require.Eventually(t, folded, 20*time.Second, time.Millisecond)
			if x.want > 0 {
				require.Eventually(t, func() bool { return stats(t, db).AutoCompactions == x.want }, 20*time.Second, time.Millisecond)
				require.Less(t, stats(t, db).FreeBytes, int64(10<<20))
			}
			runAll(t, db, "put c {n: 1}")
			require.Eventually(t, folded, 20*time.Second, time.Millisecond)
			require.NoError(t, db.Compact(t.Context()))
			st := stats(t, db)
			require.Equal(t, x.want, st.AutoCompactions)
			require.Equal(t, x.want+1, st.Compactions)
			require.NoError(t, db.Close())
			require.NoError(t, fenec.Check(path))
		})
	}
}
