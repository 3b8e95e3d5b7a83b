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

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/wal"
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

// Image is a whole copy of a store as of one sequence, to be read once.
type Image struct {
	io.Reader
	size int64
	seq  uint64
	file *os.File
	path string
}

// Size returns how many bytes the image has.
func (m *Image) Size() int64 { return m.size }

// Seq returns the sequence the image is complete up to.
func (m *Image) Seq() uint64 { return m.seq }

// Close gives the copy up.
func (m *Image) Close() error { return errors.Join(m.file.Close(), removeIfThere(m.path)) }

// OpenImage folds everything, copies the base to a side file and returns it to
// be read at leisure. Writes go on meanwhile; folds wait for the copying only.
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
	return s.copyBase()
}

// dropEmptyLog removes the log if the base holds all that is in it. So a store that
// nobody writes to after its image comes back at the image's sequence however it ends:
// with a log it would go on past what that has reserved. The folding lock is held.
func (s *Store) dropEmptyLog() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	log := s.log.Load()
	if log == nil || s.turned != nil || s.Seq() != s.base.Folded() {
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

// foldThrough folds until the base holds everything up to seq, ending the
// snapshots that are in the way for longer than imageGrace.
func (s *Store) foldThrough(ctx context.Context, seq uint64) error {
	for s.base.Folded() < seq {
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
	return nil
}

func (s *Store) copyBase() (m *Image, err error) {
	tx, err := s.base.Acquire()
	if err != nil {
		return nil, s.closedOr(err)
	}
	defer tx.Release()
	dir, name := filepath.Split(s.path)
	f, err := os.CreateTemp(dir, name+".image-*")
	if err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	// Where the system allows it the name goes at once, so that no crash leaves
	// the file behind; elsewhere Close removes it.
	_ = os.Remove(f.Name())
	m = &Image{Reader: f, file: f, path: f.Name(), seq: tx.Folded()}
	if err := m.fill(tx); err != nil {
		return nil, errors.Join(fmt.Errorf("image: %w", err), m.Close())
	}
	return m, nil
}

func (m *Image) fill(tx *base.Tx) error {
	sum := sha256.New()
	w := io.MultiWriter(m.file, sum)
	header := make([]byte, 0, imageHeader)
	header = append(header, imageMagic...)
	header = binary.BigEndian.AppendUint32(header, imageVersion)
	header = binary.BigEndian.AppendUint32(header, 0)
	header = binary.BigEndian.AppendUint64(header, uint64(tx.Bytes()))
	header = binary.BigEndian.AppendUint64(header, m.seq)
	if _, err := w.Write(header); err != nil {
		return err
	}
	n, err := tx.WriteTo(w)
	if err == nil && n != tx.Bytes() {
		err = fmt.Errorf("copied %d of %d bytes", n, tx.Bytes())
	}
	if err != nil {
		return err
	}
	if _, err := m.file.Write(sum.Sum(nil)); err != nil {
		return err
	}
	m.size = imageHeader + n + imageSum
	_, err = m.file.Seek(0, io.SeekStart)
	return err
}

// importingPath returns where an image is gathered before it gets its name.
func importingPath(path string) string { return path + ".importing" }

// Install makes a store at path out of an image. The name appears only when
// the whole image has arrived, is undamaged and is on disk; until then nothing
// at path changes. It fails with fs.ErrExist if path is taken and with ErrImage
// if r does not hold exactly one image. step is as Options.Step, or nil.
func Install(path string, r io.Reader, step func(string)) error {
	a, err := Receive(path, r, step)
	if err != nil {
		return err
	}
	return errors.Join(a.Publish(), a.Close())
}

// Arrival is a store that came as an image: whole, on disk and locked, in a side
// file that waits for its name.
type Arrival struct {
	path string // the name
	file *base.File
	step func(string)
}

// Receive gathers an image beside path, as Install does, for Publish to give it
// that name. Close the Arrival in any case.
func Receive(path string, r io.Reader, step func(string)) (*Arrival, error) {
	if step == nil {
		step = func(string) {}
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("install %s: %w", path, fs.ErrExist)
	}
	side := importingPath(path)
	// What an interrupted one left there may have got its name since.
	if err := removeIfThere(side); err != nil {
		return nil, fmt.Errorf("install %s: %w", path, err)
	}
	f, err := receiveAndAdopt(side, r, step)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("install %s: %w", path, err), removeIfThere(side))
	}
	return &Arrival{path, f, step}, nil
}

// Publish gives the store its name. It fails with fs.ErrExist if that is taken.
func (a *Arrival) Publish() error {
	// The lock is held until nothing of the name's former owner is left.
	if err := publish(importingPath(a.path), a.path, a.step); err != nil {
		return fmt.Errorf("install %s: %w", a.path, err)
	}
	a.step("installed")
	return nil
}

// Close unlocks a store that has its name, and removes any other.
func (a *Arrival) Close() error {
	return errors.Join(a.file.Close(), removeIfThere(importingPath(a.path)))
}

func receiveAndAdopt(side string, r io.Reader, step func(string)) (*base.File, error) {
	step("install: receive")
	if err := receive(side, r); err != nil {
		return nil, err
	}
	step("install: adopt")
	f, err := base.Adopt(side)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrImage, err)
	}
	return f, nil
}

// publish gives the locked base at side its name and removes the logs that lie
// beside that. A crash in between leaves logs of another base, which the next
// open sets aside.
func publish(side, path string, step func(string)) error {
	step("install: publish")
	if err := base.Publish(side, path); err != nil {
		return err
	}
	step("install: remove logs")
	return removeLogs(path, wal.OS)
}

// receive writes the base within the image to path, durably.
func receive(path string, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = copyImage(f, r)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func copyImage(w io.Writer, r io.Reader) error {
	sum := sha256.New()
	length, err := readImageHeader(io.TeeReader(r, sum))
	if err != nil {
		return err
	}
	n, err := io.CopyN(io.MultiWriter(w, sum), r, length)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it holds %d of %d bytes", ErrImage, n, length)
	}
	if err != nil {
		return err
	}
	return readImageSum(r, sum)
}

func readImageHeader(r io.Reader) (length int64, err error) {
	var header [imageHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, imageReadError("header", err)
	}
	if string(header[:8]) != imageMagic {
		return 0, fmt.Errorf("%w: it does not begin like one", ErrImage)
	}
	if v := binary.BigEndian.Uint32(header[8:]); v != imageVersion {
		return 0, fmt.Errorf("%w: version %d, this program reads %d", ErrImage, v, imageVersion)
	}
	length = int64(binary.BigEndian.Uint64(header[16:]))
	if length < 0 {
		return 0, fmt.Errorf("%w: its length is damaged", ErrImage)
	}
	return length, nil
}

func readImageSum(r io.Reader, sum hash.Hash) error {
	var want [imageSum]byte
	if _, err := io.ReadFull(r, want[:]); err != nil {
		return imageReadError("checksum", err)
	}
	if !bytes.Equal(want[:], sum.Sum(nil)) {
		return fmt.Errorf("%w: the checksum does not match", ErrImage)
	}
	switch _, err := io.ReadFull(r, make([]byte, 1)); {
	case err == nil:
		return fmt.Errorf("%w: bytes follow its end", ErrImage)
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

func imageReadError(what string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends within its %s", ErrImage, what)
	}
	return err
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
