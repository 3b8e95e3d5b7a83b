package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/router"
)

const (
	followedChanges = 2000
	followedTime    = float64(20 * time.Microsecond) // of one of them
)

// measureStandby has a router follow another one, whose directory is large.
func measureStandby(ctx context.Context, e *env) (err error) {
	dir := e.path("standby")
	if err := fillDirectory(ctx, dir, e.tenants); err != nil {
		return err
	}
	primary, err := router.OpenDirectoryWith(filepath.Join(dir, directoryFile), router.DirectoryOptions{Feed: 64 << 20, ErrorLog: quiet})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, primary.Close()) }()
	addr, end, err := e.serveDirectory(primary)
	if err != nil {
		return err
	}
	defer end()
	way, err := newCable(addr)
	if err != nil {
		return err
	}
	defer way.close()
	memory, err := os.MkdirTemp("/dev/shm", "fenec-bench-")
	if err != nil {
		memory = dir
	}
	defer os.RemoveAll(memory)
	follower, err := router.OpenDirectoryWith(filepath.Join(memory, "follower.fenec"), router.DirectoryOptions{Feed: 64 << 20, Follow: "http://" + way.addr(), ErrorLog: quiet})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, follower.Close()) }()
	start := time.Now()
	_, end, err = e.serveDirectory(follower)
	if err != nil {
		return err
	}
	defer end()
	f := &followBench{env: e, primary: primary, follower: follower, way: way, made: e.tenants}
	if err := f.await(ctx, tenantName(e.tenants-1)); err != nil {
		return err
	}
	e.note("a directory of %d tenants came in %v", e.tenants, time.Since(start).Round(time.Millisecond))
	return f.measure(ctx)
}

// serveDirectory serves a router over a directory.
func (e *env) serveDirectory(d *router.Directory) (addr string, end func(), err error) {
	rt, err := router.New(router.Options{
		Directory: d, ErrorLog: quiet, ReplicationToken: router.NewToken(replicationToken),
	})
	if err != nil {
		return "", nil, err
	}
	return serveRouter(rt)
}

// followBench is a directory and one that follows it.
type followBench struct {
	*env
	primary, follower *router.Directory
	way               *cable
	made              int // tenants
}

func (f *followBench) add() (name string, err error) {
	name = tenantName(f.made)
	f.made++
	return name, f.primary.Place(name, oneNode)
}

// await waits until the follower knows a tenant.
func (f *followBench) await(ctx context.Context, name string) error {
	for {
		if _, ok := f.follower.Lookup([]byte(name)); ok {
			return nil
		}
		if err := sleep(ctx, 10*time.Microsecond); err != nil {
			return err
		}
	}
}

func (f *followBench) measure(ctx context.Context) error {
	var lag []float64
	for range lagWrites {
		name, err := f.add()
		if err != nil {
			return err
		}
		start := time.Now()
		if err := f.await(ctx, name); err != nil {
			return err
		}
		lag = append(lag, float64(time.Since(start)))
	}
	each, err := measure.Interleave(ctx, f.Rounds, []measure.Contender{{Slice: func() (float64, error) { return f.catchUp(ctx) }}})
	if err != nil {
		return err
	}
	f.atMost(fmt.Sprintf("one change of %d that come at once, 20 µs", followedChanges), report.Duration, each[0], followedTime)
	f.note("one alone: known there p50 %s, p99 %s after it was on disk here", report.Duration(measure.Percentile(lag, 0.5)),
		report.Duration(measure.Percentile(lag, 0.99)))
	return nil
}

// catchUp makes changes while nothing comes through, and returns how long the follower
// takes for each of them.
func (f *followBench) catchUp(ctx context.Context) (float64, error) {
	f.way.cut()
	last := ""
	for range followedChanges {
		name, err := f.add()
		if err != nil {
			f.way.mend()
			return 0, err
		}
		last = name
	}
	start := time.Now()
	f.way.mend()
	err := f.await(ctx, last)
	return float64(time.Since(start)) / followedChanges, err
}
