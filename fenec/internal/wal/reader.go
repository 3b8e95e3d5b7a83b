package wal

import (
	"fmt"
	"hash/crc32"
)

// reader goes through the frames of a file and never writes.
type reader struct {
	path string
	file File
	size int64
	win  window
	fn   func(*Block) error // nil to check only

	head Header
	slot int

	off   int64  // of the next frame
	link  uint32 // header checksum of the frame before
	mark  int64  // highest durable mark seen
	parts []part // of the block whose last part has not come yet
	from  uint64 // its first sequence
	next  uint64 // lowest sequence the next block may start with

	endLink uint32 // link at the end of the last complete block
	block   Block
	rec     Recovery
}

func newReader(f File, path string) (*reader, error) {
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	return &reader{path: path, file: f, size: size, win: window{file: f, size: size}}, nil
}

// readHeader finds the header. It reports true for a file that never had one
// on disk.
func (r *reader) readHeader() (empty bool, err error) {
	b, err := r.win.at(0, int(min(r.size, headerBytes)))
	if err != nil {
		return false, err
	}
	r.head, r.slot, err = decodeHeader(b)
	switch {
	case err != nil:
		return false, fmt.Errorf("%s: %w", r.path, err)
	case r.size < headerBytes && r.slot >= 0 && r.head.Durable > r.size:
		return false, r.corrupt(r.size, "the file ends before what was on disk")
	case r.size < headerBytes:
		return true, nil
	case r.slot < 0:
		return r.headless(b)
	}
	return false, nil
}

// headless judges a file without a readable header: true if that can be the
// trace of a crash. A log made without a flush may lose its header and keep
// later bytes; but once a frame could say that something was on disk, the
// header was there too.
func (r *reader) headless(header []byte) (empty bool, err error) {
	reason := "neither copy of the header can be read"
	for _, c := range header {
		if c != 0 {
			return false, r.corrupt(0, reason)
		}
	}
	flushed := false
	_, err = r.scan(headerBytes, func(off int64, b []byte) error {
		fr := fields(b)
		if flushed || fr.durable < headerBytes || !fr.plausible(off) || !r.fits(&fr, off) {
			return nil
		}
		sum, err := r.sum(off+frameBytes, padded(fr.length))
		flushed = err == nil && sum == fr.sum
		return err
	})
	if err == nil && flushed {
		err = r.corrupt(0, reason)
	}
	return err == nil, err
}

// readFrames reads every frame and hands each complete block to fn. At the
// first frame that is not there or not good it decides whether that is the
// end of the log or damage.
func (r *reader) readFrames() error {
	r.off, r.mark, r.next = headerBytes, r.head.Durable, r.head.After+1
	r.rec = Recovery{
		Header:   r.head,
		Last:     r.head.After,
		Reserved: r.head.Reserved,
		End:      headerBytes,
	}
	for {
		fr, bad, err := r.frame()
		if err != nil {
			return err
		}
		if bad != "" {
			return r.finish(bad)
		}
		if err := r.take(&fr); err != nil {
			return err
		}
	}
}

// frame reads and checks the frame at r.off. It says what is bad about it, if
// anything. The payload of a frame that is a whole block is left in r.block.
func (r *reader) frame() (fr frame, bad string, err error) {
	if r.size-r.off < frameBytes {
		return fr, "the file ends", nil
	}
	b, err := r.win.at(r.off, frameBytes)
	if err != nil {
		return fr, "", err
	}
	fr, ok := decodeFrame(b, r.head.Log, r.off)
	if !ok {
		return fr, "no frame with a good checksum", nil
	}
	if bad := r.misplaced(&fr); bad != "" {
		return fr, bad, nil
	}
	sum, err := r.payload(&fr)
	if err == nil && sum != fr.sum {
		bad = "the payload's checksum is wrong"
	}
	return fr, bad, err
}

