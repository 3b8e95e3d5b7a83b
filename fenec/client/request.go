package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/internal/secret"
)

// request is what is sent, once or several times.
type request struct {
	method string
	path   string // escaped, below the database's URL, with the query string
	body   []byte
	media  string // of the body

	waits bool   // the server may hold it for long
	reads bool   // it changes nothing, or the same however often it is sent
	key   string // the Idempotency-Key of a write; "" for none
	after uint64 // the sequence that it waits for; 0 for none
}

// repeatable reports whether the request may be sent again while it is not known
// what became of it.
func (rq *request) repeatable() bool { return rq.reads || rq.key != "" }

// answer is a whole answer.
type answer struct {
	header http.Header
	body   string
	seq    uint64 // 0 if it names none
}

// send sends a request, again if need be, and gives take the answer. An error of
// take says that the answer cannot be read, but for ErrAnswerGone.
func (db *DB) send(ctx context.Context, rq *request, take func(*answer) error) error {
	return db.retry(ctx, rq, func() error {
		by := db.opts.HTTPClient
		if rq.waits {
			by = db.streams
		}
		res, err := db.open(ctx, by, rq)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		a := &answer{header: res.Header, seq: seqOf(res.Header)}
		if a.body, err = readAll(ctx, res); err != nil {
			return err
		}
		if err = take(a); err == nil || errors.Is(err, ErrAnswerGone) {
			return err
		}
		return misread(err)
	})
}

// misread returns the error of an answer that cannot be read. The cause is told in
// words only: its kind would say that the statement is wrong.
func misread(err error) error { return fmt.Errorf("the server's answer is not understood: %v", err) }

// open sends a request once and returns the answer if it is a success. Its body is
// to be closed.
func (db *DB) open(ctx context.Context, by *http.Client, rq *request) (*http.Response, error) {
	if err := db.closed(); err != nil {
		return nil, err
	}
	req, err := db.build(ctx, rq)
	if err != nil {
		return nil, err
	}
	res, err := by.Do(req)
	if err != nil {
		return nil, lost(ctx, rq, err)
	}
	if res.StatusCode >= 300 {
		defer res.Body.Close()
		body, err := readAll(ctx, res)
		if err != nil {
			return nil, err
		}
		return nil, refused(res.StatusCode, res.Header, body)
	}
	db.saw(seqOf(res.Header))
	return res, nil
}

func (db *DB) build(ctx context.Context, rq *request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, rq.method, db.base+rq.path, bytes.NewReader(rq.body))
	if err != nil {
		return nil, err
	}
	if rq.media != "" {
		req.Header.Set("Content-Type", rq.media)
	}
	if token := secret.Reveal(db.opts.Token); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if rq.after != 0 {
		req.Header.Set("Fenec-After", strconv.FormatUint(rq.after, 10))
	}
	switch {
	case rq.key != "":
		req.Header.Set("Idempotency-Key", rq.key)
	case rq.reads:
		// An empty list is not sent, but tells the transport that it may use another
		// connection at once when an idle one turns out to be closed.
		req.Header["Idempotency-Key"] = []string{}
	}
	return req, nil
}

// lost returns the error of a request that got no answer, or not all of it.
func lost(ctx context.Context, rq *request, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s %s: %w", rq.method, pathOnly(rq.path), ctx.Err())
	}
	return fmt.Errorf("%w: %w", ErrNoAnswer, err)
}

// pathOnly returns a path without its query string.
func pathOnly(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return path
}

// readAll reads the body of an answer.
func readAll(ctx context.Context, res *http.Response) (string, error) {
	var b strings.Builder
	if _, err := io.Copy(&b, res.Body); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	return b.String(), nil
}

// seqOf returns the sequence that an answer names; 0 for none.
func seqOf(h http.Header) uint64 {
	seq, err := strconv.ParseUint(h.Get("Fenec-Seq"), 10, 64)
	if err != nil {
		return 0
	}
	return seq
}
