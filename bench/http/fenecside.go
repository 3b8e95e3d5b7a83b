package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// secret signs the tokens, and policy says what they open.
const (
	secret = "a secret of the bench, of 32 bytes"
	policy = "docs read where owner = $jwt.sub"
)

// fenecSide is a fenec database and its surface.
type fenecSide struct {
	hosted
	db      *fenec.DB
	surface *serve.Server
}

// The names of its handlers: the surface, and a constant for each request.
const surface = "surface"

func constant(what string, rest bool) string { return fmt.Sprintf("constant %s %t", what, rest) }

func (f *fenecSide) open(ctx context.Context, w *world) (map[string]http.Handler, error) {
	sync, err := fenec.ParseSync(f.sync)
	if err != nil {
		return nil, err
	}
	if f.db, err = fenec.Open(f.file, fenec.Options{Sync: sync}); err != nil {
		return nil, err
	}
	if err := fillFenec(ctx, f.db, w); err != nil {
		return nil, err
	}
	if err := link(ctx, f.db); err != nil {
		return nil, err
	}
	if f.surface, err = newSurface(); err != nil {
		return nil, err
	}
	live := f.surface.Handler(f.db)
	handlers := map[string]http.Handler{surface: live}
	for _, a := range requests() {
		for _, rest := range []bool{true, false} {
			if handlers[constant(a.what, rest)], err = record(live, a.form(rest)); err != nil {
				return nil, fmt.Errorf("%s: %w", a.what, err)
			}
		}
	}
	return handlers, nil
}

// newSurface returns a surface with the options that fenec-server gives it, for
// --http-token, --jwt-secret, --policy and --http-max-streams 0.
func newSurface() (*serve.Server, error) {
	tokens, err := serve.OpenTokens(serve.TokenOptions{Secret: serve.NewSecret(secret), Policy: policy})
	if err != nil {
		return nil, err
	}
	return serve.New(serve.Options{
		Token:        serve.NewSecret(token),
		Tokens:       tokens,
		MaxStreams:   -1,
		KeepAlive:    20 * time.Second,
		IdleTimeout:  time.Minute,
		RefusalDelay: 100 * time.Millisecond,
	}), nil
}

// record returns a handler that answers anything as live answered request.
func record(live http.Handler, request []byte) (http.Handler, error) {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(request)))
	if err != nil {
		return nil, err
	}
	got := httptest.NewRecorder()
	live.ServeHTTP(got, r)
	if got.Code/100 != 2 {
		return nil, fmt.Errorf("answered %d: %s", got.Code, got.Body)
	}
	header, status, body := got.Result().Header, got.Code, got.Body.Bytes()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		for name, values := range header {
			h[name] = values
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}), nil
}

func (f *fenecSide) Close() error {
	if f.surface != nil {
		_ = f.surface.Close()
	}
	if f.db == nil {
		return nil
	}
	return f.db.Close()
}

// fillStep is how many rows are put at once.
const fillStep = 1000

var fenecSchema = []string{
	"create collection docs (k int @hash, owner text, body text)",
	"create collection notes (k int, owner text, body text)",
	fmt.Sprintf("create collection shapes (k int, body text, vec vector<%d> @hnsw(cosine))", dim),
}

func fillFenec(ctx context.Context, db *fenec.DB, w *world) error {
	for _, text := range fenecSchema {
		if _, err := db.Exec(ctx, text); err != nil {
			return err
		}
	}
	block := make([]fenec.Statement, 0, 2*fillStep)
	for id := 1; id <= w.rows; id++ {
		d, s := w.doc(id), w.shape(id)
		block = append(block,
			fenec.Statement{Text: "insert docs {id: $1, k: $2, owner: $3, body: $4}", Args: []any{d.ID, d.K, d.Owner, d.Body}},
			fenec.Statement{Text: "insert shapes {id: $1, k: $2, body: $3, vec: $4}", Args: []any{s.ID, s.K, s.Body, s.Vec}})
		if len(block) == cap(block) || id == w.rows {
			if _, err := db.Batch(ctx, block); err != nil {
				return err
			}
			block = block[:0]
		}
	}
	return db.Checkpoint(ctx)
}

// link returns when all vectors are linked and in the file, so that nothing of it
// is left to be done beside what is measured. It searches first, as a few vectors
// may be left unlinked until somebody does.
func link(ctx context.Context, db *fenec.DB) error {
	if _, err := db.Query(ctx, "get shapes select id near vec $1 limit 10", question()); err != nil {
		return err
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		st, err := db.Stats()
		if err != nil {
			return err
		}
		if st.UnlinkedVectors == 0 {
			return db.Checkpoint(ctx)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
