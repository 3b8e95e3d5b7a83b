package main

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"sync"
)

// groupLog is the least a durable log can be: records framed with a length and
// a CRC32C, appended to one file, and an fdatasync shared by whoever wrote while
// the one before it ran. The first writer of a batch flushes it.
type groupLog struct {
	f *os.File

	mu   sync.Mutex      // guards the fields below
	cur  *logBatch       // what is being filled
	prev <-chan struct{} // closed when the batch before cur is on disk
}

// logBatch is the records of one flush. Its err may be read once done is closed.
type logBatch struct {
	buf  []byte
	done chan struct{}
	err  error
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func openGroupLog(path string) (*groupLog, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	none := make(chan struct{})
	close(none)
	return &groupLog{f: f, cur: newLogBatch(nil), prev: none}, nil
}

func newLogBatch(buf []byte) *logBatch {
	return &logBatch{buf: buf[:0], done: make(chan struct{})}
}

// append returns once rec is on disk.
func (g *groupLog) append(rec []byte) error {
	g.mu.Lock()
	b := g.cur
	leads := len(b.buf) == 0
	b.buf = appendFrame(b.buf, rec)
	prev := g.prev
	g.mu.Unlock()
	if leads {
		<-prev
		g.flush(b)
	}
	<-b.done
	return b.err
}

// flush writes b, which then takes no more records. The batch before it is on
// disk already.
func (g *groupLog) flush(b *logBatch) {
	g.mu.Lock()
	g.cur, g.prev = newLogBatch(nil), b.done
	g.mu.Unlock()
	if _, b.err = g.f.Write(b.buf); b.err == nil {
		b.err = datasync(g.f)
	}
	close(b.done)
}

func (g *groupLog) close() error { return g.f.Close() }

// appendFrame appends rec behind its length and checksum.
func appendFrame(dst, rec []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(rec)))
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(rec, castagnoli))
	return append(dst, rec...)
}
