package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// env is what the parts share: the flags, the report and a directory.
type env struct {
	config
	dir string
	out *report.Report
}

func (e *env) path(name string) string { return filepath.Join(e.dir, name) }

func (e *env) note(format string, args ...any) { e.out.Note(fmt.Sprintf(format, args...)) }

// atMost prints a figure against a bound that it should not pass.
func (e *env) atMost(name string, u report.Unit, got, bound float64) {
	e.out.Line(name, u, got, bound, got/bound, report.AtMost(1))
}

// binaries says if one of the daemons has not been built.
func (e *env) binaries() error {
	for _, bin := range []string{e.server, e.shard} {
		if _, err := os.Stat(bin); err != nil {
			return fmt.Errorf("%w (make build makes it)", err)
		}
	}
	return nil
}
