package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Requests on one connection reach a real server as they were meant, and their
// answers are read to the end.
func TestRawConn(t *testing.T) {
	var got []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body))
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, strings.Repeat("x", len(got)*100))
	}))
	defer srv.Close()
	conn, err := dialRaw(context.Background(), strings.TrimPrefix(srv.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.close()
	for range 3 {
		if err := conn.exchange(request("POST", "/q", "tok", []byte(`{"a":1}`))); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.exchange(request("GET", "/missing", "", nil)); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("got %v, want an error that names 404", err)
	}
	if len(got) != 4 || got[0] != `POST /q Bearer tok {"a":1}` || got[3] != "GET /missing  " {
		t.Errorf("the server saw %q", got)
	}
}
