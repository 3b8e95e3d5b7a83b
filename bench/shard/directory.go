package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/router"
)

// What a large directory may cost.
const (
	directoryMemory = 60 << 20
	directoryTime   = float64(time.Second)
	changeTime      = float64(5 * time.Millisecond)
)

// directoryFile is the directory's file among those beside it.
const directoryFile = "shard.fenec"

// measureDirectory opens a directory of many placements, looks them up, and adds some.
func measureDirectory(ctx context.Context, e *env) error {
	dir := e.path("directory")
	if err := fillDirectory(ctx, dir, e.tenants); err != nil {
		return err
	}
	path := filepath.Join(dir, directoryFile)
	var memory []float64
	opened, err := measure.Interleave(ctx, e.Rounds, []measure.Contender{{Slice: func() (float64, error) {
		took, held, err := openDirectory(path)
		memory = append(memory, held)
		return took, err
	}}})
	if err != nil {
		return err
	}
	e.atMost(fmt.Sprintf("opening %d placements, 1 s", e.tenants), report.Duration, opened[0], directoryTime)
	e.atMost("  memory held then, 60 MiB", report.Size, measure.Median(memory), directoryMemory)
	d, err := router.OpenDirectory(path)
	if err != nil {
		return err
	}
	return errors.Join(e.useDirectory(ctx, d), d.Close())
}

// openDirectory opens a directory and returns what that took, in nanoseconds, and the
// bytes that it holds.
func openDirectory(path string) (took, held float64, err error) {
	before := measure.HeldMemory()
	start := time.Now()
	d, err := router.OpenDirectory(path)
	if err != nil {
		return 0, 0, err
	}
	took = float64(time.Since(start))
	held = float64(measure.HeldMemory() - before)
	return took, held, d.Close()
}

// oneNode is where all are placed.
var oneNode = router.Node{Name: "n1", Addr: "127.0.0.1:8081", Token: router.NewToken("bench-admin")}

func tenantName(i int) string { return fmt.Sprintf("tenant-%06d", i) }

// fillDirectory makes a directory of n placements. Each of them is synced, for which
// memory is faster: where the system has a directory in memory, the files are made
// there and copied.
func fillDirectory(ctx context.Context, dir string, n int) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	memory, err := os.MkdirTemp("/dev/shm", "fenec-bench-")
	if err != nil {
		return place(ctx, filepath.Join(dir, directoryFile), n)
	}
	defer os.RemoveAll(memory)
	if err := place(ctx, filepath.Join(memory, directoryFile), n); err != nil {
		return err
	}
	return os.CopyFS(dir, os.DirFS(memory))
}

func place(ctx context.Context, path string, n int) error {
	d, err := router.OpenDirectory(path)
	if err != nil {
		return err
	}
	err = d.PutNode(oneNode)
	for i := 0; i < n && err == nil; i++ {
		if err = ctx.Err(); err == nil {
			err = d.Place(tenantName(i), oneNode)
		}
	}
	return errors.Join(err, d.Close())
}

// useDirectory looks names up and adds placements.
func (e *env) useDirectory(ctx context.Context, d *router.Directory) error {
	names := make([][]byte, e.tenants)
	for i := range names {
		names[i] = []byte(tenantName(i))
	}
	order := gen.NewSpread(int64(e.tenants))
	added := e.tenants
	got, err := measure.Interleave(ctx, e.Rounds, []measure.Contender{
		{Name: "look-up", Slice: func() (float64, error) {
			return measure.PerOp(e.Slice, func() error { return lookUp(d, names[order.Take()]) })
		}},
		{Name: "change", Slice: func() (float64, error) {
			took, err := measure.Latencies(e.Slice, func() error {
				added++
				return d.Place(tenantName(added), oneNode)
			})
			return measure.Median(took), err
		}},
	})
	if err != nil {
		return err
	}
	e.atMost("one change, on disk, p50, 5 ms", report.Duration, got[1], changeTime)
	e.note("a look-up: %s", report.Duration(got[0]))
	return nil
}

func lookUp(d *router.Directory, name []byte) error {
	if _, ok := d.Lookup(name); !ok {
		return fmt.Errorf("tenant %s is not placed", name)
	}
	return nil
}
