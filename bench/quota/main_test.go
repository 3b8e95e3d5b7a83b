package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/program"
	"github.com/fenec-go/fenecdb/quota"
)

// Part a runs, and the limits that it sets let everything pass. What it measures in
// so short a time means nothing.
func TestPuts(t *testing.T) {
	var out strings.Builder
	cfg := config{Settings: program.Settings{Rounds: 1, Slice: time.Millisecond, Where: t.TempDir(), Only: "a"}}
	if err := run(context.Background(), cfg, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, k := range kinds {
		if !strings.Contains(out.String(), k.name) {
			t.Errorf("the report does not tell of %q:\n%s", k.name, out.String())
		}
	}
}

// No limit is left out of the last kind.
func TestEveryLimit(t *testing.T) {
	b, err := json.Marshal(everyLimit)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{quota.KeyBytes, quota.KeyRows, quota.KeyStreams, quota.KeyRequests,
		quota.KeyRowsPerSecond, quota.KeyBytesPerSecond, quota.KeyRequestsPerSecond} {
		if !strings.Contains(string(b), `"`+key+`"`) {
			t.Errorf("%s is not set: %s", key, b)
		}
	}
}

func TestRunRefusesAnUnknownPart(t *testing.T) {
	if err := run(context.Background(), config{Settings: program.Settings{Only: "a,z"}}, &strings.Builder{}); err == nil {
		t.Error("part z was run")
	}
}
