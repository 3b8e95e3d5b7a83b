package quota_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
)

// metered is a meter with the database it writes to.
type metered struct {
	*quota.Meter
	*clock
	db *fenec.DB
}

func newMeter(t *testing.T) *metered {
	t.Helper()
	m := &metered{clock: newClock()}
	m.openAt(t, filepath.Join(t.TempDir(), ".node.fenec"))
	return m
}

func (m *metered) openAt(t *testing.T, path string) {
	t.Helper()
	var err error
	m.db, err = fenec.Open(path, fenec.Options{Sync: fenec.SyncOff})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.db.Close()) })
	m.Meter, err = quota.NewMeter(t.Context(), m.db, quota.MeterOptions{Clock: m.now, KeepDays: 5})
	require.NoError(t, err)
}

// restart has the process end, without a flush, and begin anew.
func (m *metered) restart(t *testing.T) {
	t.Helper()
	require.NoError(t, m.db.Close())
	m.openAt(t, m.db.Path())
}

func (m *metered) flush(t *testing.T) {
	t.Helper()
	require.NoError(t, m.Flush(t.Context()))
}

// report returns what a tenant used since as long ago.
func (m *metered) report(t *testing.T, tenant string, ago time.Duration) quota.Usage {
	t.Helper()
	r, err := m.Tenant(t.Context(), tenant, m.now().Add(-ago))
	require.NoError(t, err)
	require.Len(t, r.Tenants, 1)
	all, err := m.Report(t.Context(), m.now().Add(-ago))
	require.NoError(t, err)
	for _, u := range all.Tenants {
		if u.Tenant == tenant {
			require.Equal(t, r.Tenants[0], u, "the report of all and of one")
		}
	}
	return r.Tenants[0].Usage
}

const (
	anHour = time.Hour
	aDay   = 24 * time.Hour
)

var someUsage = quota.Usage{
	Requests: 1, RowsRead: 2, RowsWritten: 3, BytesRead: 4, BytesWritten: 5, CPU: 6 * time.Millisecond,
}

func times(n int64, u quota.Usage) quota.Usage {
	return quota.Usage{
		Requests: n * u.Requests, RowsRead: n * u.RowsRead, RowsWritten: n * u.RowsWritten,
		BytesRead: n * u.BytesRead, BytesWritten: n * u.BytesWritten, CPU: time.Duration(n) * u.CPU,
	}
}

func TestMeterCounts(t *testing.T) {
	m := newMeter(t)
	a := m.Open("acme")
	a.Add(someUsage)
	require.Equal(t, someUsage, m.report(t, "acme", 0), "before it is saved")
	m.pass(time.Minute)
	m.flush(t)
	require.Equal(t, someUsage, m.report(t, "acme", time.Minute))
	require.Zero(t, m.report(t, "acme", 0), "the minute is over")
	require.Zero(t, m.report(t, "acme", -time.Minute))
	a.Add(someUsage)
	a.Add(someUsage)
	m.flush(t)
	a.Add(someUsage)
	require.Equal(t, times(3, someUsage), m.report(t, "acme", 0))
	require.Equal(t, times(4, someUsage), m.report(t, "acme", anHour))
	require.Equal(t, times(4, someUsage), m.report(t, "acme", 3*anHour))
	require.Zero(t, m.report(t, "nobody", 3*anHour))

	minutes, err := m.Minutes(t.Context(), "acme")
	require.NoError(t, err)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	require.Equal(t, []quota.MinuteUsage{{From: noon, Usage: someUsage}, {From: noon.Add(time.Minute), Usage: times(3, someUsage)}}, minutes)

	m.flush(t)
	m.restart(t)
	require.Equal(t, times(4, someUsage), m.report(t, "acme", 3*anHour))
	minutes, err = m.Minutes(t.Context(), "acme")
	require.NoError(t, err)
	require.Len(t, minutes, 2)
}

// What is not saved belongs to the minute in which the counting began.
func TestReportsOfWhatIsNotSaved(t *testing.T) {
	m := newMeter(t)
	m.Open("acme").Add(someUsage)
	m.pass(2 * time.Minute)
	require.Zero(t, m.report(t, "acme", time.Minute))
	require.Equal(t, someUsage, m.report(t, "acme", 2*time.Minute))
}

func TestReportRoundsDown(t *testing.T) {
	m := newMeter(t)
	m.pass(90 * time.Second)
	for _, tc := range []struct {
		ago  time.Duration
		want string
	}{
		{0, "2026-03-01T12:01:00Z"},
		{-100 * aDay, "2026-03-01T12:01:00Z"},
		{anHour, "2026-03-01T11:01:00Z"},
		{anHour + time.Second, "2026-03-01T00:00:00Z"},
		{3 * aDay, "2026-02-26T00:00:00Z"},
	} {
		r, err := m.Report(t.Context(), m.now().Add(-tc.ago))
		require.NoError(t, err)
		require.Equal(t, tc.want, r.From.Format(time.RFC3339))
		require.Equal(t, "2026-03-01T12:01:30Z", r.To.Format(time.RFC3339))
		require.Empty(t, r.Tenants)
	}
}

