package http1_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fenec-go/fenecdb/internal/http1"
	"github.com/stretchr/testify/require"
)

// readers are the ways in which the same stream may arrive.
var readers = map[string]func(io.Reader) io.Reader{
	"at once":        func(r io.Reader) io.Reader { return r },
	"byte by byte":   iotest.OneByteReader,
	"in halves":      iotest.HalfReader,
	"end with bytes": iotest.DataErrReader,
}

func TestReaderHeads(t *testing.T) {
	const one, two = "GET /1 HTTP/1.1\r\nA: b\r\n\r\n", "POST /2 HTTP/1.1\r\nContent-Length: 5\r\n\r\n"
	for name, wrap := range readers {
		t.Run(name, func(t *testing.T) {
			r := http1.NewReader(wrap(strings.NewReader(one + two + "hello" + one)))
			head, err := r.Head()
			require.NoError(t, err)
			require.Equal(t, one, string(head))

			head, err = r.Head()
			require.NoError(t, err)
			body := make([]byte, 5)
			_, err = io.ReadFull(r, body)
			require.NoError(t, err)
			require.Equal(t, "hello", string(body))
			require.Equal(t, two, string(head), "reading the body must not touch the head")

			head, err = r.Head()
			require.NoError(t, err)
			require.Equal(t, one, string(head))
			_, err = r.Head()
			require.Equal(t, io.EOF, err)
		})
	}
}

func TestReaderTake(t *testing.T) {
	r := http1.NewReader(strings.NewReader("GET / HTTP/1.1\r\n\r\nabc"))
	head, err := r.Head()
	require.NoError(t, err)
	require.Equal(t, 3, r.Buffered())
	require.Equal(t, "ab", string(r.Take(2)))
	require.Equal(t, "c", string(r.Take(10)))
	require.Empty(t, r.Take(10))
	require.Equal(t, "GET / HTTP/1.1\r\n\r\n", string(head))
}

func TestReaderCutShort(t *testing.T) {
	const head = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	for n := 1; n < len(head); n++ {
		_, err := http1.NewReader(strings.NewReader(head[:n])).Head()
		require.Equal(t, http1.ErrCutShort, err, "after %d bytes", n)
	}
}

func TestReaderStreamError(t *testing.T) {
	silent := iotest.ErrReader(os.ErrDeadlineExceeded)
	r := http1.NewReader(silent)
	_, err := r.Head()
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Zero(t, r.Buffered(), "no head had begun")

	r = http1.NewReader(io.MultiReader(strings.NewReader("GET /"), silent))
	_, err = r.Head()
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Equal(t, 5, r.Buffered(), "a head had begun")
}

func TestReaderLimit(t *testing.T) {
	head := func(n int) string {
		const start, end = "GET / HTTP/1.1\r\nA: ", "\r\n\r\n"
		return start + strings.Repeat("x", n-len(start)-len(end)) + end
	}
	for name, wrap := range readers {
		t.Run(name, func(t *testing.T) {
			got, err := http1.NewReader(wrap(strings.NewReader(head(http1.MaxHead)))).Head()
			require.NoError(t, err)
			require.Len(t, got, http1.MaxHead)

			for _, long := range []string{head(http1.MaxHead + 1), head(3 * http1.MaxHead), strings.Repeat("x", 2*http1.MaxHead)} {
				_, err = http1.NewReader(wrap(strings.NewReader(long))).Head()
				var refused *http1.Error
				require.True(t, errors.As(err, &refused), "got %v", err)
				require.Equal(t, 431, refused.Status)
			}
		})
	}
}

// TestReaderLooseEnds makes sure that a head which a lenient reader would see
// end early is not handed out with more in it than that.
func TestReaderLooseEnds(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\n\n", "\n\r\n"} {
		loose := "GET / HTTP/1.1\r\nA: b" + end
		head, err := http1.NewReader(strings.NewReader(loose + "GET /smuggled HTTP/1.1\r\n\r\n")).Head()
		require.NoError(t, err)
		require.Equal(t, loose, string(head))
		require.Error(t, new(http1.Request).Parse(head), "%q", end)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n"), uint8(3))
	f.Add([]byte("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), uint8(1))
	f.Fuzz(func(t *testing.T, stream []byte, step uint8) {
		whole := messages(http1.NewReader(bytes.NewReader(stream)))
		parts := messages(http1.NewReader(&stepReader{stream, int(step%7) + 1}))
		require.Equal(t, whole, parts, "how a stream is cut must not matter")
	})
}

// messages reads requests with their bodies until something is refused.
func messages(r *http1.Reader) (out []string) {
	for {
		head, err := r.Head()
		if err != nil {
			return append(out, ending(err))
		}
		var q http1.Request
		if err := q.Parse(head); err != nil {
			return append(out, ending(err))
		}
		out = append(out, string(head))
		var body io.Reader = io.LimitReader(r, max(q.Length, 0))
		if q.Chunked {
			chunked := &http1.ChunkedReader{}
			chunked.Reset(r)
			body = chunked
		}
		text, err := io.ReadAll(body)
		out = append(out, string(text))
		if err != nil {
			return append(out, ending(err))
		}
	}
}

// ending is what does not depend on how the stream was cut: not which of two
// faults was seen first.
func ending(err error) string {
	var refused *http1.Error
	if errors.As(err, &refused) {
		return fmt.Sprint(refused.Status)
	}
	return err.Error()
}

// stepReader serves at most step bytes at a time.
type stepReader struct {
	rest []byte
	step int
}

func (s *stepReader) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.rest[:min(s.step, len(s.rest))])
	s.rest = s.rest[n:]
	return n, nil
}
