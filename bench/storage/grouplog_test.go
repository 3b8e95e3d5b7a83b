package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Every record of many writers is in the file once, whole and in a frame.
func TestGroupLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	g, err := openGroupLog(path)
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 16, 20
	var wg sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		wg.Go(func() {
			for i := 0; i < each && errs[w] == nil; i++ {
				errs[w] = g.append(fmt.Appendf(nil, "writer %d record %d", w, i))
			}
		})
	}
	wg.Wait()
	for _, err := range append(errs, g.close()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for len(log) > 0 {
		n, sum := binary.LittleEndian.Uint32(log), binary.LittleEndian.Uint32(log[4:])
		rec := log[8 : 8+n]
		if crc32.Checksum(rec, castagnoli) != sum {
			t.Fatalf("record %q does not match its checksum", rec)
		}
		seen[string(rec)] = true
		log = log[8+n:]
	}
	if len(seen) != writers*each {
		t.Errorf("%d records are in the log, want %d", len(seen), writers*each)
	}
}

// A log that cannot be written says so to every writer.
func TestGroupLogFails(t *testing.T) {
	g, err := openGroupLog(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := g.append(bytes.Repeat([]byte{1}, 10)); err == nil {
			t.Error("a record was taken by a closed log")
		}
	}
}
