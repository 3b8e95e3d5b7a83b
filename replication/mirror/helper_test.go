package mirror

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/internal/secret"
	"github.com/fenec-go/fenecdb/replication"
)

// place is one database with its source behind an address, and a follower if it has one.
// It may be closed, killed and opened again.
type place struct {
	t      testing.TB
	dir    string
	single *Single
	opts   fenec.Options
	from   SourceOptions

	source  atomic.Pointer[Source]
	replica atomic.Pointer[Replica]
	server  *http.Server
	dial    *wire
	follows bool
	log     *logged
}

// logged is a log that can be looked at.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// token is for the tests' own check, which stands for a mounter's.
var token = secret.New("r1")

type placeOption func(*place)

func with(change func(*fenec.Options)) placeOption { return func(p *place) { change(&p.opts) } }

func sending(change func(*SourceOptions)) placeOption { return func(p *place) { change(&p.from) } }

// newPrimary opens a database with a collection of notes.
func newPrimary(t testing.TB, options ...placeOption) *place {
	p := newPlace(t, options...)
	p.exec(`create collection notes (title text @hash, n int)`)
	return p
}

// newReplica opens an empty database that follows.
func newReplica(t testing.TB, options ...placeOption) *place {
	return newPlace(t, append(options, func(p *place) { p.follows = true })...)
}

// newPlace opens an empty database at a new place.
func newPlace(t testing.TB, options ...placeOption) *place {
	p := &place{t: t, dir: t.TempDir(), dial: newWire(), log: &logged{}}
	p.opts = fenec.Options{Sync: fenec.SyncAlways, FeedBytes: 64 << 20, SweepInterval: -1}
	for _, o := range options {
		o(p)
	}
	p.from.ErrorLog = log.New(p.log, "", 0)
	p.from.Following = func() (ReplicaStatus, bool) {
		if r := p.replica.Load(); r != nil {
			return r.Status(), true
		}
		return ReplicaStatus{}, false
	}
	p.open()
	p.server = &http.Server{Handler: p, ErrorLog: log.New(p.log, "", 0)}
	go p.server.Serve(p.dial)
	t.Cleanup(func() {
		p.unfollow()
		require.NoError(t, p.single.Close())
		require.NoError(t, p.server.Close())
	})
	return p
}

func (p *place) path() string { return filepath.Join(p.dir, "db.fenec") }

func (p *place) open() {
	single, err := OpenSingle(p.path(), SingleOptions{
		DB: p.opts,
		Opened: func(db *fenec.DB) error {
			if p.follows && !db.History().Following {
				if err := db.Follow(context.Background()); err != nil {
					return err
				}
			} else if _, err := db.BeginHistory(context.Background()); err != nil {
				return err
			}
			p.serve(db)
			return nil
		},
		Closing: func(*fenec.DB) { p.source.Load().Close("the database is being closed") },
	})
	require.NoError(p.t, err)
	p.single = single
}

// serve gives the database a source.
func (p *place) serve(db *fenec.DB) {
	s := NewSource(db, p.from)
	db.SetConfirm(s.Confirm)
	p.source.Store(s)
}

// ServeHTTP is the mounter.
func (p *place) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	path, ours := strings.CutPrefix(r.URL.Path, "/_replication")
	switch {
	case !token.Opens(given):
		refuse(w, http.StatusUnauthorized, "a token is needed")
	case !ours:
		refuse(w, http.StatusNotFound, "nothing is here")
	default:
		p.source.Load().Serve(w, r, strings.FieldsFunc(path, func(c rune) bool { return c == '/' }))
	}
}

// kill makes the place one that lost its process: what is on its disk is there again.
func (p *place) kill() {
	p.unfollow()
	dir := copied(p.t, p)
	require.NoError(p.t, p.single.Close())
	p.dir = dir
	p.open()
}

// copied copies the files of an open database to a new directory. Nobody writes to it or
// reads an image of it meanwhile, so they are of one moment.
func copied(t testing.TB, p *place) string {
	p.dial.cut()
	p.source.Load().Close("the files are being copied")
	defer p.use(p.serve)
	dir := t.TempDir()
	for _, file := range fenec.Files(p.path()) {
		b, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(file)), b, 0o600))
	}
	return dir
}

// restart closes the database and opens it again.
func (p *place) restart() {
	p.unfollow()
	require.NoError(p.t, p.single.Close())
	p.open()
}

