package wal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	gosync "sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// recordBytes is the length of the payloads that benchmarks write.
const recordBytes = 300

// target is something blocks are written to, one writer at a time.
type target interface {
	append(payload []byte) (end int64)
	sync(end int64)
	flushes() int64
}

// logTarget is a log.
type logTarget struct {
	log   *wal.Log
	syncs *countSyncs
	next  uint64
}

func newLogTarget(b *testing.B) *logTarget {
	syncs := &countSyncs{FS: wal.OS}
	l, err := wal.Create(filepath.Join(b.TempDir(), "log"), wal.Header{}, wal.Options{FS: syncs})
	require.NoError(b, err)
	b.Cleanup(func() { l.Close() })
	return &logTarget{log: l, syncs: syncs, next: 1}
}

func (l *logTarget) append(payload []byte) int64 {
	end, err := l.log.Append(wal.Block{From: l.next, To: l.next, UnixMilli: 1, Payload: payload})
	if err != nil {
		panic(err)
	}
	l.next++
	return end
}

func (l *logTarget) sync(end int64) {
	if err := l.log.SyncTo(context.Background(), end); err != nil {
		panic(err)
	}
}

func (l *logTarget) flushes() int64 { return l.syncs.n.Load() }

// countSyncs counts flushes of files.
type countSyncs struct {
	wal.FS
	n atomic.Int64
}

type countedFile struct {
	wal.File
	n *atomic.Int64
}

func (c *countSyncs) OpenFile(path string, flag int, perm os.FileMode) (wal.File, error) {
	f, err := c.FS.OpenFile(path, flag, perm)
	return countedFile{f, &c.n}, err
}

func (f countedFile) Sync() error {
	f.n.Add(1)
	return f.File.Sync()
}

// bareTarget is the least that shares flushes: records with a length and a
// checksum behind each other, and a leader that flushes for those who wait.
type bareTarget struct {
	file    wal.File
	buf     []byte
	end     atomic.Int64
	syncs   int64
	durable int64
	leading bool
	mu      gosync.Mutex
	cond    *gosync.Cond
}

func newBareTarget(b *testing.B) *bareTarget {
	f, err := wal.OS.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(b, err)
	b.Cleanup(func() { f.Close() })
	t := &bareTarget{file: f}
	t.cond = gosync.NewCond(&t.mu)
	return t
}

func (t *bareTarget) append(payload []byte) int64 {
	check := sum(payload)
	t.buf = append(t.buf[:0], byte(len(payload)), byte(len(payload)>>8), 0, 0,
		byte(check), byte(check>>8), byte(check>>16), byte(check>>24))
	t.buf = append(t.buf, payload...)
	if _, err := t.file.WriteAt(t.buf, t.end.Load()); err != nil {
		panic(err)
	}
	return t.end.Add(int64(len(t.buf)))
}

func (t *bareTarget) sync(end int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.durable < end {
		if t.leading {
			t.cond.Wait()
			continue
		}
		t.leading = true
		upTo := t.end.Load()
		t.mu.Unlock()
		if err := t.file.Sync(); err != nil {
			panic(err)
		}
		t.mu.Lock()
		t.syncs++
		t.durable, t.leading = upTo, false
		t.cond.Broadcast()
	}
}

func (t *bareTarget) flushes() int64 { return t.syncs }

// write has a number of goroutines write n records between them, each of which
// waits for its record to be on disk.
func write(t target, writers, n int) time.Duration {
	payload := make([]byte, recordBytes)
	var lock gosync.Mutex
	var left atomic.Int64
	left.Store(int64(n))
	var done gosync.WaitGroup
	start := time.Now()
	for range writers {
		done.Go(func() {
			for left.Add(-1) >= 0 {
				lock.Lock()
				end := t.append(payload)
				lock.Unlock()
				t.sync(end)
			}
		})
	}
	done.Wait()
	return time.Since(start)
}

// BenchmarkAppend writes without a flush, beside the bare loop: x-bare is the
// log's speed in terms of that.
func BenchmarkAppend(b *testing.B) {
	payload := make([]byte, recordBytes)
	run := func(t target, n int) time.Duration {
		start := time.Now()
		for range n {
			t.append(payload)
		}
		return time.Since(start)
	}
	beside(b, newLogTarget(b), newBareTarget(b), 1000, run)
}

// BenchmarkAppendSync writes with every record flushed before the next of the
// same goroutine.
func BenchmarkAppendSync(b *testing.B) {
	for _, writers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			l := newLogTarget(b)
			beside(b, l, newBareTarget(b), 20*writers, func(t target, n int) time.Duration {
				return write(t, writers, n)
			})
			b.ReportMetric(float64(l.next-1)/float64(l.flushes()), "records/flush")
		})
	}
}

// beside runs b.N operations on the log and as many on the bare loop, turn and
// turn about so that both meet the same disk.
func beside(b *testing.B, log, bare target, turn int, run func(t target, n int) time.Duration) {
	b.ReportAllocs()
	b.ResetTimer()
	var logTime, bareTime time.Duration
	for left := b.N; left > 0; left -= turn {
		n := min(left, turn)
		logTime += run(log, n)
		b.StopTimer()
		bareTime += run(bare, n)
		b.StartTimer()
	}
	b.StopTimer()
	b.ReportMetric(float64(bareTime)/float64(logTime), "x-bare")
	b.ReportMetric(float64(bareTime.Nanoseconds())/float64(b.N), "bare-ns/op")
}

// BenchmarkOpen reads a log of some records.
func BenchmarkOpen(b *testing.B) {
	const records = 10_000
	l := newLogTarget(b)
	payload := make([]byte, recordBytes)
	for range records {
		l.append(payload)
	}
	name := l.log.Path()
	require.NoError(b, l.log.CloseClean())
	b.SetBytes(records * recordBytes)
	b.ReportAllocs()
	for b.Loop() {
		l, rec, err := wal.Open(name, [16]byte{}, wal.Options{}, func(*wal.Block) error { return nil })
		require.NoError(b, err)
		require.Equal(b, records, rec.Blocks)
		require.NoError(b, l.Close())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
}