// misplaced says why a frame, good as it is, cannot be the next one.
func (r *reader) misplaced(fr *frame) string {
	goesOn := fr.flags&frameGoesOn != 0
	switch {
	case fr.link != r.link:
		return "the frame does not follow the one before it"
	case goesOn != (len(r.parts) > 0) || goesOn && fr.from != r.from:
		return "the frame is a part of another block"
	case fr.from < r.next:
		return "the frame's sequence is too low"
	case !r.fits(fr, r.off):
		return "the file ends within the frame"
	}
	return ""
}

func (r *reader) fits(fr *frame, off int64) bool {
	return fr.size() <= r.size-off
}

// payload returns the checksum of the payload at r.off. That of a whole block
// is kept for fn, that of a part is read again once the block is complete.
func (r *reader) payload(fr *frame) (uint32, error) {
	off, n := r.off+frameBytes, padded(fr.length)
	if fr.flags != 0 || r.fn == nil {
		return r.sum(off, n)
	}
	b, err := r.win.at(off, int(n))
	r.block.Payload = b[:min(len(b), fr.length)]
	return crc32.Checksum(b, castagnoli), err
}

// sum returns the checksum of n bytes at off.
func (r *reader) sum(off, n int64) (sum uint32, err error) {
	for n > 0 {
		b, err := r.win.at(off, int(min(n, windowBytes)))
		if err != nil {
			return 0, err
		}
		sum = crc32.Update(sum, castagnoli, b)
		off += int64(len(b))
		n -= int64(len(b))
	}
	return sum, nil
}

// take moves past a good frame and hands over the block it completes.
func (r *reader) take(fr *frame) error {
	at := r.off
	r.off += fr.size()
	r.link = fr.check
	r.mark = max(r.mark, fr.durable)
	r.rec.Frames++
	if fr.flags != 0 {
		r.parts = append(r.parts, part{off: at + frameBytes, n: fr.length, sum: fr.sum})
		r.from = fr.from
	}
	if fr.flags&frameMore != 0 {
		return nil
	}
	err := r.deliver(fr)
	r.parts = r.parts[:0]
	r.rec.Blocks++
	r.rec.Last = max(r.rec.Last, fr.to())
	r.rec.End = r.off
	r.next, r.endLink = fr.to()+1, r.link
	return err
}

// deliver hands the block that ends with fr to fn.
func (r *reader) deliver(fr *frame) error {
	if r.fn == nil {
		return nil
	}
	r.block.From, r.block.To, r.block.UnixMilli = fr.from, fr.to(), fr.millis
	r.block.spilled = nil
	if fr.flags != 0 {
		r.block.Payload = nil
		r.block.spilled = &spilled{read: r.readPart, parts: r.parts}
	}
	if err := r.fn(&r.block); err != nil {
		return fmt.Errorf("%s: block from sequence %d: %w", r.path, fr.from, err)
	}
	return nil
}

// readPart reads the payload of a part that was found good before.
func (r *reader) readPart(p part) ([]byte, error) {
	b, err := r.win.at(p.off, int(padded(p.n)))
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(b, castagnoli) != p.sum {
		return nil, r.corrupt(p.off-frameBytes, "the payload's checksum is wrong")
	}
	return b[:p.n], nil
}

// finish ends the reading at r.off, where there is no good frame. Whatever
// lies behind the last complete block is a torn tail unless some frame or the
// header says that it was on disk.
func (r *reader) finish(bad string) error {
	filled, err := r.scan(r.rec.End, func(off int64, b []byte) error {
		if fr, ok := decodeFrame(b, r.head.Log, off); ok {
			r.mark = max(r.mark, fr.durable)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.mark > r.rec.End {
		return r.corrupt(r.off, bad)
	}
	r.rec.Cut = filled - r.rec.End
	r.rec.Durable = r.mark
	r.rec.Clean = r.head.Clean && r.rec.Cut == 0 && r.mark == r.rec.End
	return nil
}

func (r *reader) corrupt(off int64, reason string) error {
	return &CorruptError{Path: r.path, Offset: off, Reason: reason}
}
