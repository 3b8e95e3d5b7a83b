package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fenec-go/fenecdb/bench/internal/rawconn"
)

// opened returns the handlers of a database with few rows.
func opened(t *testing.T, db database) map[string]http.Handler {
	t.Helper()
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	handlers, err := db.open(t.Context(), newWorld(200))
	if err != nil {
		t.Fatal(err)
	}
	return handlers
}

func fenecIn(t *testing.T) *fenecSide {
	return &fenecSide{hosted: hosted{file: filepath.Join(t.TempDir(), "f.fenec"), sync: "off"}}
}

// served returns the address at which h is served.
func served(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func ask(t *testing.T, addr string, request []byte) string {
	t.Helper()
	conn, err := rawconn.Dial(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body, err := conn.Ask(request)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// Both sides answer the same requests with the same JSON, and no empty one.
func TestSidesAgree(t *testing.T) {
	ours := served(t, opened(t, fenecIn(t))[surface])
	lite := served(t, opened(t, &liteSide{file: filepath.Join(t.TempDir(), "lite.db")})[surface])
	for _, a := range requests() {
		if err := sameAnswers(t.Context(), a, ours, lite); err != nil {
			t.Errorf("%s: %v", a.what, err)
		}
		if body := ask(t, ours, a.rest); len(body) < 10 {
			t.Errorf("%s: answered %s", a.what, body)
		}
	}
}

// What differs is told.
func TestSameAnswersTells(t *testing.T) {
	says := func(text string) string {
		return served(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }))
	}
	a := asked{what: "near, top 10", rest: get("/")}
	for _, other := range []string{`[]`, `[{"id":1}]`, `[{"id":2}]`, `nothing`} {
		if err := sameAnswers(t.Context(), a, says(`[{"id":1},{"id":3}]`), says(other)); err == nil {
			t.Errorf("%s passes for another answer", other)
		}
	}
}

// A constant is what the surface answered, and a read in both of its forms finds
// the same rows.
func TestConstants(t *testing.T) {
	handlers := opened(t, fenecIn(t))
	live := served(t, handlers[surface])
	for _, a := range requests() {
		if a.what == "put" {
			continue
		}
		for _, rest := range []bool{true, false} {
			got := ask(t, served(t, handlers[constant(a.what, rest)]), a.form(rest))
			if want := ask(t, live, a.rest); got != want {
				t.Errorf("%s, %s: got %s, want %s", a.what, formName(rest), got, want)
			}
		}
	}
}

// The token of one owner narrows a read as the filter does that it is compared
// with.
func TestScopedReads(t *testing.T) {
	addr := served(t, opened(t, fenecIn(t))[surface])
	jwt, err := mint()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range scopedReads {
		scoped, filtered := ask(t, addr, scopedGet(x.scoped, jwt)), ask(t, addr, get(x.filtered))
		if scoped != filtered || len(scoped) < 100 || scoped == ask(t, addr, get("/docs")) {
			t.Errorf("%s: got %s, want %s", x.name, scoped, filtered)
		}
	}
}

// Subscribers are told of a write, and of the loss of their server.
func TestCrowd(t *testing.T) {
	s := httptest.NewServer(opened(t, fenecIn(t))[surface])
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, err := gather(ctx, strings.TrimPrefix(s.URL, "http://"), 5)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := c.hear(ctx, post("/docs", map[string]any{"k": followedK})); err != nil {
			t.Fatal(err)
		}
	}
	all := c.await()
	s.CloseClientConnections()
	if err := c.wait(ctx, all); err == nil {
		t.Error("nobody noticed that the server is gone")
	}
	c.leave()
}
