package wal

import (
	"errors"
	"io"
)

// windowBytes is how much of a file is read at once.
const windowBytes = 256 << 10

// window reads a file front to back through one buffer.
type window struct {
	file io.ReaderAt
	size int64  // of the file
	off  int64  // in the file, of buf
	buf  []byte // what was read last
}

// at returns n bytes at off, which must lie within the file. They are valid
// until the next call.
func (w *window) at(off int64, n int) ([]byte, error) {
	if i := off - w.off; i >= 0 && i+int64(n) <= int64(len(w.buf)) {
		return w.buf[i : i+int64(n)], nil
	}
	if err := w.fill(off, n); err != nil {
		return nil, err
	}
	return w.buf[:n], nil
}

// fill reads at least n bytes at off.
func (w *window) fill(off int64, n int) error {
	want := int(min(int64(max(n, windowBytes)), w.size-off))
	if cap(w.buf) < want {
		w.buf = make([]byte, want)
	}
	w.off, w.buf = off, w.buf[:want]
	got, err := w.file.ReadAt(w.buf, off)
	if got == want {
		return nil
	}
	w.buf = w.buf[:0]
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // the file became shorter
	}
	return err
}
