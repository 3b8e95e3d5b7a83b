package replication

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Decoder reads the messages of one stream, with no more memory than has arrived.
// After an error it is of no use.
type Decoder struct {
	r     *bufio.Reader
	image *io.LimitedReader // what is left of the last image; nil without one
	order order
}

// NewDecoder returns a decoder of r, of which it reads ahead.
func NewDecoder(r io.Reader) *Decoder { return &Decoder{r: bufio.NewReader(r)} }

// Next returns the next message. It returns io.EOF after an End alone, and
// io.ErrUnexpectedEOF for a stream that was cut off.
func (d *Decoder) Next() (Message, error) {
	if d.order.ended {
		return nil, io.EOF
	}
	if err := d.passImage(); err != nil {
		return nil, err
	}
	var head [headLen]byte
	if _, err := io.ReadFull(d.r, head[:]); err != nil {
		return nil, cut(err)
	}
	m, err := d.message(head[0], binary.LittleEndian.Uint64(head[1:]))
	if err == nil {
		err = d.order.admit(m)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// passImage reads to the end of an image that the caller left before it.
func (d *Decoder) passImage() error {
	if d.image == nil {
		return nil
	}
	_, err := io.Copy(io.Discard, d.image)
	left := d.image.N
	d.image = nil
	if err == nil && left > 0 {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (d *Decoder) message(tag byte, length uint64) (Message, error) {
	if err := checkLength(tag, length); err != nil {
		return nil, err
	}
	switch tag {
	case tagHello:
		return small(d, length, hello)
	case tagImage:
		d.image = &io.LimitedReader{R: d.r, N: int64(length)}
		return Image{Size: int64(length), Reader: whole{d.image}}, nil
	case tagWrites:
		return d.writes(length)
	case tagAlive:
		return small(d, length, alive)
	case tagDigest:
		return small(d, length, digest)
	case tagEnd:
		return small(d, length, end)
	}
	return nil, fmt.Errorf("message %q: %w", tag, ErrCorrupt)
}

// small reads a whole payload and decodes it.
func small(d *Decoder, length uint64, decode func([]byte) (Message, error)) (Message, error) {
	b, err := d.bytes(length)
	if err != nil {
		return nil, err
	}
	return decode(b)
}

func hello(b []byte) (Message, error) {
	if len(b) < helloLen {
		return nil, fmt.Errorf("hello of %d bytes: %w", len(b), ErrCorrupt)
	}
	n := numbers(b[:helloLen])
	if n[0] != version {
		return nil, fmt.Errorf("stream of version %d: %w", n[0], ErrCorrupt)
	}
	if n[1] > 1 {
		return nil, fmt.Errorf("hello's image is %d: %w", n[1], ErrCorrupt)
	}
	h, err := DecodeHistory(b[helloLen:])
	return Hello{Image: n[1] == 1, Seq: n[2], Durable: n[3], Time: int64(n[4]), History: h}, err
}

func alive(b []byte) (Message, error) {
	if len(b) != aliveLen {
		return nil, fmt.Errorf("alive of %d bytes: %w", len(b), ErrCorrupt)
	}
	n := numbers(b)
	return Alive{Seq: n[0], Durable: n[1], Time: int64(n[2])}, nil
}

func end(b []byte) (Message, error) {
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("end's reason is not UTF-8: %w", ErrCorrupt)
	}
	return End{Reason: string(b)}, nil
}

// writes reads the counts first, so that a wrong length is found before its bytes
// are waited for.
func (d *Decoder) writes(length uint64) (Message, error) {
	if length < writesLen {
		return nil, fmt.Errorf("writes of %d bytes: %w", length, ErrCorrupt)
	}
	b, err := d.bytes(writesLen)
	if err != nil {
		return nil, err
	}
	n := numbers(b)
	length -= writesLen
	if n[1] > length/8 || n[1] > MaxWrites || n[1] > 1 && length-8*n[1] > MaxWrites {
		return nil, fmt.Errorf("%d records in writes of %d bytes: %w", n[1], length, ErrCorrupt)
	}
	times, err := d.bytes(8 * n[1])
	if err != nil {
		return nil, err
	}
	w := Writes{First: n[0]}
	for _, t := range numbers(times) {
		w.Times = append(w.Times, int64(t))
	}
	if w.Records, err = d.bytes(length - 8*n[1]); err != nil {
		return nil, err
	}
	return w, w.check()
}

// bytes reads n bytes. The buffer grows as they arrive, whatever n claims.
func (d *Decoder) bytes(n uint64) ([]byte, error) {
	var b bytes.Buffer
	_, err := io.CopyN(&b, d.r, int64(n))
	return b.Bytes(), cut(err)
}

func numbers(b []byte) []uint64 {
	out := make([]uint64, len(b)/8)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return out
}

// cut makes the end of a stream before its End an unexpected one.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// whole reads an image, whose early end is an unexpected one.
type whole struct{ r *io.LimitedReader }

func (w whole) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err == io.EOF && w.r.N > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