// A closed tenant is forgotten in memory and stays in the reports.
func TestMeterOfClosedTenants(t *testing.T) {
	m := newMeter(t)
	a := m.Open("acme")
	a.Add(someUsage)
	a.Holds(quota.Holding{Bytes: 1000})
	a.Close()
	m.flush(t)
	m.flush(t)
	require.Equal(t, someUsage, m.report(t, "acme", 3*anHour))
	m.pass(2 * anHour)
	held := someUsage
	held.ByteSeconds = 1000 * 2 * 3600
	require.Equal(t, held, m.report(t, "acme", 3*anHour))
	m.restart(t)
	require.Equal(t, held, m.report(t, "acme", 3*anHour))
	m.pass(aDay)
	require.Equal(t, quota.Usage{ByteSeconds: 1000 * 14 * 3600}, m.report(t, "acme", 2*anHour), "since midnight")
	require.Equal(t, quota.Usage{ByteSeconds: 1000 * 30 * 60}, m.report(t, "acme", anHour/2))
}

func TestByteHours(t *testing.T) {
	m := newMeter(t)
	a := m.Open("acme")
	a.Holds(quota.Holding{Bytes: 1000})
	m.flush(t)
	m.pass(aDay) // to noon
	a.Holds(quota.Holding{Bytes: 500})
	m.flush(t)
	m.pass(3 * aDay)
	a.Holds(quota.Holding{})
	m.flush(t)
	m.pass(anHour)
	m.flush(t)
	at := func(days, hours int64) int64 { return (days*24 + hours) * 3600 }
	require.Equal(t, 1000*at(1, 0)+500*at(3, 0), m.report(t, "acme", 4*aDay).ByteSeconds)
	require.Equal(t, 1000*at(0, 12)+500*at(3, 0), m.report(t, "acme", 3*aDay).ByteSeconds)
	require.Equal(t, 500*at(2, 12), m.report(t, "acme", 2*aDay).ByteSeconds)
	require.Equal(t, 500*at(0, 12), m.report(t, "acme", 2*anHour).ByteSeconds)
	require.Zero(t, m.report(t, "acme", anHour/2).ByteSeconds)
}

// What a tenant holds is known while it is closed.
func TestHolding(t *testing.T) {
	m := newMeter(t)
	db := openDB(t, fenec.Options{})
	exec(t, db, "create collection _own (s text)")
	exec(t, db, "put c {} {}")
	exec(t, db, "put _own {}")
	h, err := quota.HeldBy(db)
	require.NoError(t, err)
	require.Equal(t, quota.Holding{Bytes: stats(t, db).LiveBytes, Rows: 2}, h)

	require.Zero(t, m.holding(t, "acme"))
	a := m.Open("acme")
	require.Zero(t, m.holding(t, "acme"))
	a.Holds(h)
	a.Close()
	require.Equal(t, h, m.holding(t, "acme"))
	m.flush(t)
	m.flush(t)
	m.restart(t)
	require.Equal(t, h, m.holding(t, "acme"))
	m.Open("acme").Add(someUsage)
	m.flush(t)
	require.Equal(t, h, m.holding(t, "acme"))
}

func (m *metered) holding(t *testing.T, tenant string) quota.Holding {
	t.Helper()
	h, err := m.Holding(t.Context(), tenant)
	require.NoError(t, err)
	return h
}

// Each way of asking adds up to the same, whenever it is flushed.
func TestFlushesChangeNoTotals(t *testing.T) {
	often, once := newMeter(t), newMeter(t)
	for i := range 40 {
		for _, m := range []*metered{often, once} {
			a := m.Open("acme")
			a.Add(someUsage)
			if i == 0 {
				a.Holds(quota.Holding{Bytes: 100})
				m.flush(t)
				a.OpenStream()
			}
			m.pass(97 * time.Second)
		}
		if i%3 != 0 {
			often.flush(t)
		}
	}
	want := once.report(t, "acme", 3*anHour)
	require.Equal(t, times(40, someUsage).CPU, want.CPU)
	require.Equal(t, 40*97*time.Second, want.Streams)
	require.EqualValues(t, 100*40*97, want.ByteSeconds)
	require.Equal(t, want, often.report(t, "acme", 3*anHour))
}

func TestStreamSeconds(t *testing.T) {
	m := newMeter(t)
	a := m.Open("acme")
	a.OpenStream()
	m.pass(10 * time.Second)
	a.OpenStream()
	m.pass(10 * time.Second)
	require.Equal(t, 30*time.Second, m.report(t, "acme", anHour).Streams)
	m.flush(t)
	a.CloseStream()
	m.pass(10 * time.Second)
	require.Equal(t, 40*time.Second, m.report(t, "acme", anHour).Streams)
	a.CloseStream()
	a.Close()
	m.pass(anHour / 2)
	m.flush(t)
	require.Equal(t, 40*time.Second, m.report(t, "acme", anHour).Streams)
}

