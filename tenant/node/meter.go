package node

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/internal/raw"
)

// meter counts what tenants use, in the node's own database.
type meter struct {
	tenants *tenant.Manager
	totals  *quota.Meter
	stop    context.CancelFunc
	ended   chan struct{}

	mu       sync.Mutex // guards accounts
	accounts map[string]*quota.Account
}

// flushEvery is how often what was counted is written down.
const flushEvery = time.Minute

func newMeter(m *tenant.Manager, each func(context.Context, error)) (*meter, error) {
	totals, err := quota.NewMeter(context.Background(), m.Node(), quota.MeterOptions{})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	x := &meter{tenants: m, totals: totals, stop: stop, ended: make(chan struct{}), accounts: map[string]*quota.Account{}}
	go x.run(ctx, each)
	return x, nil
}

// run writes down what was counted, and calls each, every minute until ctx ends.
func (m *meter) run(ctx context.Context, each func(context.Context, error)) {
	defer close(m.ended)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		m.prune()
		each(ctx, m.totals.Flush(ctx))
	}
}

// prune closes the accounts of tenants that are not open any more.
func (m *meter) prune() {
	open := map[string]bool{}
	for _, t := range m.tenants.Opened() {
		open[t.Name] = true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, a := range m.accounts {
		if !open[name] {
			a.Close()
			delete(m.accounts, name)
		}
	}
}

// Close writes down what was counted.
func (m *meter) Close() error {
	m.stop()
	<-m.ended
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, a := range m.accounts {
		a.Close()
		delete(m.accounts, name)
	}
	return m.totals.Flush(context.Background())
}

func (m *meter) account(name string) *quota.Account {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.accounts[name]
	if a == nil {
		a = m.totals.Open(name)
		m.accounts[name] = a
	}
	return a
}

// use has a use of a tenant's database counted.
func (m *meter) use(use *serve.Use, name string) {
	a := m.account(name)
	use.Spent = func(s serve.Spent) {
		u := quota.Usage{Requests: 1, CPU: s.Took, BytesRead: s.Out}
		if s.Wrote {
			u.RowsWritten, u.BytesWritten = int64(s.Rows), s.In
		} else {
			u.RowsRead = int64(s.Rows)
		}
		a.Add(u)
	}
	use.Streams = func() (func(), error) {
		a.OpenStream()
		return a.CloseStream, nil
	}
}

// holding returns what a tenant holds: of one that is open exactly, of one that is
// not as it was when it was last looked at.
func (m *meter) holding(ctx context.Context, name string) (quota.Holding, error) {
	for _, t := range m.tenants.Opened() {
		if t.Name != name {
			continue
		}
		h, err := m.tenants.Acquire(ctx, name)
		if err != nil {
			return quota.Holding{}, err
		}
		defer h.Release()
		held, err := quota.HeldBy(raw.DB(h))
		if err == nil {
			m.account(name).Holds(held)
		}
		return held, err
	}
	return m.totals.Holding(ctx, name)
}

// usage answers GET /_admin/tenants/<t>/usage: what the tenant holds and has open, its
// limits, and what it has used.
func (n *Node) usage(r *http.Request, name string) serve.Answer {
	ctx := r.Context()
	sizes, err := n.tenants.Sizes()
	if err != nil {
		return failure(err)
	}
	disk, ok := sizes[name]
	if !ok {
		return failure(tenant.ErrNotFound)
	}
	held, err := n.meter.holding(ctx, name)
	if err != nil {
		return failure(err)
	}
	limits, err := read(n.tenants, name)
	if err != nil {
		return failure(err)
	}
	requests, streams := n.limits.busy(name)
	return jsonAnswer(http.StatusOK, struct {
		Bytes    int64        `json:"bytes"`
		Rows     int64        `json:"rows"`
		Streams  int64        `json:"streams"`
		Requests int64        `json:"requests"`
		Disk     int64        `json:"disk"`
		Quota    quota.Limits `json:"quota"`
	}{held.Bytes, held.Rows, streams, requests, disk, limits})
}

// report answers GET /_admin/usage: what tenants used since a moment, all of them or
// the costliest.
func (n *Node) report(r *http.Request) serve.Answer {
	since, top, err := reportOf(r.URL.Query())
	if err != nil {
		return serve.Fail(http.StatusBadRequest, err.Error())
	}
	if err := n.meter.totals.Flush(r.Context()); err != nil {
		return failure(err)
	}
	rep, err := n.meter.totals.Report(r.Context(), since)
	if err != nil {
		return failure(err)
	}
	if top > 0 {
		rep.Tenants = rep.Top(top)
	}
	return jsonAnswer(http.StatusOK, rep)
}

// reportOf reads the query of a report: since, in seconds or milliseconds since 1970
// or as a date, by default a day ago, and top, how many tenants.
func reportOf(q url.Values) (since time.Time, top int, err error) {
	since = time.Now().Add(-24 * time.Hour)
	if text := q.Get("since"); text != "" {
		if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
			since = time.UnixMilli(ms)
		} else if since, err = time.Parse(time.RFC3339, text); err != nil {
			return since, 0, errors.New("since is a time as 2026-03-01T09:00:00Z, or milliseconds since 1970")
		}
	}
	if text := q.Get("top"); text != "" {
		if top, err = strconv.Atoi(text); err != nil || top < 1 {
			return since, 0, errors.New("top is a number of tenants")
		}
	}
	return since, top, nil
}

// busy returns the requests and streams that are open under a tenant's quota.
func (l *limits) busy(name string) (requests, streams int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.open[name]; x != nil {
		return x.quota.Open()
	}
	return 0, 0
}
