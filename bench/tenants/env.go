package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant"
)

// env is what the parts share: the flags, the report, a directory, and the
// directories of tenants in it, since filling a large one takes long.
type env struct {
	config
	dir  string
	out  *report.Report
	made map[int]string // directories by how many tenants they were made with
}

func (e *env) path(name string) string { return filepath.Join(e.dir, name) }

func (e *env) note(format string, args ...any) { e.out.Note(fmt.Sprintf(format, args...)) }

// atMost prints a figure against a bound that it should not pass.
func (e *env) atMost(name string, u report.Unit, got, bound float64) {
	e.out.Line(name, u, got, bound, got/bound, report.AtMost(1))
}

// atLeast prints a figure against a bound that it should reach.
func (e *env) atLeast(name string, u report.Unit, got, bound float64) {
	e.out.Line(name, u, got, bound, got/bound, report.AtLeast(1))
}

// median is the median figure of the rounds of slice.
func (e *env) median(ctx context.Context, slice func() (float64, error)) (float64, error) {
	got, err := measure.Interleave(ctx, e.Rounds, []measure.Contender{{Slice: slice}})
	if err != nil {
		return 0, err
	}
	return got[0], nil
}

// What a tenant holds, and is asked.
const (
	schemaText = "create collection rows (n int, body text)"
	putText    = "put rows {n: $1, body: 'a text of a common length, as notes have'}"
	getText    = "get rows where id = $1"
)

// directory returns a directory of n tenants, made when first asked for. They are
// copies of one file.
func (e *env) directory(ctx context.Context, n int) (string, error) {
	if dir, ok := e.made[n]; ok {
		return dir, nil
	}
	file, err := e.template(ctx)
	if err != nil {
		return "", err
	}
	dir := e.path(fmt.Sprint(n, "-tenants"))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name(i)+".fenec"), file, 0o600); err != nil {
			return "", err
		}
	}
	e.made[n] = dir
	return dir, nil
}

// template returns the file of a database with one row.
func (e *env) template(ctx context.Context) ([]byte, error) {
	path := e.path("template.fenec")
	db, err := fenec.Open(path, fenec.Options{})
	if err != nil {
		return nil, err
	}
	_, err = db.Batch(ctx, []fenec.Statement{{Text: schemaText}, {Text: putText, Args: []any{1}}})
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	file, err := os.ReadFile(path)
	return file, errors.Join(err, fenec.Remove(path))
}

// name returns the name of tenant i of a directory.
func name(i int) string { return fmt.Sprintf("t%06d", i) }

// manage calls fn with the manager of a directory.
func manage(dir string, opts tenant.Options, fn func(*tenant.Manager) error) error {
	m, err := tenant.Open(dir, opts)
	if err != nil {
		return err
	}
	return errors.Join(fn(m), m.Close())
}

// visit calls fn with a handle to a tenant.
func visit(ctx context.Context, m *tenant.Manager, name string, fn func(context.Context, *tenant.Handle) error) error {
	h, err := m.Acquire(ctx, name)
	if err != nil {
		return err
	}
	defer h.Release()
	return fn(ctx, h)
}

// read gets the row that every tenant has.
func read(ctx context.Context, h *tenant.Handle) error { return get(ctx, h, getText, 1) }

// get runs a get of a document by its id, which must be there.
func get(ctx context.Context, h *tenant.Handle, text string, id int64) error {
	res, err := h.Query(ctx, text, id)
	if err == nil && res.Len() != 1 {
		err = fmt.Errorf("%s: document %d is missing", text, id)
	}
	return err
}

// write puts a row.
func write(ctx context.Context, h *tenant.Handle) error {
	_, err := h.Exec(ctx, putText, 2)
	return err
}

// held returns the bytes that the process holds in objects and stacks, and that the
// open databases of m count themselves.
func held(m *tenant.Manager) int64 {
	bytes := measure.HeldMemory()
	for _, open := range m.Opened() {
		bytes += open.Memory
	}
	return bytes
}

// kib shows bytes in KiB.
func kib(bytes float64) string { return fmt.Sprintf("%.1f KiB", bytes/(1<<10)) }
