package main

import (
	"net/http"
	"testing"
)

// A keyed request has a new key each time, for each client; another is sent as it
// is.
func TestKeys(t *testing.T) {
	seen := map[string]bool{}
	addr := served(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen[r.Header.Get("Idempotency-Key")] = true
	}))
	for range 2 {
		c, err := dial(t.Context(), addr, post("/notes", note(), keyed))
		if err != nil {
			t.Fatal(err)
		}
		defer c.conn.Close()
		for range 10 {
			if err := c.ask(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(seen) != 20 || seen[""] {
		t.Errorf("got the keys %v, want 20 of them", seen)
	}
}

func TestSeqOf(t *testing.T) {
	for line, want := range map[string]uint64{
		"data: {\"seq\":17,\"puts\":[]}\n": 17,
		"data: {\"seq\":8}\n":              0,
		"event: change\n":                  0,
		"data: {\"seq\":x,":                0,
	} {
		got, ok := seqOf([]byte(line))
		if got != want || ok != (want != 0) {
			t.Errorf("%q: got %d, %t, want %d", line, got, ok, want)
		}
	}
}
