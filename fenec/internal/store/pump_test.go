package store

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// failAfter fails once that many bytes have been written.
type failAfter struct {
	left int
	err  error
}

func (w *failAfter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		return 0, w.err
	}
	w.left -= len(p)
	return len(p), nil
}

func TestPump(t *testing.T) {
	broken, full := errors.New("the connection broke"), errors.New("no space")
	data := make([]byte, 5*pieceBytes+17)
	r := rand.New(rand.NewPCG(1, 14))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	for _, n := range []int{0, 1, pieceBytes - 1, pieceBytes, pieceBytes + 1, 3 * pieceBytes, len(data) - 1} {
		var out bytes.Buffer
		from := bytes.NewReader(data)
		got, err := pump(&out, iotest.HalfReader(from), int64(n))
		require.NoError(t, err)
		require.EqualValues(t, n, got)
		require.True(t, bytes.Equal(data[:n], out.Bytes()))
		require.Equal(t, len(data)-n, from.Len(), "no more is read")

		got, err = pump(io.Discard, bytes.NewReader(data[:n]), int64(n+1))
		require.ErrorIs(t, err, io.EOF)
		require.EqualValues(t, n, got)
		for _, why := range []error{broken, io.ErrUnexpectedEOF} {
			_, err = pump(io.Discard, io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(why)), int64(n+1))
			require.ErrorIs(t, err, why)
			require.NotErrorIs(t, err, io.EOF)
		}
		if n > 0 {
			_, err = pump(&failAfter{n - 1, full}, bytes.NewReader(data), int64(n))
			require.ErrorIs(t, err, full)
		}
	}
}
