package wal

import (
	"fmt"
	"sync"
)

// A file is allocated ahead by about its own length, in whole steps and by no
// more than maxAhead.
const (
	allocStep = 64 << 10
	maxAhead  = 4 << 20
)

// chunkBytes is the most one call to the file writes. A frame of up to that
// many bytes is written in one call.
const chunkBytes = 256 << 10

// buffers are where frames are put together, shared by all logs so that an
// idle one holds none.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Append writes b, or its last part if AppendPart wrote others, and returns
// the offset at which it ends, for SyncTo. The payload is not kept.
//
// When the file refuses the write, what got there is cut off again and this
// and every later write return an error matching ErrFailed. ErrOrder and
// ErrTooLarge say that b cannot be written and leave the log as it was.
func (l *Log) Append(b Block) (end int64, err error) {
	if err := l.put(&b, 0); err != nil {
		return 0, err
	}
	l.parting = false
	l.endLink = l.link
	l.complete(l.tail, b.To)
	return l.tail, nil
}

// AppendPart writes a part of a block other than its last. It counts only once
// Append has written the last one. Every part names the same first sequence;
// To is not looked at before the last one. Errors are those of Append.
func (l *Log) AppendPart(b Block) error {
	b.To = b.From - 1
	if err := l.put(&b, frameMore); err != nil {
		return err
	}
	l.parting, l.from = true, b.From
	return nil
}

// Cutback drops the parts of an unfinished block. Without any it does nothing.
func (l *Log) Cutback() error {
	if !l.parting {
		return nil
	}
	if err := l.writable(); err != nil {
		return err
	}
	// No flush is needed: should the parts come back after a crash, the next
	// block's frame is either in their place or not there at all, and parts
	// without a last one are cut off when the log is opened.
	if err := l.rewind(); err != nil {
		return l.refuse(err)
	}
	return nil
}

// put writes one frame.
func (l *Log) put(b *Block, flags uint8) error {
	if err := l.writable(); err != nil {
		return err
	}
	if err := b.check(l.last.Load()); err != nil {
		return err
	}
	if l.parting {
		if b.From != l.from {
			return fmt.Errorf("%w: part of a block from %d within one from %d", ErrOrder, b.From, l.from)
		}
		flags |= frameGoesOn
	}
	if err := l.unmark(); err != nil {
		return err
	}
	fr := frame{
		length:  len(b.Payload),
		flags:   flags,
		link:    l.link,
		sum:     payloadSum(b.Payload),
		from:    b.From,
		millis:  b.UnixMilli,
		durable: l.durable.Load(),
		count:   uint32(b.To - (b.From - 1)),
	}
	l.allocate(l.tail + fr.size())
	if err := l.write(&fr, b.Payload); err != nil {
		return l.cutOff(err)
	}
	l.tail += fr.size()
	l.link = fr.check
	l.grown(max(l.alloc, l.tail))
	return nil
}

// write puts the frame at the tail.
func (l *Log) write(fr *frame, payload []byte) error {
	scratch := buffers.Get().(*[]byte)
	defer buffers.Put(scratch)
	buf := append((*scratch)[:0], make([]byte, frameBytes)...)
	fr.encode(buf, l.id, l.tail)
	for off, left := l.tail, fr.size(); ; {
		n := min(len(payload), chunkBytes-len(buf))
		buf = append(buf, payload[:n]...)
		payload = payload[n:]
		if len(payload) == 0 {
			buf = append(buf, padding[:padded(len(buf))-int64(len(buf))]...)
		}
		*scratch = buf
		if _, err := l.file.WriteAt(buf, off); err != nil {
			return err
		}
		off += int64(len(buf))
		if left -= int64(len(buf)); left == 0 {
			return nil
		}
		buf = buf[:0]
	}
}

// allocate makes the file reach to need and some way beyond. Where that cannot
// be had, the file grows with its frames instead: a write tells whether there
// is room.
func (l *Log) allocate(need int64) {
	if need <= l.alloc || l.noAhead {
		return
	}
	size := need + min(need, maxAhead-allocStep)
	size = (size + allocStep - 1) / allocStep * allocStep
	if err := l.file.Allocate(l.alloc, size-l.alloc); err != nil {
		l.noAhead = true
		return
	}
	l.grown(size)
}

func (l *Log) grown(size int64) {
	if size != l.alloc {
		l.alloc = size
		l.size.Store(size)
	}
}

// cutOff removes what a failed write left behind the last complete block, as
// durably as the file still lets it, and refuses every later write.
func (l *Log) cutOff(cause error) error {
	err := l.refuse(cause)
	if l.rewind() == nil {
		_ = l.barrier() // a failure is kept for those who wait for a flush
	}
	return err
}

// rewind takes the log back to the end of the last complete block.
func (l *Log) rewind() error {
	if err := l.truncate(l.end.Load()); err != nil {
		return err
	}
	l.tail, l.link, l.parting = l.end.Load(), l.endLink, false
	return nil
}

func (l *Log) truncate(size int64) error {
	if err := l.file.Truncate(size); err != nil {
		return err
	}
	l.grown(size)
	return nil
}
