package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// printer writes what the demo shows, in colour on a terminal.
type printer struct {
	w      io.Writer
	colour bool
}

// newPrinter writes to f. NO_COLOR, set to anything, turns colours off.
func newPrinter(f *os.File) *printer {
	info, err := f.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	return &printer{w: f, colour: terminal && os.Getenv("NO_COLOR") == ""}
}

const (
	bold  = "1"
	dim   = "2"
	green = "32"
	red   = "31"
	cyan  = "36"
)

func (p *printer) paint(code, s string) string {
	if !p.colour {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *printer) title(s string) { fmt.Fprintf(p.w, "%s\n\n", p.paint(bold, s)) }

// cluster names the daemons and where they listen.
func (p *printer) cluster(cl *cluster) {
	fmt.Fprintf(p.w, "  %-10s %s\n", "router", cl.router.URL())
	for _, n := range cl.nodes {
		fmt.Fprintf(p.w, "  %-10s %s\n", n.Name(), n.URL())
	}
	fmt.Fprintln(p.w)
}

// loaded tells of one tenant's place and documents.
func (p *printer) loaded(t *tenant, node string, took time.Duration) {
	fmt.Fprintf(p.w, "  %-10s on %s, %s: %d documents in one batch, %d ms\n",
		t.name, node, strings.Join(t.langs, " and "), t.lib.documents(), took.Milliseconds())
}

func (p *printer) topic(n int, t topic) {
	fmt.Fprintf(p.w, "\n%s\n", p.paint(bold, fmt.Sprintf("%2d. %s", n, t.title)))
	if t.why != "" {
		fmt.Fprintf(p.w, "    %s\n", p.paint(dim, t.why))
	}
}

func (p *printer) curl(base string, c call) {
	fmt.Fprintln(p.w)
	for _, line := range curlLines(base, c) {
		for l := range strings.SplitSeq(line, "\n") {
			fmt.Fprintf(p.w, "    %s\n", p.paint(cyan, l))
		}
	}
	fmt.Fprintln(p.w)
}

// answer prints a body, a row a line, and the status unless it is 200.
func (p *printer) answer(status int, body []byte) {
	code := green
	if status != http.StatusOK {
		code = red
		fmt.Fprintf(p.w, "    %s\n", p.paint(code, fmt.Sprintf("HTTP %d %s", status, http.StatusText(status))))
	}
	for line := range strings.SplitSeq(rowLines(body), "\n") {
		fmt.Fprintf(p.w, "    %s\n", p.paint(code, line))
	}
}

// rowLines breaks a JSON array after each of its elements.
func rowLines(body []byte) string {
	var elements []json.RawMessage
	if err := json.Unmarshal(body, &elements); err != nil || len(elements) == 0 {
		return string(bytes.TrimSpace(body))
	}
	lines := make([]string, len(elements))
	for i, e := range elements {
		lines[i] = string(e)
	}
	return "[" + strings.Join(lines, ",\n ") + "]"
}

func (p *printer) staysUp(cl *cluster) {
	fmt.Fprintf(p.w, "\n%s\n", p.paint(bold, "The cluster stays up."))
	fmt.Fprintf(p.w, "  Every line above works as it is in another terminal.\n")
	fmt.Fprintf(p.w, "  The databases are in %s.\n", cl.dir)
	fmt.Fprintf(p.w, "  Ctrl-C stops the daemons and removes everything.\n")
}
