package replication

import (
	"encoding/binary"
	"fmt"
)

// History is what a database's file says of its part in replication.
type History struct {
	// Following makes the database refuse every write but its primary's.
	Following bool
	// Incomplete says that it has not caught up with its primary since it began to
	// follow it: what it would lack if it were promoted, nobody knows.
	Incomplete bool
	Lineage    Lineage
}

// A history is encoded as
//
//	following u8, 2 if incomplete | count uvarint | count × (id u64 LE | from uvarint)
//
// and as a record of a file as
//
//	kind = 8 u8 | collection = 0 uvarint | length uvarint | history
const (
	recordKind = 8
	minEntry   = 9 // bytes

	roleFollowing  = 1
	roleIncomplete = 2
)

// Append appends the encoded history to b.
func (h History) Append(b []byte) []byte {
	role := byte(0)
	switch {
	case h.Following && h.Incomplete:
		role = roleIncomplete
	case h.Following:
		role = roleFollowing
	}
	b = append(b, role)
	b = binary.AppendUvarint(b, uint64(len(h.Lineage)))
	for _, e := range h.Lineage {
		b = binary.LittleEndian.AppendUint64(b, uint64(e.ID))
		b = binary.AppendUvarint(b, e.From)
	}
	return b
}

// AppendRecord appends the history to b as a record of a file. The record moves
// no change number and is not itself replicated.
func (h History) AppendRecord(b []byte) []byte {
	body := h.Append(nil)
	b = append(b, recordKind, 0)
	b = binary.AppendUvarint(b, uint64(len(body)))
	return append(b, body...)
}

// DecodeHistory reads what Append wrote, and nothing may follow it.
func DecodeHistory(b []byte) (History, error) {
	d := fields{rest: b}
	role := d.byte()
	d.bad = d.bad || role > roleIncomplete
	h := History{Following: role != 0, Incomplete: role == roleIncomplete}
	count := d.uvarint()
	if count > uint64(len(d.rest)/minEntry) {
		return History{}, fmt.Errorf("history of %d entries in %d bytes: %w", count, len(b), ErrCorrupt)
	}
	for range count {
		h.Lineage = append(h.Lineage, Entry{ID: ID(d.uint64()), From: d.uvarint()})
	}
	if d.bad || len(d.rest) > 0 {
		return History{}, fmt.Errorf("history of %d bytes: %w", len(b), ErrCorrupt)
	}
	return h, nil
}

// DecodeRecord reads what AppendRecord wrote, and nothing may follow it.
func DecodeRecord(b []byte) (History, error) {
	d := fields{rest: b}
	kind, collection, length := d.byte(), d.uvarint(), d.uvarint()
	if d.bad || kind != recordKind || collection != 0 || length != uint64(len(d.rest)) {
		return History{}, fmt.Errorf("history record of %d bytes: %w", len(b), ErrCorrupt)
	}
	return DecodeHistory(d.rest)
}

// fields takes fixed and variable numbers off the front of rest. After one that
// is not there, bad is set and all further ones are zero.
type fields struct {
	rest []byte
	bad  bool
}

func (f *fields) take(n int) []byte {
	if f.bad || len(f.rest) < n {
		f.bad = true
		return make([]byte, n)
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}

func (f *fields) byte() byte { return f.take(1)[0] }

func (f *fields) uint64() uint64 { return binary.LittleEndian.Uint64(f.take(8)) }

// uvarint takes a number in the shortest of its encodings, so that equal
// histories are equal bytes.
func (f *fields) uvarint() uint64 {
	v, n := binary.Uvarint(f.rest)
	if f.bad || n <= 0 || n > 1 && f.rest[n-1] == 0 {
		f.bad = true
		return 0
	}
	f.rest = f.rest[n:]
	return v
}
