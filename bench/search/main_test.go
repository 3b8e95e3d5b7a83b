package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/program"
	"github.com/fenec-go/fenecdb/fenec"
)

// testConfig is small enough for a test and needs nothing that is not there.
func testConfig(t *testing.T) config {
	return config{
		n:         600,
		questions: 20,
		Settings:  program.Settings{Rounds: 1, Slice: time.Millisecond, Where: t.TempDir()},
		builds:    1,
		xquad:     shortXQuAD(t),
		svg:       filepath.Join(t.TempDir(), "curve.svg"),
	}
}

// shortXQuAD writes a file of one paragraph with one question and returns its
// directory.
func shortXQuAD(t *testing.T) string {
	dir := t.TempDir()
	const file = `{"data": [{"paragraphs": [{"context": "Die Eule fliegt.", "qas": [{"question": "Was fliegt?"}]}]}]}`
	if err := os.WriteFile(filepath.Join(dir, "xquad.de.json"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Every part runs, with the peers that are Go packages, and finds the answers
// right. What it measures in so short a time means nothing.
func TestRun(t *testing.T) {
	for _, peersOnly := range []bool{false, true} {
		for _, p := range parts {
			t.Run(fmt.Sprintf("%s, peers only %t", p.Letter, peersOnly), func(t *testing.T) {
				var out strings.Builder
				cfg := testConfig(t)
				cfg.Only, cfg.peersOnly = p.Letter, peersOnly
				if err := run(context.Background(), cfg, &out); err != nil {
					t.Fatalf("%v\n%s", err, out.String())
				}
				if !strings.Contains(out.String(), p.Title) {
					t.Errorf("the report is\n%s", out.String())
				}
			})
		}
	}
}

func TestRunRefusesAnUnknownPart(t *testing.T) {
	if err := run(context.Background(), config{Settings: program.Settings{Only: "a,z"}}, &strings.Builder{}); err == nil {
		t.Error("part z was run")
	}
}

// All statements are in the language.
func TestStatements(t *testing.T) {
	db, err := fenec.OpenMemory(fenec.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{
		vectorSchema, vectorIndex, vectorInsert, nearText, nearRowText, nearTagText,
		documentSchema, documentIndex, documentInsert, matchText,
		qualitySchema, qualityInsert, qualityNear, qualityFuse, prefixSchema, prefixInsert, prefixMatch,
	} {
		if _, err := db.Prepare(strings.Replace(text, "%d", "50", 1)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
