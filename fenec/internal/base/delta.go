package base

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// delta keeps the folds that a compaction misses, in a file without a name: a
// process that ends leaves nothing of it behind. Adding to a nil delta does
// nothing.
//
// A change is its operation and space, 1 and 4 bytes, and its key and value,
// each after its length as a uvarint. After the changes of a fold comes endOfFold
// and the fold's sequence, 8 bytes big endian.
type delta struct {
	file   *os.File
	w      *bufio.Writer
	failed error // of a write; the compaction cannot end well then
	done   int64 // where the next fold to be read begins
}

const endOfFold = 0xFF

func newDelta(dir string) (*delta, error) {
	f, err := os.CreateTemp(dir, "*"+CompactingSuffix+"-folds")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &delta{file: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

// add adds a change of the fold that is going on.
func (d *delta) add(c Change) {
	if d == nil || d.failed != nil {
		return
	}
	var head [5 + binary.MaxVarintLen64]byte
	head[0] = byte(c.Op)
	binary.BigEndian.PutUint32(head[1:], c.Space)
	n := binary.PutUvarint(head[5:], uint64(len(c.Key)))
	d.write(head[:5+n])
	d.write(c.Key)
	n = binary.PutUvarint(head[:], uint64(len(c.Value)))
	d.write(head[:n])
	d.write(c.Value)
}

// end says that the fold is in the file.
func (d *delta) end(seq uint64) {
	if d == nil || d.failed != nil {
		return
	}
	d.write(binary.BigEndian.AppendUint64([]byte{endOfFold}, seq))
	if err := d.w.Flush(); err != nil {
		d.failed = err
	}
}

func (d *delta) write(b []byte) {
	if _, err := d.w.Write(b); err != nil {
		d.failed = err
	}
}

func (d *delta) close() { _ = d.file.Close() }

// replay calls fold for each whole fold that it was not called for before, and
// returns how many bytes they were. It may run beside a fold.
func (d *delta) replay(fold func(seq uint64, changes []Change) error) (n int64, err error) {
	r := deltaReader{r: bufio.NewReaderSize(io.NewSectionReader(d.file, d.done, 1<<62), 256<<10)}
	for {
		seq, changes, err := r.fold()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return n, nil // what follows is not whole yet
		}
		if err == nil {
			err = fold(seq, changes)
		}
		if err != nil {
			return n, err
		}
		n += r.read
		d.done += r.read
	}
}

type deltaReader struct {
	r    *bufio.Reader
	read int64 // bytes of the fold
	err  error
}

// fold reads one fold. The end of the file within it is io.EOF or
// io.ErrUnexpectedEOF.
func (r *deltaReader) fold() (seq uint64, changes []Change, err error) {
	r.read, r.err = 0, nil
	for {
		op := r.bytes(1)
		if r.err != nil {
			return 0, nil, r.err
		}
		if op[0] == endOfFold {
			b := r.bytes(8)
			if r.err != nil {
				return 0, nil, r.err
			}
			return binary.BigEndian.Uint64(b), changes, nil
		}
		c := Change{Op: Op(op[0])}
		if b := r.bytes(4); r.err == nil {
			c.Space = binary.BigEndian.Uint32(b)
		}
		c.Key = r.bytes(r.uvarint())
		c.Value = r.bytes(r.uvarint())
		changes = append(changes, c)
	}
}

func (r *deltaReader) bytes(n uint64) []byte {
	if r.err != nil {
		return nil
	}
	b := make([]byte, n)
	_, r.err = io.ReadFull(r.r, b)
	r.read += int64(n)
	return b
}

func (r *deltaReader) uvarint() uint64 {
	if r.err != nil {
		return 0
	}
	v, err := binary.ReadUvarint(r.r)
	r.err = err
	r.read += int64(len(binary.AppendUvarint(nil, v)))
	return v
}
