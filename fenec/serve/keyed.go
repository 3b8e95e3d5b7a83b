package serve

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/inside"
)

// A write with an Idempotency-Key keeps its answer in the block of the write
// itself, so that it is there exactly if the write is.
const (
	longestKey  = 255      // bytes
	longestKept = 64 << 10 // of an answer, in bytes; a longer one is kept as a note
	keptInstead = `{"idempotent":"the answer was too long to be kept; the write has happened"}`
)

// keyOf tells the keyed writes of one database apart.
type keyOf struct {
	db  *fenec.DB
	key string // with the scope it belongs to
}

// key returns the request's idempotency key, nil if it has none.
func (c *call) key(compacts bool) (*keyOf, *Answer) {
	values, ok := c.r.Header["Idempotency-Key"]
	if !ok {
		return nil, nil
	}
	key := strings.Join(values, ",")
	var wrong string
	switch {
	case len(key) < 1 || len(key) > longestKey:
		wrong = fmt.Sprintf("an Idempotency-Key has 1 to %d bytes", longestKey)
	case compacts:
		wrong = "a compact takes no Idempotency-Key: it is no write that could happen twice"
	case c.who.token != nil && c.who.token.Claims.Subject() == "":
		wrong = "an Idempotency-Key belongs to the subject of a token, and this token names none (sub)"
	}
	if wrong != "" {
		a := Fail(http.StatusBadRequest, wrong)
		return nil, &a
	}
	scope := ""
	if c.who.token != nil {
		scope = "sub " + c.who.token.Claims.Subject()
	}
	return &keyOf{c.db, scope + "\x00" + key}, nil
}

// keyLocks lets one request at a time run under a key.
type keyLocks struct {
	mu   sync.Mutex              // guards held
	held map[keyOf]chan struct{} // closed at the end; nil while nobody waits for it
}

// lock waits until no other request runs under the key.
func (l *keyLocks) lock(ctx context.Context, k keyOf) error {
	for {
		ended := l.take(k)
		if ended == nil {
			return nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take takes the lock if it is free. Else it returns what tells of its end.
func (l *keyLocks) take(k keyOf) (ended chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ended, taken := l.held[k]
	switch {
	case taken && ended == nil:
		ended = make(chan struct{})
		l.held[k] = ended
	case !taken && l.held == nil:
		l.held = map[keyOf]chan struct{}{k: nil}
	case !taken:
		l.held[k] = nil
	}
	return ended
}

func (l *keyLocks) unlock(k keyOf) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ended := l.held[k]; ended != nil {
		close(ended)
	}
	delete(l.held, k)
}

// errNothing undoes a held write that wrote nothing: it keeps no key.
var errNothing = errors.New("nothing was written")

// keyed runs a write under a key, or answers as the request did that ran under
// it before. Most keys are new: the write happens, and if the key turns out to be
// taken it is undone. What it fails with otherwise may come of its having
// happened, too, unless it is that it has happened now and may not last: its own answer,
// which is kept by then, would say that it does. A held write looks first: it may find
// nothing for long.
func (c *call) keyed(ctx context.Context, key keyOf, write func(*fenec.Tx) (Answer, error)) Answer {
	if err := c.server.keys.lock(ctx, key); err != nil {
		return Error(err)
	}
	defer c.server.keys.unlock(key)
	digest := c.digest()
	if c.holding != nil {
		if a, ok := c.replay(ctx, key, digest); ok {
			return a
		}
	}
	a, err := c.writeKeyed(ctx, key, digest, write)
	if err == nil {
		return a
	}
	if c.holding == nil && !c.beyond(err) && !errors.As(err, new(*fenec.UnconfirmedError)) {
		if a, ok := c.replay(ctx, key, digest); ok {
			return a
		}
	}
	return c.fail(err)
}

// beyond reports whether a write failed because the token does not open what it is
// about, be it that it did when the key was used: it is not told then.
func (c *call) beyond(err error) bool {
	return c.who.token != nil && (errors.Is(err, fenec.ErrDenied) || errors.Is(err, fenec.ErrNotFound))
}

// writeKeyed runs a write and keeps its answer, in one block.
func (c *call) writeKeyed(ctx context.Context, key keyOf, digest []byte, write func(*fenec.Tx) (Answer, error)) (a Answer, err error) {
	seq, err := c.db.Update(ctx, func(tx *fenec.Tx) (err error) {
		if err := c.prepareKeys(ctx, tx); err != nil {
			return err
		}
		as := tx
		if session, ok := c.view.(*fenec.Session); ok {
			as = tx.As(session)
		}
		if a, err = write(as); err != nil {
			return err
		}
		if a.nothing && c.holding != nil {
			return errNothing
		}
		return c.keep(ctx, tx, key, digest, a)
	})
	switch {
	case err == errNothing:
		return a, nil
	case err == nil:
		a.Seq = seq
	}
	return a, err
}

// prepareKeys makes the collection that keeps keys for as long as the server is
// told to, if it is not there. Nobody else writes meanwhile.
func (c *call) prepareKeys(ctx context.Context, tx *fenec.Tx) error {
	ttl := c.server.opts.IdempotencyTTL
	def := inside.Collection(c.db, "_idempotency")
	var change string
	switch {
	case def == nil:
		change = "create collection _idempotency (key text @unique, request bytes, status int, body text, at timestamp @ttl(%s))"
	case def.TTL() == nil || def.TTL().Period != ttl:
		change = "alter collection _idempotency alter field at @ttl(%s)"
	default:
		return nil
	}
	_, err := tx.Query(ctx, fmt.Sprintf(change, catalog.PeriodString(ttl)))
	return err
}

// digest stands for the request: its method, target and body.
func (c *call) digest() []byte {
	c.out = append(append(append(c.out[:0], c.r.Method...), ' '), c.r.RequestURI...)
	c.out = append(append(c.out, '\n'), c.body...)
	sum := sha256.Sum256(c.out)
	return sum[:16]
}

// replay answers from what is kept under the key, if anything is.
func (c *call) replay(ctx context.Context, key keyOf, digest []byte) (a Answer, ok bool) {
	res, err := c.ask(ctx, c.db, fenec.Statement{
		Text: `get _idempotency select request, status, body where key = $1`, Args: []any{key.key},
	})
	switch {
	case errors.Is(err, fenec.ErrNotFound):
		return a, false
	case err != nil:
		return Error(err), true
	case !res.Next():
		return a, false
	}
	var request []byte
	var body string
	if err := res.Scan(&request, &a.Status, &body); err != nil {
		return Error(err), true
	}
	if string(request) != string(digest) {
		return Fail(http.StatusUnprocessableEntity, "the Idempotency-Key was used for another request"), true
	}
	// What is told again must be on disk, and as safe from being lost with this server, as
	// it had to be the first time.
	if err := c.db.Reconfirm(ctx); err != nil {
		return Error(err), true
	}
	a.Body, a.Seq, a.wrote = []byte(body), c.db.Seq(), true
	a.Header = http.Header{"Idempotent-Replayed": {"true"}}
	return a, true
}

// keep stores the answer of a write within its block.
func (c *call) keep(ctx context.Context, tx *fenec.Tx, key keyOf, digest []byte, a Answer) error {
	body := string(a.Body)
	if len(body) > longestKept {
		body = keptInstead
	}
	_, err := tx.Query(ctx, `insert _idempotency {key: $1, request: $2, status: $3, body: $4, at: now()}`,
		key.key, digest, a.Status, body)
	return err
}
