package quota_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
)

// turn is how many puts of one kind follow each other.
const turn = 200

// BenchmarkPut puts documents in turns, so that what disturbs the machine meets all
// kinds alike: without a thought of quotas, under a nil Quota, under ceilings, and
// under everything. It reports what each put takes in the median turn, and how much
// more than the first, in percent.
func BenchmarkPut(b *testing.B) {
	const lots = 1 << 50
	kinds := []struct {
		name   string
		limits quota.Limits
	}{
		{"plain", quota.Limits{}},
		{"none", quota.Limits{}},
		{"ceilings", quota.Limits{Bytes: lots, Rows: lots}},
		{"all", quota.Limits{
			Bytes: lots, Rows: lots, Streams: lots, Requests: lots,
			RowsPerSecond: lots, BytesPerSecond: lots, RequestsPerSecond: lots,
		}},
	}
	db := openDB(b, fenec.Options{HistoryEntries: 1000})
	st, err := db.Prepare("put c {id: 1, s: $1}")
	require.NoError(b, err)
	put := func() error {
		_, err := st.Exec(b.Context(), "a document of some length")
		return err
	}
	took := make([][]time.Duration, len(kinds))
	turns := 0
	for b.Loop() {
		for range kinds {
			i := turns % len(kinds)
			run := func() error { return without(put) }
			if i > 0 {
				q := quotaOf(db, kinds[i].limits)
				run = func() error { return serve(q, put) }
			}
			took[i] = append(took[i], timeTurn(b, run))
			db.SetLimit(nil)
			turns++
		}
		turns++ // whoever was first is last the next time
	}
	b.ReportMetric(0, "ns/op")
	plain := median(took[0])
	for i, k := range kinds {
		if i > 0 {
			b.ReportMetric(100*(median(took[i])/plain-1), k.name+"-%")
		}
		b.ReportMetric(median(took[i])/turn, k.name+"-ns/put")
	}
}

func median(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)/2])
}

func quotaOf(db *fenec.DB, l quota.Limits) *quota.Quota {
	if l == (quota.Limits{}) {
		return nil
	}
	return quota.New(db, l, nil)
}

func timeTurn(b *testing.B, run func() error) time.Duration {
	if err := run(); err != nil { // which has to count what the database holds
		b.Fatal(err)
	}
	began := time.Now()
	for range turn {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began)
}

// without runs a write as serve does, but for the quota.
//
//go:noinline
func without(write func() error) error { return write() }

// serve runs a write as a request does.
//
//go:noinline
func serve(q *quota.Quota, write func() error) error {
	if err := q.Enter(); err != nil {
		return err
	}
	defer q.Leave()
	if err := q.MayWrite(); err != nil {
		return err
	}
	return write()
}

func BenchmarkAccountAdd(b *testing.B) {
	db := openDB(b, fenec.Options{})
	m, err := quota.NewMeter(b.Context(), db, quota.MeterOptions{})
	require.NoError(b, err)
	a := m.Open("acme")
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			a.Add(someUsage)
		}
	})
}

// BenchmarkFlush saves what 1000 tenants have used in a minute.
func BenchmarkFlush(b *testing.B) {
	clk := newClock()
	db := openDB(b, fenec.Options{})
	m, err := quota.NewMeter(b.Context(), db, quota.MeterOptions{Clock: clk.now})
	require.NoError(b, err)
	accounts := make([]*quota.Account, 1000)
	for i := range accounts {
		accounts[i] = m.Open(string(rune('a'+i%26)) + time.Duration(i).String())
		accounts[i].Holds(quota.Holding{Bytes: 1 << 20})
	}
	for b.Loop() {
		for _, a := range accounts {
			a.Add(someUsage)
		}
		clk.pass(time.Minute)
		if err := m.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
