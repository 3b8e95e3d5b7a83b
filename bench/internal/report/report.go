// Package report prints a bench's table as it is measured, with what each ratio is
// held against, and runs the parts of a bench.
package report

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// Report prints the table as it is measured and remembers what was missed.
type Report struct {
	w      io.Writer
	start  time.Time
	letter string // of the part that runs
	goals  int
	missed []string
}

// New returns a report that is written to w.
func New(w io.Writer) *Report { return &Report{w: w, start: time.Now()} }

// Conditions states what the figures depend on besides the code: the machine,
// and what the bench says about its own run.
func (r *Report) Conditions(bench, run string) {
	fmt.Fprintf(r.w, "%s: %s %s/%s, %d cores, load %s\n",
		bench, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), load())
	fmt.Fprintln(r.w, run)
}

// Part begins the lines of a part.
func (r *Report) Part(letter, title string) {
	r.letter = letter
	fmt.Fprintf(r.w, "\n%s. %s\n", letter, title)
	fmt.Fprintf(r.w, "   %-50s %12s %12s %8s   %-9s\n", "", "ours", "peer", "ratio", "goal")
}

// Line prints one comparison. ours and peer are shown in the given unit.
func (r *Report) Line(name string, u Unit, ours, peer, ratio float64, g Goal) {
	if g != (Goal{}) {
		r.goals++
		if !g.met(ratio) {
			r.missed = append(r.missed, r.letter+": "+strings.TrimSpace(name))
		}
	}
	fmt.Fprintf(r.w, "   %-50s %12s %12s %7.2fx   %-9s %s\n", name, u(ours), u(peer), ratio, g, g.verdict(ratio))
}

// Miss prints a comparison that could not be made for a reason that lies with
// ours: its goal is missed.
func (r *Report) Miss(name, why string, g Goal) {
	r.goals++
	r.missed = append(r.missed, r.letter+": "+strings.TrimSpace(name))
	fmt.Fprintf(r.w, "   %-50s %-34s   %-9s MISS\n", name, why, g)
}

// Note prints a line that compares nothing.
func (r *Report) Note(s string) { fmt.Fprintf(r.w, "   %s\n", s) }

// Summary ends the table.
func (r *Report) Summary() {
	fmt.Fprintf(r.w, "\n%d of %d goals met in %v; load now %s\n", r.goals-len(r.missed), r.goals,
		time.Since(r.start).Round(time.Second), load())
	for _, m := range r.missed {
		fmt.Fprintf(r.w, "   missed: %s\n", m)
	}
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
