package replication

import (
	"fmt"
	"io"
)

// A stream is a sequence of messages
//
//	tag u8 | length u64 | payload
//
// whose numbers are little-endian. Times are milliseconds since the Unix epoch.
//
//	H  version = 1 u64 | image 0 or 1 u64 | seq u64 | durable u64 | time u64 | history
//	I  the image's bytes
//	W  first u64 | n u64 | n × time u64 | n records, back to back
//	K  seq u64 | durable u64 | time u64
//	D  seq u64 | root u64 | n u64 | n × (rows u64 | sum u64 | length uvarint | name)
//	E  reason, UTF-8
const (
	tagHello  = 'H'
	tagImage  = 'I'
	tagWrites = 'W'
	tagAlive  = 'K'
	tagDigest = 'D'
	tagEnd    = 'E'

	version    = 1
	headLen    = 9  // tag and length
	helloLen   = 40 // the hello without its history
	writesLen  = 16 // the writes without their times and records
	aliveLen   = 24
	digestLen  = 24 // the digest without its collections
	maxPayload = 1 << 40
	// maxRecords bounds the payload of writes: a record is a block, which is written from
	// memory.
	maxRecords = 1 << 30
	// maxSmall bounds the payload of messages that have no business being large.
	maxSmall = 1 << 20
)

// ContentType is the media type of a stream.
const ContentType = "application/x-fenec-replication"

// MaxWrites bounds the bytes of records in one Writes that has several.
const MaxWrites = 1 << 20

func checkLength(tag byte, length uint64) error {
	if length > maxPayload || tag == tagWrites && length > maxRecords || tag != tagImage && tag != tagWrites && length > maxSmall {
		return fmt.Errorf("message %q of %d bytes: %w", tag, length, ErrCorrupt)
	}
	return nil
}

// Message is a Hello, an Image, a Writes, an Alive, a Digest or an End.
type Message interface{ tag() byte }

// Hello begins a stream. Seq is the change the sender stands at, which an image
// is as of, and Durable the last one on its disk.
type Hello struct {
	Image   bool // whether an image comes before the writes
	Seq     uint64
	Durable uint64
	Time    int64
	History History
}

// Image is a database as of its hello's Seq. It must be read before the decoder
// is asked for the next message, which passes over what is left of it.
type Image struct {
	Size int64
	io.Reader
}

// Writes carries records in the order in which they were appended.
type Writes struct {
	First   uint64  // number of the first write of the first record
	Times   []int64 // when the primary appended each record
	Records []byte  // the records, which tell their own lengths
}

// Alive says that the sender is there and has nothing to send.
type Alive struct {
	Seq     uint64
	Durable uint64
	Time    int64
}

// End says why the sender closes the stream.
type End struct{ Reason string }

func (Hello) tag() byte  { return tagHello }
func (Image) tag() byte  { return tagImage }
func (Writes) tag() byte { return tagWrites }
func (Alive) tag() byte  { return tagAlive }
func (Digest) tag() byte { return tagDigest }
func (End) tag() byte    { return tagEnd }

// Add appends a record, unless w has others and would pass MaxWrites with it. It
// reports whether it did. The bytes are copied.
func (w *Writes) Add(record []byte, time int64) bool {
	if len(w.Times) > 0 && len(w.Records)+len(record) > MaxWrites {
		return false
	}
	w.Times = append(w.Times, time)
	w.Records = append(w.Records, record...)
	return true
}

// check tells what is wrong with w: a record is a byte long at least, and covers
// one write at least.
func (w Writes) check() error {
	n, size := len(w.Times), len(w.Records)
	if n == 0 || size < n || n > 1 && size > MaxWrites || w.First == 0 || w.First+uint64(n) < w.First {
		return fmt.Errorf("%d records of %d bytes from change %d: %w", n, size, w.First, ErrCorrupt)
	}
	return nil
}

// order holds a stream to its order: one hello, then the image if it said so, then
// writes of ascending numbers and digests, and nothing after the end.
type order struct {
	greeted bool
	image   bool   // whether an image is due
	next    uint64 // the least number the next writes may begin with
	ended   bool
}

// admit tells whether m may come now, and notes that it did.
func (o *order) admit(m Message) error {
	hello, isHello := m.(Hello)
	_, isImage := m.(Image)
	writes, isWrites := m.(Writes)
	_, isDigest := m.(Digest)
	early := o.image && (isWrites || isDigest)
	if o.ended || isHello == o.greeted || isImage && !o.image || early || isWrites && writes.First < o.next {
		return fmt.Errorf("message %q out of order: %w", m.tag(), ErrCorrupt)
	}
	switch {
	case isHello:
		o.greeted, o.image = true, hello.Image
		if hello.Image {
			o.next = hello.Seq + 1
		}
	case isImage:
		o.image = false
	case isWrites:
		o.next = writes.First + uint64(len(writes.Times))
	}
	_, o.ended = m.(End)
	return nil
}
