package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// routing returns a bench whose router is h.
func routing(t *testing.T, h http.HandlerFunc) *moveBench {
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return &moveBench{cluster: &cluster{url: srv.URL}, at: "n1"}
}

// A router that has no such route is told from one that refuses, and from one that
// fails.
func TestPossible(t *testing.T) {
	for status, want := range map[int]struct{ possible, fails bool }{
		http.StatusConflict:         {possible: true},
		http.StatusNotFound:         {},
		http.StatusMethodNotAllowed: {},
		http.StatusOK:               {fails: true},
		http.StatusBadGateway:       {fails: true},
	} {
		m := routing(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) })
		ok, err := m.possible(context.Background())
		if ok != want.possible || (err != nil) != want.fails {
			t.Errorf("%d: got %v, %v", status, ok, err)
		}
	}
}

func TestMoveFollowsTheTenant(t *testing.T) {
	says := `{"tenant":"acme","from":"n1","to":"n2","bytes":7,"ms":3,"source_removed":true}`
	m := routing(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(says)) })
	_, got, err := m.move(context.Background())
	if want := (moved{"n1", "n2", 7, 3, true}); err != nil || got != want || m.at != "n2" {
		t.Errorf("got %+v at %s, %v", got, m.at, err)
	}
	if _, _, err := m.move(context.Background()); err == nil || m.at != "n2" {
		t.Errorf("a move the other way round was believed: at %s, %v", m.at, err)
	}
}

// A writer begins and ends with writes that were taken, repeats those that were not,
// and passes on every other failure.
func TestBeat(t *testing.T) {
	ctx := context.Background()
	var refusing atomic.Int64
	status := http.StatusServiceUnavailable
	m := routing(t, func(w http.ResponseWriter, r *http.Request) {
		if refusing.Add(-1) >= 0 {
			w.WriteHeader(status)
		}
	})
	refuse := func() error { refusing.Store(3); return nil }
	got, err := m.beat(ctx, refuse)
	if err != nil || got.refused != 3 || got.taken < 1 || got.longest < 3*refusedPause {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := m.beat(ctx, func() error { return http.ErrAbortHandler }); err != http.ErrAbortHandler {
		t.Errorf("got %v, want the job's error", err)
	}
	status = http.StatusInternalServerError
	if _, err := m.beat(ctx, refuse); err == nil {
		t.Error("a write that failed is not told")
	}
}

func TestCopySynced(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	want := strings.Repeat("0123456789", 1<<18)
	if err := os.WriteFile(from, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := copySynced(from, to)
	if err != nil || n != int64(len(want)) {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if got, err := os.ReadFile(to); err != nil || string(got) != want {
		t.Errorf("the copy differs: %v", err)
	}
	if _, err := copySynced(from+"-not", to); err == nil {
		t.Error("a missing file was copied")
	}
}
