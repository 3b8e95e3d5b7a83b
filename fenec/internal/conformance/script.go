package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Script is one file of cases.
type Script struct {
	Name    string
	fixture []string
	keep    []string // kinds of indexes that are not optional
	cases   []scriptCase
}

type scriptCase struct {
	line    string
	steps   []step
	want    string
	then    *scriptCase // asked afterwards, or nil
	indexes bool        // the case is about indexes
}

// step is one statement with its parameters, or the statements of a batch.
type step struct {
	clock  time.Duration // after Start
	text   string
	params []json.RawMessage
	batch  []string
}

// Read reads all files that pattern matches.
func Read(t *testing.T, pattern string) []Script {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var scripts []Script
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		scripts = append(scripts, parse(t, strings.TrimSuffix(filepath.Base(file), ".txt"), string(text)))
	}
	return scripts
}

func parse(t *testing.T, name, text string) Script {
	t.Helper()
	s := Script{Name: name}
	part := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case line == "fixture" || line == "cases" || line == "cases about indexes":
			part = line
		case strings.HasPrefix(line, "keep @"):
			s.keep = append(s.keep, strings.TrimPrefix(line, "keep "))
		case part == "fixture":
			s.fixture = append(s.fixture, line)
		default:
			c := parseCase(t, line)
			c.indexes = part == "cases about indexes"
			s.cases = append(s.cases, c)
		}
	}
	require.NotEmpty(t, s.cases, name)
	return s
}

func parseCase(t *testing.T, line string) scriptCase {
	t.Helper()
	text, want, ok := strings.Cut(line, " => ")
	require.True(t, ok, line)
	c := scriptCase{line: line, want: want}
	if want, then, ok := strings.Cut(want, " then "); ok {
		next := parseCase(t, then)
		c.want, c.then = want, &next
	}
	for _, text := range strings.Split(text, " ;; ") {
		c.steps = append(c.steps, parseStep(t, text))
	}
	return c
}

var (
	withParams = regexp.MustCompile(` with (\[.*\])$`)
	withClock  = regexp.MustCompile(`^\(clock \+(\d+)\) `)
)

func parseStep(t *testing.T, text string) step {
	t.Helper()
	var s step
	if m := withClock.FindStringSubmatch(text); m != nil {
		ms, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		s.clock, text = time.Duration(ms)*time.Millisecond, text[len(m[0]):]
	}
	if list, ok := strings.CutPrefix(text, "["); ok {
		s.batch = split(strings.TrimSuffix(list, "]"), ',')
		return s
	}
	s.text = text
	if m := withParams.FindStringSubmatchIndex(text); m != nil {
		require.NoError(t, json.Unmarshal([]byte(text[m[2]:m[3]]), &s.params), text)
		s.text = text[:m[0]]
	}
	return s
}

// split splits text at sep, outside of braces, brackets and parentheses.
func split(text string, sep rune) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range text {
		switch {
		case strings.ContainsRune("{[(", r):
			depth++
		case strings.ContainsRune("}])", r):
			depth--
		case r == sep && depth == 0:
			out = append(out, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	return append(out, strings.TrimSpace(text[from:]))
}

// WithoutIndexes returns a script whose fixture has no optional indexes, which
// must not change an answer.
func (s Script) WithoutIndexes() Script {
	out := Script{Name: s.Name + " without indexes"}
	for _, line := range s.fixture {
		for _, kind := range []string{"@hash", "@sorted", "@geo", "@inverted"} {
			if !s.keeps(kind) {
				line = strings.ReplaceAll(line, " "+kind, "")
			}
		}
		if !strings.HasPrefix(line, "create index") || strings.HasSuffix(line, "@unique") {
			out.fixture = append(out.fixture, line)
		}
	}
	for _, c := range s.cases {
		if !c.indexes {
			out.cases = append(out.cases, c)
		}
	}
	return out
}

func (s Script) keeps(kind string) bool {
	for _, k := range s.keep {
		if k == kind {
			return true
		}
	}
	return false
}
