package replication

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// ID names one history: the writes of one primary, from the change at which it
// took over. The zero ID is the root's, shared by every database that never
// replicated, and so proves nothing.
type ID uint64

// ParseID reads what String writes.
func ParseID(text string) (ID, error) {
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil || len(text) != 16 {
		return 0, fmt.Errorf("history id %q: %w", text, ErrCorrupt)
	}
	return ID(n), nil
}

// String returns the id as 16 hexadecimal digits.
func (id ID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// Entry is one history of a lineage. Its own writes are those after From.
type Entry struct {
	ID   ID
	From uint64
}

// Lineage lists the histories a database's writes belong to, oldest first. A
// database that never replicated has none.
//
// The places where histories began need not ascend: a replica takes over its
// primary's lineage when it connects, which may be before it has the writes that
// the last of these histories began after, and may then be promoted.
type Lineage []Entry

// Current returns the id of the history that writes belong to now.
func (l Lineage) Current() ID {
	if len(l) == 0 {
		return 0
	}
	return l[len(l)-1].ID
}

// Fork returns the lineage with a fresh history after change seq, which is what a
// promotion begins. The id is drawn from random.
func (l Lineage) Fork(random io.Reader, seq uint64) (Lineage, error) {
	for {
		var b [8]byte
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return nil, fmt.Errorf("draw a history id: %w", err)
		}
		id := ID(binary.LittleEndian.Uint64(b[:]))
		if id != 0 && l.index(id) < 0 {
			return append(slices.Clip(l), Entry{ID: id, From: seq}), nil
		}
	}
}

// Continued reports whether a replica at change seq of history id holds a prefix
// of the writes of the database that has this lineage and stands at change now.
func (l Lineage) Continued(id ID, seq, now uint64) bool {
	if seq > now {
		return false
	}
	if id == 0 {
		return seq == 0
	}
	i := l.index(id)
	if i < 0 {
		return false
	}
	// Every later history may have left this one; the earliest place counts.
	for _, later := range l[i+1:] {
		if seq > later.From {
			return false
		}
	}
	return true
}

func (l Lineage) index(id ID) int {
	return slices.IndexFunc(l, func(e Entry) bool { return e.ID == id })
}

// MarshalText returns what String does.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText returns.
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseID(string(text))
	return err
}
