package hnsw

import (
	"errors"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Memory that cannot be read gives the guard's error, in whichever goroutine.
func TestLoadGuards(t *testing.T) {
	p := Params{Dim: 4}
	vectors := gaussian(1, 100, 4)
	var d disk
	d.write(build(t, p, vectors).Changes())
	gone, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(gone)) })
	fault := errors.New("fault")
	d.Guard = func(read func() error) (err error) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if recover() != nil {
				err = fault
			}
		}()
		return read()
	}
	g, err := d.load(p, vectors)
	require.NoError(t, err)
	require.Equal(t, 100, g.Len())
	d.Chunks[3] = gone
	_, err = d.load(p, vectors)
	require.ErrorIs(t, err, fault)
}
