package quota

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// Report is what tenants used between two moments, those that are closed included.
type Report struct {
	From    time.Time     `json:"from"`
	To      time.Time     `json:"to"`
	Tenants []TenantUsage `json:"tenants"` // by name
}

// TenantUsage is what one tenant used.
type TenantUsage struct {
	Tenant string `json:"tenant"`
	Usage  Usage  `json:"usage"`
}

// Top returns the k tenants with the highest cost, the costliest first.
func (r *Report) Top(k int) []TenantUsage {
	list := slices.Clone(r.Tenants)
	slices.SortFunc(list, func(a, b TenantUsage) int {
		return cmp.Or(cmp.Compare(b.Usage.Cost(), a.Usage.Cost()), strings.Compare(a.Tenant, b.Tenant))
	})
	return list[:min(max(k, 0), len(list))]
}

// Report tells what every tenant has used since a moment, now at the latest. One within the last hour
// is rounded down to the minute, any other to the day in UTC: Report.From is from
// where it counts. Of minutes it is not kept what a tenant held in each: a report
// of less than a day takes it to have held all the time what it does now.
func (m *Meter) Report(ctx context.Context, since time.Time) (*Report, error) {
	return m.report(ctx, since, "")
}

// Tenant is Report of one tenant. One that is not known has used nothing.
func (m *Meter) Tenant(ctx context.Context, tenant string, since time.Time) (*Report, error) {
	r, err := m.report(ctx, since, tenant)
	if err == nil && len(r.Tenants) == 0 {
		r.Tenants = []TenantUsage{{Tenant: tenant}}
	}
	return r, err
}

func (m *Meter) report(ctx context.Context, since time.Time, tenant string) (*Report, error) {
	m.flushing.Lock()
	defer m.flushing.Unlock()
	now := m.clock()
	s := newSums(since, now, tenant)
	if err := errors.Join(s.addSaved(ctx, m.db), s.addStorage(ctx, m.db)); err != nil {
		return nil, fmt.Errorf("meter: report: %w", err)
	}
	if m.began-m.began%s.length >= s.from {
		for _, a := range m.list() {
			s.addLive(a, now)
		}
	}
	return s.report(), nil
}

// sums gathers a report.
type sums struct {
	from, now int64 // Unix seconds
	length    int64 // of the spans
	tenant    string
	usage     map[string]Usage
}

func newSums(since, now time.Time, tenant string) *sums {
	s := &sums{from: min(max(since.Unix(), 0), now.Unix()), now: now.Unix(), length: day, tenant: tenant, usage: map[string]Usage{}}
	if s.from >= s.now-hour {
		s.length = minute
	}
	s.from -= s.from % s.length
	return s
}

// collection returns which one has the spans.
func (s *sums) collection() string {
	if s.length == minute {
		return "usage_minute"
	}
	return "usage_day"
}

func (s *sums) add(tenant string, u Usage) {
	if u == (Usage{}) || s.tenant != "" && s.tenant != tenant {
		return
	}
	total := s.usage[tenant]
	total.add(u)
	s.usage[tenant] = total
}

func (s *sums) addSaved(ctx context.Context, db *fenec.DB) error {
	where, args := " where at >= $1", []any{s.from}
	if s.tenant != "" {
		where, args = where+" and tenant = $2", append(args, s.tenant)
	}
	res, err := db.Query(ctx, "get tenant, "+sumSpans+" from "+s.collection()+where+" group tenant", args...)
	if err != nil {
		return err
	}
	list, err := fenec.Collect[span](res)
	for i := range list {
		s.add(list[i].Tenant, list[i].usage())
	}
	return err
}

// addStorage adds the byte-seconds that no span has.
func (s *sums) addStorage(ctx context.Context, db *fenec.DB) error {
	text, args := "get usage_storage where bytes > 0", []any(nil)
	if s.tenant != "" {
		text, args = "get usage_storage where tenant = $1", []any{s.tenant}
	}
	for row, err := range db.Rows(ctx, text, args...) {
		var held storage
		if err == nil {
			err = row.ScanStruct(&held)
		}
		if err != nil {
			return err
		}
		if s.length == minute {
			held.Until = held.First
		}
		s.add(held.Tenant, Usage{ByteSeconds: held.since(s.from, s.now)})
	}
	return nil
}

// addLive adds what an account has not saved.
func (s *sums) addLive(a *Account, now time.Time) {
	s.add(a.tenant, a.unsaved)
	s.add(a.tenant, a.counted(now))
}

func (s *sums) report() *Report {
	r := &Report{From: time.Unix(s.from, 0).UTC(), To: time.Unix(s.now, 0).UTC(), Tenants: make([]TenantUsage, 0, len(s.usage))}
	for tenant, u := range s.usage {
		r.Tenants = append(r.Tenants, TenantUsage{tenant, u})
	}
	slices.SortFunc(r.Tenants, func(a, b TenantUsage) int { return strings.Compare(a.Tenant, b.Tenant) })
	return r
}

// Holding returns what a tenant was last said to hold; nothing if it never was.
func (m *Meter) Holding(ctx context.Context, tenant string) (Holding, error) {
	if a := m.account(tenant); a != nil {
		if h := a.holds.Load(); h != nil {
			return *h, nil
		}
	}
	s, err := loadStorage(ctx, m.db, tenant)
	if err != nil {
		return Holding{}, fmt.Errorf("meter: %w", err)
	}
	return s.holding(), nil
}

// account returns the tenant's account if there is one in memory, else nil.
func (m *Meter) account(tenant string) *Account {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.accounts[tenant]
}

// MinuteUsage is what a tenant used in a minute, ByteSeconds aside.
type MinuteUsage struct {
	From  time.Time `json:"from"`
	Usage Usage     `json:"usage"`
}

// Minutes returns the minutes of the last hour in which a tenant used something,
// oldest first.
func (m *Meter) Minutes(ctx context.Context, tenant string) ([]MinuteUsage, error) {
	m.flushing.Lock()
	defer m.flushing.Unlock()
	now := m.clock()
	res, err := m.db.Query(ctx, "get usage_minute where tenant = $1 and at >= $2 order at", tenant, now.Unix()-now.Unix()%minute-hour)
	if err != nil {
		return nil, fmt.Errorf("meter: minutes: %w", err)
	}
	list, err := fenec.Collect[span](res)
	if err != nil {
		return nil, fmt.Errorf("meter: minutes: %w", err)
	}
	var out []MinuteUsage
	for i := range list {
		out = append(out, MinuteUsage{time.Unix(list[i].At, 0).UTC(), list[i].usage()})
	}
	return m.withLive(out, tenant, now), nil
}

// withLive adds what the account has not saved to the minute it belongs to.
func (m *Meter) withLive(list []MinuteUsage, tenant string, now time.Time) []MinuteUsage {
	a := m.account(tenant)
	if a == nil {
		return list
	}
	u := a.counted(now)
	u.add(a.unsaved)
	at := time.Unix(m.began-m.began%minute, 0).UTC()
	switch last := len(list) - 1; {
	case u == Usage{}:
	case last >= 0 && list[last].From.Equal(at):
		list[last].Usage.add(u)
	default:
		list = append(list, MinuteUsage{at, u})
	}
	return list
}
