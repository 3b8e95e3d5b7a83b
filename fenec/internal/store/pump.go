package store

import (
	"errors"
	"io"
	"os"
)

const (
	// pieceBytes is how much of an image is read and written at once.
	pieceBytes = 512 << 10
	// pieces is how many there are of one that are read and not yet written.
	pieces = 3
)

// pump copies n bytes from r to w and returns how many were read. Of more than a piece
// one is read while those before it are written, in a goroutine of its own. It fails
// with io.EOF if r ends early.
func pump(w io.Writer, r io.Reader, n int64) (read int64, err error) {
	if n <= pieceBytes {
		b := make([]byte, n)
		got, err := readPiece(r, b)
		if err == nil {
			_, err = w.Write(b)
		}
		return int64(got), err
	}
	p := newPipe()
	written := make(chan error, 1)
	go func() { written <- p.writeTo(w) }()
	read, err = p.readFrom(r, n)
	return read, errors.Join(err, <-written)
}

// pipe has the pieces on their way from a reader to a writer and back. Neither waits to
// give one away, since there is room for all, and each closes its end when it is done.
type pipe struct{ full, empty chan []byte }

func newPipe() pipe {
	p := pipe{make(chan []byte, pieces), make(chan []byte, pieces)}
	for range pieces {
		p.empty <- make([]byte, pieceBytes)
	}
	return p
}

func (p *pipe) readFrom(r io.Reader, n int64) (read int64, err error) {
	defer close(p.full)
	for read < n {
		b, ok := <-p.empty
		if !ok {
			return read, nil // the writer tells why
		}
		b = b[:min(int64(cap(b)), n-read)]
		got, err := readPiece(r, b)
		if read += int64(got); err != nil {
			return read, err
		}
		p.full <- b
	}
	return read, nil
}

func (p *pipe) writeTo(w io.Writer) error {
	defer close(p.empty)
	for b := range p.full {
		if _, err := w.Write(b); err != nil {
			return err
		}
		p.empty <- b
	}
	return nil
}

// readPiece fills b. The error is that of r, io.EOF too.
func readPiece(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var got int
		got, err = r.Read(b[n:])
		n += got
	}
	if n == len(b) {
		return n, nil
	}
	return n, err
}

// behindBytes is how much is written before the system is asked to begin with it.
const behindBytes = 4 << 20

// writeBehind writes a file from its beginning, and has what is written be brought to
// disk meanwhile: the flush at the end then waits for little.
type writeBehind struct {
	file        *os.File
	at, started int64 // written; of that, asked for
}

func (w *writeBehind) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if w.at += int64(n); w.at-w.started >= behindBytes {
		startFlush(w.file, w.started, w.at-w.started)
		w.started = w.at
	}
	return n, err
}
