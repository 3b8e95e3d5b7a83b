package replication

import (
	"encoding/binary"
	"io"
	"strings"
)

// Encoder writes the messages of one stream. It refuses with ErrCorrupt what its
// reader would refuse, and is of no use after an error.
type Encoder struct {
	w     io.Writer
	buf   []byte
	order order
}

// NewEncoder returns an encoder to w, which gets one Write for each message but an
// image.
func NewEncoder(w io.Writer) *Encoder { return &Encoder{w: w} }

// Encode writes m.
func (e *Encoder) Encode(m Message) error {
	if c, ok := m.(interface{ check() error }); ok {
		if err := c.check(); err != nil {
			return err
		}
	}
	if err := e.order.admit(m); err != nil {
		return err
	}
	if image, ok := m.(Image); ok {
		return e.image(image)
	}
	e.buf = appendPayload(append(e.buf[:0], m.tag(), 0, 0, 0, 0, 0, 0, 0, 0), m)
	length := uint64(len(e.buf) - headLen)
	if err := checkLength(m.tag(), length); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(e.buf[1:], length)
	_, err := e.w.Write(e.buf)
	return err
}

func (e *Encoder) image(m Image) error {
	if err := checkLength(tagImage, uint64(m.Size)); err != nil {
		return err
	}
	head := binary.LittleEndian.AppendUint64([]byte{tagImage}, uint64(m.Size))
	if _, err := e.w.Write(head); err != nil {
		return err
	}
	_, err := io.CopyN(e.w, m.Reader, m.Size)
	return err
}

func appendPayload(b []byte, m Message) []byte {
	switch m := m.(type) {
	case Hello:
		image := uint64(0)
		if m.Image {
			image = 1
		}
		b = appendNumbers(b, version, image, m.Seq, m.Durable, uint64(m.Time))
		return m.History.Append(b)
	case Writes:
		b = appendNumbers(b, m.First, uint64(len(m.Times)))
		for _, t := range m.Times {
			b = binary.LittleEndian.AppendUint64(b, uint64(t))
		}
		return append(b, m.Records...)
	case Alive:
		return appendNumbers(b, m.Seq, m.Durable, uint64(m.Time))
	case Digest:
		return m.append(b)
	case End:
		return append(b, strings.ToValidUTF8(m.Reason, "\uFFFD")...)
	}
	return b
}

func appendNumbers(b []byte, numbers ...uint64) []byte {
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}
