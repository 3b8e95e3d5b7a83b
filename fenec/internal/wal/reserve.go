package wal

import "os"

// Reserve records durably that sequence numbers up to and including upTo may
// be handed out. After a crash the numbers above Last and up to the
// reservation may have been seen by somebody although their blocks are lost,
// so none of them is used again. A reservation is never taken back: a lower
// upTo does nothing.
//
// Reserve flushes the file. It may run beside the writer, ahead of need.
func (l *Log) Reserve(upTo uint64) error {
	if upTo <= l.reserved.Load() {
		return nil
	}
	if err := l.writable(); err != nil {
		return err
	}
	return l.setHeader(func(h *Header) {
		h.Reserved = max(h.Reserved, upTo)
		h.Clean = false
	})
}

// unmark takes away the mark of a clean close, durably, before the first
// change of a log that was opened with it.
func (l *Log) unmark() error {
	if !l.clean.Load() {
		return nil
	}
	return l.setHeader(func(h *Header) { h.Clean = false })
}

// setHeader changes the header durably: it writes the slot that is not in use,
// flushes, and only then writes the other one. That last write keeps a damaged
// slot from bringing back an older header; it gets to disk with a later flush.
func (l *Log) setHeader(change func(*Header)) error {
	l.hmu.Lock()
	defer l.hmu.Unlock()
	h := l.nextHeader()
	change(&h)
	slot := 1 - l.slot
	if err := l.writeSlot(slot, &h); err != nil {
		return l.refuse(err)
	}
	if err := l.barrier(); err != nil {
		return err
	}
	_ = l.writeSlot(l.slot, &h) // a torn copy is worth as much as none
	l.head, l.slot = h, slot
	l.reserved.Store(h.Reserved)
	l.clean.Store(h.Clean)
	return nil
}

// claim puts this process into the header, for whoever finds the file locked.
// Nothing depends on it, so it is not flushed.
func (l *Log) claim() error {
	l.hmu.Lock()
	defer l.hmu.Unlock()
	h := l.nextHeader()
	if h.PID == l.head.PID {
		return nil
	}
	if err := l.writeSlot(1-l.slot, &h); err != nil {
		return err
	}
	l.head = h
	return nil
}

// nextHeader returns the header as it would be written now. The caller holds
// hmu.
func (l *Log) nextHeader() Header {
	h := l.head
	h.generation++
	h.PID = os.Getpid()
	h.Durable = max(h.Durable, l.durable.Load())
	return h
}

func (l *Log) writeSlot(slot int, h *Header) error {
	_, err := l.file.WriteAt(h.encode(), int64(slot)*slotStride)
	return err
}