// promote makes p a primary.
func (p *place) promote() (h replication.History) {
	p.unfollow()
	p.follows = false
	p.use(func(db *fenec.DB) {
		var err error
		h, err = db.Promote(context.Background(), true)
		require.NoError(p.t, err)
	})
	return h
}

// write puts n notes, one by one.
func (p *place) write(n int) {
	for range n {
		p.exec(`put notes {title: 'x'}`)
	}
}

// use gives the database to fn.
func (p *place) use(fn func(db *fenec.DB)) {
	db, release, err := p.single.Use(context.Background())
	require.NoError(p.t, err)
	defer release()
	fn(db)
}

func (p *place) exec(text string, args ...any) {
	p.use(func(db *fenec.DB) {
		_, err := db.Exec(context.Background(), text, args...)
		require.NoError(p.t, err)
	})
}

// follow makes p follow another place.
func (p *place) follow(primary *place, change ...func(*ReplicaOptions)) *Replica {
	p.follows = true
	p.use(func(db *fenec.DB) {
		if !db.History().Following {
			require.NoError(p.t, db.Follow(context.Background()))
		}
	})
	opts := ReplicaOptions{
		Primary: "http://primary:1", Token: token, Instance: p.dir, Transport: primary.dial.transport(),
		ErrorLog: log.New(p.log, "", 0),
	}
	for _, c := range change {
		c(&opts)
	}
	r, err := StartReplica(p.single, opts)
	require.NoError(p.t, err)
	p.replica.Store(r)
	return r
}

func (p *place) unfollow() {
	if r := p.replica.Swap(nil); r != nil {
		r.Stop()
	}
}

// caughtUp waits until p stands where the primary does, in the same history.
func (p *place) caughtUp(primary *place) {
	p.t.Helper()
	last, h := primary.last(), primary.history()
	eventually(p.t, func() bool { return p.last() == last && slices.Equal(p.history().Lineage, h.Lineage) },
		"the replica stands at %d of %d; its log:\n%s", func() []any { return []any{p.last(), last, p.log} })
}

func (p *place) history() (h replication.History) {
	p.use(func(db *fenec.DB) { h = db.History() })
	return h
}

func (p *place) last() (last uint64) {
	p.use(func(db *fenec.DB) { last = db.LastWrite() })
	return last
}

// eventually polls a condition that something beside it brings about.
func eventually(t testing.TB, ok func() bool, format string, args func() []any) {
	t.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); <-ticker.C {
		if time.Now().After(deadline) {
			require.FailNowf(t, "it did not come about", format, args()...)
		}
	}
}

// requireSame compares the rows of two places.
func requireSame(t testing.TB, a, b *place) {
	t.Helper()
	x, y := a.digest(), b.digest()
	x.Seq, y.Seq = a.last(), b.last() // numbers that no write has count on one side alone
	require.Equal(t, x, y)
}

func (p *place) digest() (d fenec.Digest) {
	p.use(func(db *fenec.DB) {
		// A write has its number a moment before readers see it.
		err := db.WaitSeq(context.Background(), db.LastWrite())
		require.NoError(p.t, err)
		d, err = db.DigestScan(context.Background(), 0)
		require.NoError(p.t, err)
	})
	return d
}

// wire is a network of its own: a listener whose connections are pipes in memory and can
// be cut.
type wire struct {
	accepted chan net.Conn
	closed   chan struct{}
	once     sync.Once

	mu    sync.Mutex // guards the fields below
	conns []net.Conn // the server's sides
	down  bool
	stuck func(net.Conn) net.Conn // wraps the server's side; nil does not
}

func newWire() *wire { return &wire{accepted: make(chan net.Conn), closed: make(chan struct{})} }

func (w *wire) Accept() (net.Conn, error) {
	select {
	case c := <-w.accepted:
		return c, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	w.cut()
	return nil
}

func (w *wire) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1} }

func (w *wire) transport() http.RoundTripper {
	t := NewTransport()
	t.DialContext = w.connect
	return t
}

func (w *wire) connect(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	w.mu.Lock()
	if w.down {
		w.mu.Unlock()
		return nil, net.ErrClosed
	}
	w.conns = append(w.conns, server)
	if w.stuck != nil {
		server = w.stuck(server)
	}
	w.mu.Unlock()
	select {
	case w.accepted <- server:
		return client, nil
	case <-w.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// cut ends all connections as a server that dies does: what is on its way arrives.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
}

// part cuts everything until it is joined again.
func (w *wire) part(down bool) {
	w.mu.Lock()
	w.down = down
	w.mu.Unlock()
	w.cut()
}