func TestOldSpansAreDeleted(t *testing.T) {
	m := newMeter(t)
	count := func(collection string) int64 { return rows(stats(t, m.db), collection) }
	a := m.Open("acme")
	for range 70 {
		a.Add(someUsage)
		m.pass(time.Minute)
		m.flush(t)
	}
	require.EqualValues(t, 60, count("usage_minute"))
	require.EqualValues(t, 1, count("usage_day"))
	for range 10 {
		m.pass(aDay)
		a.Add(someUsage)
		m.flush(t)
	}
	require.Zero(t, count("usage_minute"))
	require.EqualValues(t, 5, count("usage_day"))
	a.Holds(quota.Holding{Bytes: 10})
	m.flush(t)
	a.Holds(quota.Holding{})
	m.flush(t)
	require.EqualValues(t, 1, count("usage_storage"))
	m.pass(7 * aDay)
	m.flush(t)
	require.Zero(t, count("usage_storage"), "a tenant that is gone")
	require.Zero(t, count("usage_day"))
}

// What could not be written is written later, once.
func TestFlushThatFails(t *testing.T) {
	m := newMeter(t)
	a := m.Open("acme")
	a.Add(someUsage)
	a.Holds(quota.Holding{Bytes: 10})
	m.db.SetLimit(func(fenec.Block) error { return fenec.Over("the disk is full") })
	require.ErrorIs(t, m.Flush(t.Context()), fenec.ErrOverLimit)
	require.Equal(t, someUsage, m.report(t, "acme", anHour))
	a.Add(someUsage)
	a.Close()
	require.Error(t, m.Flush(t.Context()))
	m.db.SetLimit(nil)
	m.flush(t)
	m.flush(t)
	require.Equal(t, times(2, someUsage), m.report(t, "acme", anHour))
	require.Equal(t, times(2, someUsage), m.report(t, "acme", 2*anHour))

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	a = m.Open("beta")
	a.Add(someUsage)
	require.ErrorIs(t, m.Flush(ended), context.Canceled)
	m.flush(t)
	require.Equal(t, someUsage, m.report(t, "beta", anHour))
}

func TestTop(t *testing.T) {
	m := newMeter(t)
	for i, cpu := range []time.Duration{3, 9, 1, 9} {
		m.Open(fmt.Sprint("t", i)).Add(quota.Usage{Requests: 1, CPU: cpu * time.Millisecond})
	}
	m.Open("writes").Add(quota.Usage{BytesWritten: 1 << 20})
	r, err := m.Report(t.Context(), m.now())
	require.NoError(t, err)
	var names []string
	for _, u := range r.Top(4) {
		names = append(names, u.Tenant)
	}
	require.Equal(t, []string{"writes", "t1", "t3", "t0"}, names)
	require.Len(t, r.Top(100), 5)
	require.Empty(t, r.Top(-1))
}

func TestUsageJSON(t *testing.T) {
	u := someUsage
	u.Streams, u.ByteSeconds = 7500*time.Millisecond, 5400
	text, err := json.Marshal(quota.TenantUsage{Tenant: "acme", Usage: u})
	require.NoError(t, err)
	require.Equal(t, `{"tenant":"acme","usage":{"requests":1,"rows_read":2,"rows_written":3,"bytes_read":4,"bytes_written":5,`+
		`"cpu_ms":6,"stream_seconds":7,"byte_hours":1.5}}`, string(text))
}

// Nothing is lost or counted twice while counting, flushes and reports race.
func TestMeterRace(t *testing.T) {
	m := newMeter(t)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				a := m.Open(fmt.Sprint("t", (w+i)%3))
				a.OpenStream()
				a.Add(someUsage)
				a.CloseStream()
				a.Close()
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			m.pass(time.Second)
			_ = m.Flush(t.Context())
			_, _ = m.Report(t.Context(), m.now())
		}
	})
	wg.Wait()
	m.flush(t)
	r, err := m.Report(t.Context(), m.now().Add(-2*anHour))
	require.NoError(t, err)
	require.Len(t, r.Tenants, 3)
	var requests, written int64
	for _, u := range r.Tenants {
		requests += u.Usage.Requests
		written += u.Usage.BytesWritten
	}
	require.EqualValues(t, 1600, requests)
	require.EqualValues(t, 1600*5, written)
}

func TestNewMeterChecksItsOptions(t *testing.T) {
	db := openDB(t, fenec.Options{})
	_, err := quota.NewMeter(t.Context(), db, quota.MeterOptions{KeepDays: -1})
	require.ErrorContains(t, err, "KeepDays is -1")
}
