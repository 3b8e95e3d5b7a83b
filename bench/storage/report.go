package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// goal is what a ratio is held against. The zero goal asks for nothing.
type goal struct {
	least, most float64 // in times; 0 asks for nothing
}

func atLeast(x float64) goal { return goal{least: x} }
func atMost(x float64) goal  { return goal{most: x} }

func (g goal) met(ratio float64) bool {
	return (g.least == 0 || ratio >= g.least) && (g.most == 0 || ratio <= g.most)
}

func (g goal) String() string {
	switch {
	case g.least > 0:
		return fmt.Sprintf(">= %gx", g.least)
	case g.most > 0:
		return fmt.Sprintf("<= %gx", g.most)
	}
	return "-"
}

// report prints the table as it is measured and remembers what was missed.
type report struct {
	w      io.Writer
	start  time.Time
	goals  int
	missed []string
}

func newReport(w io.Writer) *report { return &report{w: w, start: time.Now()} }

// conditions states what the figures depend on besides the code.
func (r *report) conditions(c config) {
	fmt.Fprintf(r.w, "fenec storage bench: %s %s/%s, %d cores, load %s\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), load())
	fmt.Fprintf(r.w, "base of %d rows, %d rounds of %v a side, databases in %s, SQLite by %s\n",
		c.rows, c.rounds, c.slice, c.where, sqliteDriver)
}

// load returns the machine's load averages and whether they call it idle.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	f := strings.Fields(string(b))
	if len(f) < 3 {
		return "unknown"
	}
	state := "busy"
	var one float64
	if _, err := fmt.Sscan(f[0], &one); err == nil && one < 0.5 {
		state = "idle"
	}
	return fmt.Sprintf("%s (%s at the start)", strings.Join(f[:3], " "), state)
}

func (r *report) part(letter, title string) {
	fmt.Fprintf(r.w, "\n%s. %s\n", letter, title)
	fmt.Fprintf(r.w, "   %-44s %12s %12s %8s   %-9s\n", "", "ours", "peer", "ratio", "goal")
}

// line prints one comparison. ours and peer are shown in the given unit.
func (r *report) line(name string, u unit, ours, peer, ratio float64, g goal) {
	verdict := ""
	if g != (goal{}) {
		r.goals++
		verdict = "ok"
		if !g.met(ratio) {
			verdict = "MISS"
			r.missed = append(r.missed, name)
		}
	}
	fmt.Fprintf(r.w, "   %-44s %12s %12s %7.2fx   %-9s %s\n", name, u(ours), u(peer), ratio, g, verdict)
}

func (r *report) note(s string) { fmt.Fprintf(r.w, "   %s\n", s) }

func (r *report) summary() {
	fmt.Fprintf(r.w, "\n%d of %d goals met in %v; load now %s\n", r.goals-len(r.missed), r.goals,
		time.Since(r.start).Round(time.Second), load())
	for _, m := range r.missed {
		fmt.Fprintf(r.w, "   missed: %s\n", m)
	}
}

// unit writes a figure for people.
type unit func(float64) string

// duration shows nanoseconds in the unit that fits.
func duration(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.2f µs", ns/1e3)
	}
	return fmt.Sprintf("%.2f ms", ns/1e6)
}

// rate shows operations a second.
func rate(v float64) string { return fmt.Sprintf("%.0f/s", v) }

// percent shows a share.
func percent(v float64) string { return fmt.Sprintf("%.1f %%", v*100) }

// sizeName shows bytes in decimal units.
func sizeName(bytes int64) string {
	if bytes < 1e9 {
		return fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}
