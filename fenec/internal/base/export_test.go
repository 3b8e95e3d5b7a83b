package base

import (
	"context"
	"testing"
)

// SetMapAhead changes how far maps reach, until the test ends.
func SetMapAhead(t *testing.T, n int64) {
	old := mapAhead
	mapAhead = n
	t.Cleanup(func() { mapAhead = old })
}

// Compact compacts the file with nothing folded meanwhile.
func (f *File) Compact() error {
	c, err := f.BeginCompaction()
	if err != nil {
		return err
	}
	if err := c.Copy(context.Background()); err != nil {
		c.Cancel()
		return err
	}
	return c.Install()
}
