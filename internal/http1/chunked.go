package http1

import (
	"bytes"
	"io"
)

// maxChunkLine bounds the line that starts a chunk, extensions included.
const maxChunkLine = 1 << 10

// ChunkedReader serves the body of a chunked message, once Reset has said where
// it is. It ends with io.EOF behind
// the last chunk and leaves the reader at the next message. Extensions are
// skipped. Anything malformed, a trailer included, is an *Error; a stream that
// ends early is ErrCutShort.
type ChunkedReader struct {
	r    *Reader
	left int64 // of the current chunk
	open bool  // the current chunk's line end has not been read
	err  error
}

// Reset makes the reader serve the chunks behind the last head of r.
func (c *ChunkedReader) Reset(r *Reader) { *c = ChunkedReader{r: r} }

func (c *ChunkedReader) Read(p []byte) (int, error) {
	if c.err == nil && c.left == 0 {
		c.err = c.next()
	}
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if err != nil {
		c.err = cutShort(err)
	}
	return n, c.err
}

// next reads up to the data of the next chunk.
func (c *ChunkedReader) next() error {
	if err := c.endChunk(); err != nil {
		return err
	}
	line, err := c.r.line(maxChunkLine)
	if err != nil {
		return err
	}
	if c.left, err = chunkSize(line); err != nil {
		return err
	}
	c.open = c.left > 0
	if c.open {
		return nil
	}
	return c.endBody()
}

// endChunk reads the line end behind a chunk's data.
func (c *ChunkedReader) endChunk() error {
	if !c.open {
		return nil
	}
	c.open = false
	line, err := c.r.line(1)
	if err == nil && len(line) > 0 {
		err = errChunk
	}
	return err
}

// endBody reads the blank line behind the last chunk.
func (c *ChunkedReader) endBody() error {
	line, err := c.r.line(maxChunkLine)
	if err != nil {
		return err
	}
	if len(line) > 0 {
		return errTrailer
	}
	return io.EOF
}

// chunkSize reads a chunk's line: 1 to 15 hexadecimal digits, then extensions.
func chunkSize(line []byte) (int64, error) {
	digits, extensions, _ := bytes.Cut(line, semicolon)
	digits = bytes.TrimRight(digits, " \t")
	if len(digits) == 0 || len(digits) > 15 || !all(extensions, inValue) {
		return 0, errChunk
	}
	var n int64
	for _, d := range digits {
		v, ok := unhex(d)
		if !ok {
			return 0, errChunk
		}
		n = n<<4 | int64(v)
	}
	return n, nil
}

var semicolon = []byte{';'}
