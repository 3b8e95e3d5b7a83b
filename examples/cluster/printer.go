package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// printer writes what is shown. Its methods are safe for concurrent use.
type printer struct {
	mu    sync.Mutex // held while something is written
	w     io.Writer
	began time.Time // the part that is shown
}

func (p *printer) write(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.w, format, args...)
}

// title begins a part.
func (p *printer) title(text string) {
	p.mu.Lock()
	p.began = time.Now()
	p.mu.Unlock()
	p.write("\n# %s\n", text)
}

// command shows a line for a shell.
func (p *printer) command(line []string) { p.write("$ %s\n", strings.Join(line, " ")) }

// text shows what a command has printed.
func (p *printer) text(text string) { p.write("%s", text) }

// event shows what happens now, with the time since the part began.
func (p *printer) event(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.w, "  %5.2f s  %s\n", time.Since(p.began).Seconds(), fmt.Sprintf(format, args...))
}
