package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// progress is a line on a terminal that is written anew as things go on. A nil
// progress shows nothing.
type progress struct {
	w     io.Writer
	shown bool
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// wipe is what takes a line away: back to its beginning, and erase to its end.
const wipe = "\r\x1b[K"

// show writes the line in place of the one before.
func (p *progress) show(format string, args ...any) {
	if p == nil {
		return
	}
	p.shown = true
	fmt.Fprintf(p.w, wipe+format, args...)
}

// end takes the line away.
func (p *progress) end() {
	if p == nil || !p.shown {
		return
	}
	p.shown = false
	fmt.Fprint(p.w, wipe)
}

// barWidth is how many characters a bar is long, in its brackets.
const barWidth = 24

// bar returns a bar that shows how much of the whole is done.
func bar(done, whole int) string {
	full := barWidth
	if whole > 0 {
		full = min(max(done, 0), whole) * barWidth / whole
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "]"
}
