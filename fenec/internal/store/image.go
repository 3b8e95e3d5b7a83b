package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// An image is a header, a whole base and a checksum:
//
//	magic    8 bytes  "FENECIMG"
//	version  4 bytes  big endian
//	zero     4 bytes
//	length   8 bytes  of the base, big endian
//	sequence 8 bytes  the base is complete up to, big endian
//	base     length bytes
//	sum      32 bytes SHA-256 of everything before
const (
	imageMagic   = "FENECIMG"
	imageVersion = 1
	imageHeader  = 32
	imageSum     = sha256.Size
)

// ErrImage is returned for an image that is cut short, damaged, or none.
var ErrImage = errors.New("not a whole image")

// Image is a whole copy of a store as of one sequence, to be read once. One goroutine
// at a time may read it.
//
// It is read from the base, of which it holds a transaction: what folds replace is not
// given free meanwhile, a fold that has to enlarge the base's map waits, and so does the
// close of the base. Therefore the rest is copied to a side file, and read from there,
// when the store is closed before all is read, or folds find that it takes long.
type Image struct {
	size int64
	seq  uint64
	path string // of the base
	set  *images

	mu   sync.Mutex // guards the fields below; held while the image is read or copied, not while that goes elsewhere
	tx   *base.Tx   // nil once it is let go of
	from io.Reader  // what has not been read yet of the header and the base
	left int64      // in from, bytes
	sum  hash.Hash  // of what has been read
	end  []byte     // what has not been read yet of the checksum
	side *os.File   // or nil
	err  error      // why no more can be read, or nil
}

// Size returns how many bytes the image has.
func (m *Image) Size() int64 { return m.size }

// Seq returns the sequence the image is complete up to.
func (m *Image) Seq() uint64 { return m.seq }

// Close gives the image up.
func (m *Image) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = fs.ErrClosed
	m.letGoLocked()
	side := m.side
	m.side = nil
	if side == nil {
		return nil
	}
	return errors.Join(side.Close(), removeIfThere(side.Name()))
}

// OpenImage folds everything and returns the base to be read at leisure. Writes go on
// meanwhile, and so do folds.
func (s *Store) OpenImage(ctx context.Context) (*Image, error) {
	s.folding.Lock()
	defer s.folding.Unlock()
	if err := s.openAndWell(); err != nil {
		return nil, err
	}
	if err := s.foldThrough(ctx, s.Seq()); err != nil {
		return nil, err
	}
	if err := s.dropEmptyLog(); err != nil {
		return nil, err
	}
	s.opts.Step("image")
	return s.imageOfBase()
}

// dropEmptyLog removes the log if the base holds all that is in it. So a store that
// nobody writes to after its image comes back at the image's sequence however it ends:
// with a log it would go on past what that has reserved. The folding lock is held.
func (s *Store) dropEmptyLog() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	log := s.log.Load()
	if log == nil || s.turned != nil || s.Seq() != s.base.Folded() || s.notesWait() {
		return nil
	}
	s.opts.Step("drop empty log")
	s.log.Store(nil)
	err := log.Close()
	if rerr := s.opts.FS.Remove(LogPath(s.path)); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}

// foldThrough folds until the base holds everything up to seq, and what owners have
// for it, ending the snapshots that are in the way for longer than imageGrace.
func (s *Store) foldThrough(ctx context.Context, seq uint64) error {
	for {
		if err := s.checkpointLocked(); err != nil {
			return err
		}
		if s.base.Folded() >= seq {
			return nil
		}
		if s.background.blocked.Load() {
			s.background.press(imageGrace)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

func (s *Store) imageOfBase() (*Image, error) {
	tx, err := s.base.Acquire()
	if err != nil {
		return nil, s.closedOr(err)
	}
	r, err := tx.Reader()
	if err != nil {
		tx.Release()
		return nil, fmt.Errorf("image: %w", err)
	}
	m := &Image{
		size: imageHeader + tx.Bytes() + imageSum, seq: tx.Folded(), path: s.path, set: &s.images,
		tx: tx, left: imageHeader + tx.Bytes(), sum: sha256.New(),
	}
	m.from = io.MultiReader(bytes.NewReader(m.header(tx.Bytes())), r)
	s.images.add(m)
	return m, nil
}

func (m *Image) header(length int64) []byte {
	header := make([]byte, 0, imageHeader)
	header = append(header, imageMagic...)
	header = binary.BigEndian.AppendUint32(header, imageVersion)
	header = binary.BigEndian.AppendUint32(header, 0)
	header = binary.BigEndian.AppendUint64(header, uint64(length))
	return binary.BigEndian.AppendUint64(header, m.seq)
}

// Read reads the image's next bytes.
func (m *Image) Read(p []byte) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.err != nil:
		return 0, m.err
	case m.left > 0:
		return m.readLocked(p)
	}
	n = copy(p, m.end)
	if m.end = m.end[n:]; n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (m *Image) readLocked(p []byte) (n int, err error) {
	n, err = m.from.Read(p[:min(int64(len(p)), m.left)])
	m.sum.Write(p[:n])
	m.left -= int64(n)
	if m.left == 0 {
		m.end = m.sum.Sum(nil)
		m.letGoLocked()
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		m.err = fmt.Errorf("image: %w", err)
	}
	return n, m.err
}

// WriteTo writes what has not been read yet to w.
func (m *Image) WriteTo(w io.Writer) (n int64, err error) {
	buf := make([]byte, min(pieceBytes, m.size))
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{m}, buf)
}

// letGoLocked lets go of the base.
func (m *Image) letGoLocked() {
	if m.tx == nil {
		return
	}
	m.tx.Release()
	m.tx = nil
	m.set.remove(m)
}

// setAside copies the rest to a side file, and lets go of the base. A failure is for
// whoever reads the image.
func (m *Image) setAside() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tx == nil {
		return
	}
	if err := m.setAsideLocked(); err != nil {
		m.err = fmt.Errorf("image: set aside: %w", err)
	}
	m.letGoLocked()
}

func (m *Image) setAsideLocked() (err error) {
	dir, name := filepath.Split(m.path)
	if m.side, err = os.CreateTemp(dir, name+".image-*"); err != nil {
		return err
	}
	// Where the system allows it the name goes at once, so that no crash leaves
	// the file behind; elsewhere Close removes it.
	_ = os.Remove(m.side.Name())
	n, err := io.CopyBuffer(struct{ io.Writer }{m.side}, m.from, make([]byte, pieceBytes))
	if err == nil && n != m.left {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	m.from = m.side
	_, err = m.side.Seek(0, io.SeekStart)
	return err
}
