package base

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Reader reads the file as t sees it, which is a complete base with the same id of
// Bytes bytes. It can be read for as long as t is held.
func (t *Tx) Reader() (io.Reader, error) {
	metas, err := t.metas()
	if err != nil {
		return nil, err
	}
	first := int64(len(metas))
	return io.MultiReader(bytes.NewReader(metas), io.NewSectionReader(t.file, first, t.Bytes()-first)), nil
}

// Bytes returns how much Reader reads.
func (t *Tx) Bytes() int64 { return t.tx.Size() }

// metas returns the two pages that the copy begins with. Those of the file may be of
// later folds.
func (t *Tx) metas() (b []byte, err error) {
	defer recoverCorrupt(t.path, &err)
	defer endFaults(catchFaults())
	w := beginning{most: 2 * int(t.pages.size)}
	if _, err := t.tx.WriteTo(&w); err != nil && !errors.Is(err, errBegun) {
		return nil, fmt.Errorf("base %s: copy: %w", t.path, err)
	}
	return w.b, nil
}

// beginning keeps the first bytes that are written to it, and refuses more.
type beginning struct {
	b    []byte
	most int
}

var errBegun = errors.New("the beginning is written")

func (w *beginning) Write(p []byte) (int, error) {
	n := min(len(p), w.most-len(w.b))
	w.b = append(w.b, p[:n]...)
	if n < len(p) {
		return n, errBegun
	}
	return n, nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
