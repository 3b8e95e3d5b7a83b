package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

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
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("install %s: %w", path, fs.ErrExist)
	}
	return ReceiveBeside(path, r, step)
}

// ReceiveBeside is Receive though path may be taken, by a store that may be open. The
// changes are made to what has come.
func ReceiveBeside(path string, r io.Reader, step func(string), changes ...base.Change) (*Arrival, error) {
	if step == nil {
		step = func(string) {}
	}
	side := importingPath(path)
	// What an interrupted one left there may have got its name since.
	if err := removeIfThere(side); err != nil {
		return nil, fmt.Errorf("install %s: %w", path, err)
	}
	f, err := receiveAndAdopt(side, r, step, changes)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("install %s: %w", path, err), removeIfThere(side))
	}
	return &Arrival{path, f, step}, nil
}

// Publish gives the store its name. It fails with fs.ErrExist if that is taken.
func (a *Arrival) Publish() error { return a.name(base.Publish) }

// Replace gives the store its name, which may be that of another one, closed: that is
// gone then, logs and all. A crash leaves one of the two, whole.
func (a *Arrival) Replace() error { return a.name(base.Replace) }

func (a *Arrival) name(give func(side, path string) error) error {
	// The lock is held until nothing of the name's former owner is left.
	if err := publish(importingPath(a.path), a.path, give, a.step); err != nil {
		return fmt.Errorf("install %s: %w", a.path, err)
	}
	a.step("installed")
	return nil
}

// Close unlocks a store that has its name, and removes any other.
func (a *Arrival) Close() error {
	return errors.Join(a.file.Close(), removeIfThere(importingPath(a.path)))
}

func receiveAndAdopt(side string, r io.Reader, step func(string), changes []base.Change) (*base.File, error) {
	step("install: receive")
	to, err := os.OpenFile(side, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := copyImage(to, r); err != nil {
		return nil, errors.Join(err, to.Close())
	}
	step("install: adopt")
	f, err := base.Adopt(side)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrImage, err), to.Close())
	}
	if err := fold(f, changes); err != nil {
		return nil, errors.Join(err, to.Close(), f.Close())
	}
	// One flush is for what came and for what the adoption has changed. Of a file that
	// was open all the time it tells what could not be written meanwhile, too.
	if err := errors.Join(to.Sync(), to.Close()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// fold makes changes to a base that nobody else uses.
func fold(f *base.File, changes []base.Change) error {
	if len(changes) == 0 {
		return nil
	}
	return f.Fold(f.Folded(), func() (base.Change, bool) {
		if len(changes) == 0 {
			return base.Change{}, false
		}
		c := changes[0]
		changes = changes[1:]
		return c, true
	})
}

// publish has the locked base at side given its name and removes the logs that lie
// beside that. A crash in between leaves logs of another base, which the next
// open sets aside.
func publish(side, path string, give func(side, path string) error, step func(string)) error {
	step("install: publish")
	if err := give(side, path); err != nil {
		return err
	}
	step("install: remove logs")
	return removeLogs(path, wal.OS)
}

// copyImage writes the base within the image to f.
func copyImage(f *os.File, r io.Reader) error {
	sum := sha256.New()
	hashed := io.TeeReader(r, sum)
	length, err := readImageHeader(hashed)
	if err != nil {
		return err
	}
	n, err := pump(&writeBehind{file: f}, hashed, length)
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
