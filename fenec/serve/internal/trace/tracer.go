package trace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	queueLength = 2048
	batchLength = 512
	batchWait   = time.Second
	postTimeout = 10 * time.Second
)

// Options say where spans go.
type Options struct {
	// Endpoint is the collector's address, such as "http://localhost:4318". A path
	// of "/v1/traces" is added unless Exact is set.
	Endpoint string

	// Exact says that Endpoint is the address to post to as it stands.
	Exact bool

	// Headers are sent with each post.
	Headers http.Header

	// Sample is the share of traces that begin here that are recorded, from 0 to 1.
	// Those that others began are recorded if they say so.
	Sample float64

	// Version is that of the program.
	Version string

	// ErrorLog is told once when posts begin to fail, and once when they no longer
	// do. nil is the standard logger of package log.
	ErrorLog *log.Logger
}

// Tracer sends spans to a collector. It is safe for concurrent use. A nil Tracer
// traces nothing.
type Tracer struct {
	url     string
	headers http.Header
	sample  float64
	version string
	log     *log.Logger

	queue  chan *Span
	stop   chan struct{}
	once   sync.Once
	ended  chan struct{}
	failed bool // the last post did; of the sending goroutine

	exported, full, lost atomic.Uint64
}

// New returns a tracer, which Close ends.
func New(o Options) (*Tracer, error) {
	u, err := url.Parse(o.Endpoint)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "http" || u.Host == "":
		return nil, fmt.Errorf("%q is no http:// address: traces are sent in clear, by OTLP over HTTP", o.Endpoint)
	}
	if !o.Exact {
		u.Path = strings.TrimSuffix(u.Path, "/") + "/v1/traces"
	}
	if o.ErrorLog == nil {
		o.ErrorLog = log.Default()
	}
	t := &Tracer{
		url: u.String(), headers: o.Headers, sample: o.Sample, version: o.Version, log: o.ErrorLog,
		queue: make(chan *Span, queueLength), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	go t.run()
	return t, nil
}

// Close sends what waits, as far as it is taken within the time of one post.
func (t *Tracer) Close() error {
	if t != nil {
		t.once.Do(func() { close(t.stop) })
		<-t.ended
	}
	return nil
}

// Counts returns how many spans were sent, how many were dropped because too many
// waited, and how many because the collector did not take them.
func (t *Tracer) Counts() (exported, queueFull, exportFailed uint64) {
	return t.exported.Load(), t.full.Load(), t.lost.Load()
}

func (t *Tracer) enqueue(s *Span) {
	select {
	case t.queue <- s:
	default:
		t.full.Add(1)
	}
}

// run sends spans: a batch of them at once, or those there are after a while.
func (t *Tracer) run() {
	defer close(t.ended)
	tick := time.NewTicker(batchWait)
	defer tick.Stop()
	var batch []*Span
	for {
		select {
		case s := <-t.queue:
			if batch = append(batch, s); len(batch) < batchLength {
				continue
			}
		case <-tick.C:
		case <-t.stop:
			t.post(append(batch, t.rest()...))
			return
		}
		t.post(batch)
		batch = batch[:0]
	}
}

// rest returns what waits in the queue.
func (t *Tracer) rest() (list []*Span) {
	for {
		select {
		case s := <-t.queue:
			list = append(list, s)
		default:
			return list
		}
	}
}

func (t *Tracer) post(batch []*Span) {
	if len(batch) == 0 {
		return
	}
	err := t.send(batch)
	if err != nil {
		t.lost.Add(uint64(len(batch)))
	} else {
		t.exported.Add(uint64(len(batch)))
	}
	switch failed := err != nil; {
	case failed && !t.failed:
		t.log.Printf("traces: %v", err)
	case !failed && t.failed:
		t.log.Print("traces: sent again")
	}
	t.failed = err != nil
}

func (t *Tracer) send(batch []*Span) error {
	body, err := t.encode(batch)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), postTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, values := range t.headers {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection can be used again
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answered %s", res.Status)
	}
	return nil
}
