package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/program"
)

// Every part runs and finds every answer right. What it measures in so short a
// time means nothing.
func TestRun(t *testing.T) {
	for _, p := range parts {
		t.Run(p.Letter, func(t *testing.T) {
			var out strings.Builder
			cfg := config{rows: 2_000, big: 2e6, Settings: program.Settings{Rounds: 1, Slice: time.Millisecond, Where: t.TempDir(), Only: p.Letter}}
			if err := run(context.Background(), cfg, &out); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			if !strings.Contains(out.String(), p.Title) || strings.Contains(out.String(), " 0 of 0 goals") {
				t.Errorf("the report is\n%s", out.String())
			}
		})
	}
}

func TestRunRefusesAnUnknownPart(t *testing.T) {
	if err := run(context.Background(), config{Settings: program.Settings{Only: "a,z"}}, &strings.Builder{}); err == nil {
		t.Error("part z was run")
	}
}
