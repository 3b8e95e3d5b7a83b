package mirror

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/replication"
)

// earLine bounds a line of a bell's stream, in bytes.
const earLine = 1 << 20

// EarOptions say what an ear listens to.
type EarOptions struct {
	Primary   string            // base URL of the node whose bell it is
	Token     Secret            // for replication
	Transport http.RoundTripper // default: one of its own
	ErrorLog  *log.Logger       // default: the standard logger

	// Heard is told which names were written to, or that all may have been: at first, and
	// after a break in which some of them may have been missed. It is called by one
	// goroutine, and what it has returned from is not told again.
	Heard func(names []string, all bool)
}

// Ear listens to the bell of a node until Stop.
type Ear struct {
	opts    EarOptions
	primary upstream
	own     *http.Transport // nil if it was given one
	cancel  context.CancelFunc
	done    chan struct{}

	heard atomic.Int64 // when a line came last, in nanoseconds since 1970; 0 for never

	// The fields below are of its goroutine alone.
	pauses replication.Backoff
	said   string // the error logged last
	boot   string // of the bell
	cursor uint64
}

// StartEar starts an ear.
func StartEar(opts EarOptions) (*Ear, error) {
	u, err := base(opts.Primary)
	if err != nil {
		return nil, err
	}
	if opts.ErrorLog == nil {
		opts.ErrorLog = log.Default()
	}
	e := &Ear{opts: opts, done: make(chan struct{})}
	if opts.Transport == nil {
		e.own = NewTransport()
		opts.Transport = e.own
	}
	e.primary = upstream{base: strings.TrimRight(u.String(), "/"), token: opts.Token, transport: opts.Transport}
	var ctx context.Context
	ctx, e.cancel = context.WithCancel(context.Background())
	go e.run(ctx)
	return e, nil
}

// Contact returns when the ear was last in touch with the node, after which nothing was
// rung that was not told: zero for never.
func (e *Ear) Contact() time.Time {
	at := e.heard.Load()
	if at == 0 {
		return time.Time{}
	}
	return time.Unix(0, at)
}

// Stop returns when Heard is not called any more.
func (e *Ear) Stop() {
	e.cancel()
	<-e.done
}

func (e *Ear) run(ctx context.Context) {
	defer close(e.done)
	if e.own != nil {
		defer e.own.CloseIdleConnections()
	}
	for {
		err := e.listen(ctx)
		if ctx.Err() != nil {
			return
		}
		if said := err.Error(); said != e.said {
			e.said = said
			e.opts.ErrorLog.Printf("replication: the bell of %s: %v", e.primary.base, err)
		}
		if !rest(ctx, e.pauses.Lost(outcome(err))) {
			return
		}
	}
}

// listen hears one stream to its end. It always returns an error.
func (e *Ear) listen(ctx context.Context) error {
	q := url.Values{"boot": {e.boot}, "cursor": {strconv.FormatUint(e.cursor, 10)}}
	res, err := e.primary.get(ctx, "/_replication/changed?"+q.Encode(), bellType)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, earLine)
	for lines.Scan() {
		if err := e.line(lines.Bytes()); err != nil {
			return err
		}
		e.pauses.Came()
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return endedError("the node ended the stream")
}

// line takes one line. The cursor moves after what came with it has been told.
func (e *Ear) line(text []byte) error {
	var n news
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&n); err != nil {
		return fmt.Errorf("a line of it: %w", err)
	}
	switch {
	case n.Boot == "":
		return errors.New("a line of it names no boot")
	case n.Boot != e.boot && !n.All:
		return fmt.Errorf("it goes on from boot %q, and %q was heard", n.Boot, e.boot)
	case n.All:
		e.opts.Heard(nil, true)
	case len(n.Names) > 0:
		e.opts.Heard(n.Names, false)
	}
	e.boot, e.cursor = n.Boot, n.Cursor
	e.heard.Store(time.Now().UnixNano())
	return nil
}
