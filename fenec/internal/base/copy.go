package base

import (
	"errors"
	"io"
	"os"
)

// WriteTo writes the file as t sees it: a complete base with the same id.
func (t *Tx) WriteTo(w io.Writer) (n int64, err error) {
	defer recoverCorrupt(t.path, &err)
	defer endFaults(catchFaults())
	return t.tx.WriteTo(w)
}

// Bytes returns how much WriteTo writes.
func (t *Tx) Bytes() int64 { return t.tx.Size() }

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
