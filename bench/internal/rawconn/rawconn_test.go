package rawconn

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
func TestConn(t *testing.T) {
	var got []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body))
		switch r.URL.Path {
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		case "/made":
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = io.WriteString(w, strings.Repeat("x", len(got)*100))
	}))
	defer srv.Close()
	conn, err := Dial(context.Background(), strings.TrimPrefix(srv.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 3 {
		if err := conn.Exchange(Request("POST", "/q", []byte(`{"a":1}`), "Authorization: Bearer tok")); err != nil {
			t.Fatal(err)
		}
	}
	body, err := conn.Ask(Request("GET", "/made", nil))
	if want := strings.Repeat("x", 400); err != nil || string(body) != want {
		t.Errorf("got %q, %v, want %q", body, err, want)
	}
	if err := conn.Exchange(Request("GET", "/missing", nil)); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("got %v, want an error that names 404", err)
	}
	if len(got) != 5 || got[0] != `POST /q Bearer tok {"a":1}` || got[4] != "GET /missing  " {
		t.Errorf("the server saw %q", got)
	}
}
