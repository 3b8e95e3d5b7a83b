//go:build unix

package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	fenecclient "github.com/fenec-go/fenecdb/fenec/client"
)

// procLoad writes and listens to all tenants of a cluster.
type procLoad struct {
	c                  *procCluster
	all                []*tenantLoad
	stop, leave        context.CancelFunc // end the writing, and the listening
	writing, listening sync.WaitGroup
	excused            []excuse
}

// excuse is a time in which a node was failed over though nothing was done to it, maybe
// before its replicas had everything.
type excuse struct{ from, to time.Time }

// tenantLoad is what is known of one tenant. Numbers of its rows are given once each.
type tenantLoad struct {
	c    *procCluster
	name string
	next atomic.Int64

	mu     sync.Mutex // guards the fields below
	acked  []ack
	faults []string
	told   map[int]bool // rows that the subscriber was told of
	seeds  int
	gone   int // rows that it was told of and that a later seed did not have
}

// ack is a write that was answered as done.
type ack struct {
	n          int
	seq        uint64 // 0 if it is not known
	node       string // that was asked past the router, "" for the router
	begun, end time.Time
}

func (c *procCluster) load() *procLoad {
	l := &procLoad{c: c}
	writing, stop := context.WithCancel(context.Background())
	listening, leave := context.WithCancel(context.Background())
	l.stop, l.leave = stop, leave
	c.t.Cleanup(func() {
		stop()
		leave()
		l.writing.Wait()
		l.listening.Wait()
	})
	for _, name := range c.tenants {
		tl := &tenantLoad{c: c, name: name, told: map[int]bool{}}
		l.all = append(l.all, tl)
		begun := make(chan struct{})
		l.listening.Go(func() { tl.listen(listening, begun) })
		<-begun
		for range 2 {
			l.writing.Go(func() { tl.write(writing) })
		}
		for _, n := range c.nodes {
			l.writing.Go(func() { tl.probe(writing, n.name, n.direct) })
		}
	}
	return l
}

func (l *procLoad) excuse(from, to time.Time) { l.excused = append(l.excused, excuse{from, to}) }

func (l *tenantLoad) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := fmt.Sprintf("%s: "+format, append([]any{l.name}, args...)...)
	l.c.says("FAULT %s", text)
	l.faults = append(l.faults, text)
}

// replays tells whether the last answer was one that is told again. Its Fenec-Seq is no
// number of a write then.
type replays struct{ last atomic.Bool }

func (r *replays) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(req)
	r.last.Store(err == nil && res.Header.Get("Idempotent-Replayed") != "")
	return res, err
}

func (l *tenantLoad) open(by http.RoundTripper) *fenecclient.DB {
	db, err := fenecclient.Open("http://"+l.c.routerAt+"/t/"+l.name, fenecclient.Options{
		Token: fenecclient.NewSecret(procTokens), Retries: 200, Silence: 5 * time.Second,
		HTTPClient: &http.Client{Transport: by},
		Sleep: func(ctx context.Context, d time.Duration) error {
			select {
			case <-time.After(min(d, 100*time.Millisecond)):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
	})
	if err != nil {
		panic(err)
	}
	return db
}

// write puts one row after the other through the router, each under a key: it is there once,
// however often it had to be sent.
func (l *tenantLoad) write(ctx context.Context) {
	told := &replays{}
	db := l.open(told)
	defer db.Close()
	for pace := time.NewTicker(10 * time.Millisecond); ctx.Err() == nil; <-pace.C {
		n, begun := int(l.next.Add(1)), time.Now()
		res, err := db.Query(context.Background(), "put log {n: $1}", n)
		if err != nil {
			l.fault("write %d: %v", n, err)
			continue
		}
		seq := res.Seq()
		if told.last.Load() {
			seq = 0
		}
		l.note(ack{n, seq, "", begun, time.Now()})
	}
}

func (l *tenantLoad) note(a ack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked = append(l.acked, a)
}

// probe writes to a node past the router, again and again. It waits for the answer of one
// that is halted.
func (l *tenantLoad) probe(ctx context.Context, node, addr string) {
	for pace := time.NewTicker(40 * time.Millisecond); ctx.Err() == nil; <-pace.C {
		n, begun := int(l.next.Add(1)), time.Now()
		status, answer, head := call("POST", "http://"+addr+"/t/"+l.name+"/log", procTokens, fmt.Sprintf(`{"n":%d}`, n))
		switch status {
		case 201:
			seq, err := strconv.ParseUint(head.Get("Fenec-Seq"), 10, 64)
			if err != nil {
				l.fault("write %d: %v", n, err)
			}
			l.note(ack{n, seq, node, begun, time.Now()})
		case 0, 503, 403, 404: // it does not run, has no lease, follows, or has no copy
		default:
			l.fault("%s answered %d %s", node, status, answer)
		}
	}
}

// listen is told of all rows.
func (l *tenantLoad) listen(ctx context.Context, listening chan<- struct{}) {
	db := l.open(http.DefaultTransport)
	defer db.Close()
	sub, err := db.Subscribe(ctx, fenec.Shape{Collection: "log"}, fenec.NoCursor)
	if err != nil {
		l.fault("subscribe: %v", err)
		close(listening)
		return
	}
	defer sub.Close()
	for first := true; ; first = false {
		event, err := sub.Next(ctx)
		if first {
			close(listening)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			l.fault("subscription: %v", err)
			return
		}
		rows, err := fenec.Collect[struct{ N int }](event.Rows)
		if err != nil {
			l.fault("subscription: %v", err)
			return
		}
		if event.Kind == fenec.EventSeed {
			l.seed(rows)
		} else {
			l.change(rows, len(event.Dels))
		}
	}
}

// seed takes a seed: the first, or one for a subscriber whose place a node does not know. It
// has to have what was told before, but for what nobody was answered.
func (l *tenantLoad) seed(rows []struct{ N int }) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.told
	l.seeds++
	l.told = make(map[int]bool, len(rows))
	for _, row := range rows {
		l.told[row.N] = true
	}
	for n := range before {
		if !l.told[n] {
			l.gone++
		}
	}
}

func (l *tenantLoad) change(rows []struct{ N int }, dels int) {
	if dels > 0 {
		l.fault("%d rows were told to be deleted", dels)
	}
	for _, row := range rows {
		l.mu.Lock()
		again := l.told[row.N]
		l.told[row.N] = true
		l.mu.Unlock()
		if again {
			l.fault("told again of %d", row.N)
		}
	}
}

// check fails the test at once if something was seen that must not be.
func (l *procLoad) check() {
	l.c.t.Helper()
	for _, tl := range l.all {
		tl.mu.Lock()
		faults := tl.faults
		tl.mu.Unlock()
		require.Empty(l.c.t, faults)
	}
}

// end stops the writing.
func (l *procLoad) end() {
	l.c.t.Helper()
	l.stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.writing.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(procPatience):
		require.Fail(l.c.t, "the writing does not end")
	}
	l.c.settle()
}
