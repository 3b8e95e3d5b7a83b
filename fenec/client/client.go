package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// DB is a served database. It is safe for concurrent use.
type DB struct {
	base    string // the URL without a slash at its end
	opts    Options
	streams *http.Client // without a bound on how long an answer takes
	ours    bool         // the HTTP client is of this DB alone
	seq     atomic.Uint64

	closing context.Context // ends with Close
	close   context.CancelFunc
	mu      sync.Mutex     // guards that running is added to before Close waits
	running sync.WaitGroup // goroutines of subscriptions
}

// Open returns the database that a server has at url, such as
// "http://localhost:8080", or "https://db.example/t/acme" for a tenant. It sends
// nothing: Health finds out whether the server is there.
func Open(rawURL string, opts Options) (*DB, error) {
	u, err := url.Parse(rawURL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("open: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("open %q: want a URL of a server, as http://localhost:8080", u.Redacted())
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("open %q: a URL of a server has neither a user nor a query", u.Redacted())
	}
	ours := opts.HTTPClient == nil
	opts.setDefaults()
	db := &DB{base: strings.TrimRight(u.String(), "/"), opts: opts, ours: ours}
	streams := *opts.HTTPClient
	streams.Timeout = 0
	db.streams = &streams
	db.closing, db.close = context.WithCancel(context.Background())
	return db, nil
}

// Close ends subscriptions, and requests that wait to be sent again, and lets idle
// connections go but for those of Options.HTTPClient. Everything afterwards fails with fenec.ErrClosed; closing again
// does nothing.
func (db *DB) Close() error {
	db.mu.Lock()
	db.close()
	db.mu.Unlock()
	db.running.Wait()
	if db.ours {
		db.opts.HTTPClient.CloseIdleConnections()
	}
	return nil
}

// closed returns ErrClosed after Close.
func (db *DB) closed() error {
	if db.closing.Err() != nil {
		return fenec.ErrClosed
	}
	return nil
}

// Seq returns the highest sequence that the server has told of: that of the last
// write that was answered, 0 before the first.
func (db *DB) Seq() uint64 { return db.seq.Load() }

// saw keeps the highest sequence that a server has told of.
func (db *DB) saw(seq uint64) {
	for {
		old := db.seq.Load()
		if seq <= old || db.seq.CompareAndSwap(old, seq) {
			return
		}
	}
}

// Health returns nil if the server answers. It asks once.
func (db *DB) Health(ctx context.Context) error {
	return db.send(ctx, &request{method: http.MethodGet, path: "/_health"}, func(*answer) error { return nil })
}

// Collections returns the names of the collections that may be read, sorted.
func (db *DB) Collections(ctx context.Context) (names []string, err error) {
	err = db.send(ctx, &request{method: http.MethodGet, path: "/", reads: true}, func(a *answer) error {
		v, err := value.ParseJSONString(a.body)
		if err != nil {
			return err
		}
		list, _ := v.Get("collections")
		if list.Kind() != value.KindList {
			return errors.New("no list of collections")
		}
		for _, name := range list.AsList() {
			if name.Kind() != value.KindText {
				return errors.New("a collection without a name")
			}
			names = append(names, name.AsText())
		}
		return nil
	})
	return names, err
}
