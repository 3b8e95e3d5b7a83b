package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/program"
)

func settings(t *testing.T, only string) config {
	return config{Settings: program.Settings{Rounds: 1, Slice: time.Millisecond, Where: t.TempDir(), Only: only}}
}

// Part d runs. What it measures in so short a time means nothing.
func TestDirectory(t *testing.T) {
	var out strings.Builder
	cfg := settings(t, "d")
	cfg.tenants = 100
	if err := run(context.Background(), cfg, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, line := range []string{"opening 100 placements", "memory held then", "one change", "a look-up"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("the report does not tell of %q:\n%s", line, out.String())
		}
	}
}

func TestRunRefuses(t *testing.T) {
	for name, cfg := range map[string]config{
		"an unknown part":            settings(t, "a,z"),
		"daemons that are not there": settings(t, "a"),
	} {
		if err := run(context.Background(), cfg, &strings.Builder{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The process that is asked for its CPU time is the program and not the shell that
// became it, and what the program says before it ends is told.
func TestStart(t *testing.T) {
	ctx := context.Background()
	s, err := start(ctx, "sleeper", "sh", "-c", `echo "own: $$, listening on: http://127.0.0.1:1" >&2; exec sleep 60`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}()
	if own := "own: " + strconv.Itoa(s.pid); !strings.Contains(s.Log(), own) {
		t.Errorf("the log does not say %q: %s", own, s.Log())
	}
	if _, err := cpuTime(s.pid); err != nil {
		t.Error(err)
	}
	if _, err := startAt(ctx, "127.0.0.1:1", "broken", "sh", "-c", "echo no such file >&2"); err == nil ||
		!strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}

// Nothing stays to be filled in, and each proxy is told both addresses.
func TestConfigure(t *testing.T) {
	for _, p := range proxies {
		dir := t.TempDir()
		args, err := p.configure(dir, "127.0.0.1:7001", "127.0.0.1:7002")
		if err != nil {
			t.Fatal(err)
		}
		config, err := os.ReadFile(filepath.Join(dir, p.name+".conf"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"127.0.0.1:7001", "127.0.0.1:7002"} {
			if !strings.Contains(string(config), want) {
				t.Errorf("%s is not told of %s", p.name, want)
			}
		}
		all := strings.Join(args, " ") + string(config)
		for _, name := range []string{"DIR", "CONF", "LISTEN", "NODE"} {
			if strings.Contains(all, name) {
				t.Errorf("%s: %s is not filled in", p.name, name)
			}
		}
	}
}

// A constant is what was answered once, but for what net/http writes itself.
func TestConstant(t *testing.T) {
	a := answer{Status: 201, Header: http.Header{"Fenec-Seq": {"7"}}, Body: []byte("[1]")}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("GET", getTarget, nil))
	if w.Code != 201 || w.Header().Get("Fenec-Seq") != "7" || w.Body.String() != "[1]" {
		t.Errorf("answered %d %v %q", w.Code, w.Header(), w.Body)
	}
}
