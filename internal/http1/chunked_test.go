package http1_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/fenec-go/fenecdb/internal/http1"
	"github.com/stretchr/testify/require"
)

const chunkedHead = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"

func chunks(t *testing.T, wrap func(io.Reader) io.Reader, body string) (*http1.Reader, *http1.ChunkedReader) {
	t.Helper()
	r := http1.NewReader(wrap(strings.NewReader(chunkedHead + body)))
	_, err := r.Head()
	require.NoError(t, err)
	chunked := &http1.ChunkedReader{}
	chunked.Reset(r)
	return r, chunked
}

func TestChunkedReader(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	for _, c := range []struct{ name, body, want string }{
		{"empty", "0\r\n\r\n", ""},
		{"two chunks", "5\r\nhello\r\n1;a=b\r\n!\r\n0\r\n\r\n", "hello!"},
		{"upper-case hex, leading zeros", "00A\r\n0123456789\r\n000\r\n\r\n", "0123456789"},
		{"blank before the extension", "1 ;a\r\nx\r\n0 ; last\r\n\r\n", "x"},
		{"line ends in the data", "4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"},
		{"long", "4e20\r\n" + long + "\r\n0\r\n\r\n", long},
	} {
		for name, wrap := range readers {
			t.Run(c.name+" "+name, func(t *testing.T) {
				r, chunked := chunks(t, wrap, c.body+"GET /next HTTP/1.1\r\n\r\n")
				got, err := io.ReadAll(chunked)
				require.NoError(t, err)
				require.Equal(t, c.want, string(got))
				_, err = chunked.Read(make([]byte, 1))
				require.Equal(t, io.EOF, err, "the end stays the end")
				head, err := r.Head()
				require.NoError(t, err)
				require.Equal(t, "GET /next HTTP/1.1\r\n\r\n", string(head))
			})
		}
	}
}

func TestChunkedReaderRefuses(t *testing.T) {
	for name, body := range map[string]string{
		"no size":              "\r\nhello\r\n0\r\n\r\n",
		"not a number":         "x\r\nhello\r\n0\r\n\r\n",
		"sign":                 "+5\r\nhello\r\n0\r\n\r\n",
		"prefix":               "0x5\r\nhello\r\n0\r\n\r\n",
		"blank before":         " 5\r\nhello\r\n0\r\n\r\n",
		"size over 60 bits":    "1000000000000000\r\nhello",
		"bare LF":              "5\nhello\r\n0\r\n\r\n",
		"bare CR in extension": "5;a\rb\r\nhello\r\n0\r\n\r\n",
		"control in extension": "5;\x00\r\nhello\r\n0\r\n\r\n",
		"data too long":        "5\r\nhello!\r\n0\r\n\r\n",
		"data ends with LF":    "5\r\nhello\n0\r\n\r\n",
		"data then garbage":    "5\r\nhelloXX0\r\n\r\n",
		"trailer":              "0\r\nA: b\r\n\r\n",
		"bare LF at the end":   "0\r\n\n",
		"endless extension":    "5;" + strings.Repeat("a", 10_000),
	} {
		for how, wrap := range readers {
			t.Run(name+" "+how, func(t *testing.T) {
				_, chunked := chunks(t, wrap, body)
				_, err := io.ReadAll(chunked)
				var refused *http1.Error
				require.True(t, errors.As(err, &refused), "got %v", err)
				require.Equal(t, 400, refused.Status)
				_, again := chunked.Read(make([]byte, 1))
				require.Equal(t, err, again)
			})
		}
	}
}

func TestChunkedReaderCutShort(t *testing.T) {
	const body = "5\r\nhello\r\n3;a\r\nabc\r\n0\r\n\r\n"
	for n := range len(body) {
		for how, wrap := range readers {
			_, chunked := chunks(t, wrap, body[:n])
			_, err := io.ReadAll(chunked)
			require.ErrorIs(t, err, http1.ErrCutShort, "after %d bytes, %s", n, how)
		}
	}
}

func FuzzChunked(f *testing.F) {
	f.Add([]byte("hello"), uint16(2))
	f.Add([]byte(""), uint16(0))
	f.Fuzz(func(t *testing.T, data []byte, size uint16) {
		var wire []byte
		for rest := data; len(rest) > 0; {
			n := min(int(size)+1, len(rest))
			wire = http1.AppendChunk(wire, rest[:n])
			rest = rest[n:]
		}
		wire = http1.AppendChunk(wire, nil)
		_, chunked := chunks(t, readers["at once"], string(wire))
		got, err := io.ReadAll(chunked)
		require.NoError(t, err)
		require.Equal(t, string(data), string(got))
	})
}
