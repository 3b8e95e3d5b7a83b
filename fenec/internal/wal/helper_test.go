package wal_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

const path = "dir/acme.fenec-log"

var (
	base = [16]byte{1, 2, 3}
	pid  = os.Getpid()
)

// block is what a test knows about a block it wrote.
type block struct {
	from, to uint64
	millis   int64
	payload  string
}

func (b block) wal() wal.Block {
	return wal.Block{From: b.from, To: b.to, UnixMilli: b.millis, Payload: []byte(b.payload)}
}

// numbered returns block i of a series, with a payload of about n bytes.
func numbered(i, n int) block {
	text := fmt.Sprintf("block %d ", i)
	for len(text) < n {
		text += text
	}
	return block{from: uint64(i), to: uint64(i), millis: int64(1000 + i), payload: text[:max(n, 0)]}
}

// collect returns a callback that appends blocks to got, parts put together.
func collect(got *[]block) func(*wal.Block) error {
	return func(b *wal.Block) error {
		var payload bytes.Buffer
		for part, err := range b.Parts() {
			if err != nil {
				return err
			}
			payload.Write(part)
		}
		*got = append(*got, block{from: b.From, to: b.To, millis: b.UnixMilli, payload: payload.String()})
		return nil
	}
}

func create(t testing.TB, fsys wal.FS) *wal.Log {
	t.Helper()
	l, err := wal.Create(path, wal.Header{Base: base}, wal.Options{FS: fsys})
	require.NoError(t, err)
	return l
}

// open opens the log at path, which must be there, and returns its blocks.
func open(t testing.TB, fsys wal.FS) (*wal.Log, wal.Recovery, []block) {
	t.Helper()
	var got []block
	l, rec, err := wal.Open(path, base, wal.Options{FS: fsys}, collect(&got))
	require.NoError(t, err)
	require.NotNil(t, l)
	return l, rec, got
}

func add(t testing.TB, l *wal.Log, blocks ...block) (end int64) {
	t.Helper()
	for _, b := range blocks {
		var err error
		end, err = l.Append(b.wal())
		require.NoError(t, err)
	}
	return end
}

// addParts writes b in parts of n bytes.
func addParts(t testing.TB, l *wal.Log, b block, n int) (end int64) {
	t.Helper()
	rest := b.wal()
	for len(rest.Payload) > n {
		part := rest
		part.Payload, rest.Payload = rest.Payload[:n], rest.Payload[n:]
		require.NoError(t, l.AppendPart(part))
	}
	end, err := l.Append(rest)
	require.NoError(t, err)
	return end
}

func sync(t testing.TB, l *wal.Log) {
	t.Helper()
	require.NoError(t, l.Sync(context.Background()))
	require.Equal(t, l.End(), l.Durable())
	require.Equal(t, l.Last(), l.DurableSeq())
}

func contents(t testing.TB, m *waltest.Mem) []byte {
	t.Helper()
	b, err := m.ReadFile(path)
	require.NoError(t, err)
	return b
}

// withFile returns a file system that holds b as the log.
func withFile(b []byte) *waltest.Mem {
	m := waltest.NewMem()
	m.WriteFile(path, b)
	return m
}

func readTestdata(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return b
}
