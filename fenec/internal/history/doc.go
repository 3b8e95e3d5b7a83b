// Package history remembers what each number of the change sequence stood for:
// which document was put or deleted, which collection came, changed or went,
// and when.
//
// A block's [Notes] are appended to a [History] as it is published. They wait in
// memory, in flat arrays, until a checkpoint folds their block: then they go
// into the base in the same transaction, packed into chunks. After an unclean
// end the replay of the log appends them again. [History.Read] gives them back
// in order, from base and memory.
//
// Guarantees. Every number handed out above the horizon has its entry, for as
// long as its block is there. The horizon is the smallest cursor that can be
// continued: 0 in a new database, raised to the number of each entry that the
// bounds push out. Numbers that no block has, as after an unclean end, are no
// entries; a cursor before or among them goes on after them.
//
// Layout. The history has a space of its own, [Space]. Its keys are numbers of
// the sequence, 8 bytes big endian. Key 0 is the head:
//
//	version    1 byte, now 1
//	up to      uvarint, the sequence that was folded to
//	horizon    uvarint
//	bytes      uvarint, of all chunks with their keys
//	ranges     uvarint, how many; then each: numbers left out before it and
//	           numbers in it less one, uvarints, beginning after the horizon
//	dropped    uvarint, how many; then each: number of the sequence, number of
//	           the collection, length of its name, uvarints, and the name
//
// Every other key is the first number of a chunk. Its value is entries, each:
//
//	tag        1 byte: bits 0 to 2 what happened; bit 3 the collection is the
//	           server's own; bits 4 to 7 which of the following are left out
//	           because they are as expected
//	gap        uvarint, numbers left out before it (expected: none)
//	time       varint, milliseconds since the entry before (expected: 0)
//	collection uvarint, its number (expected: that of the entry before)
//	id         varint, less the one after that of the entry before (expected: 0)
//
// A chunk begins as after an entry of collection 0 and id 0 at the Unix epoch.
// Head and chunks are followed by their CRC32C as rows are (package row).
package history

import "errors"

// Space is the space of the history. No collection has that number.
const Space = ^uint32(0) - 1

// ErrCorrupt is returned for stored history that cannot be what was written.
var ErrCorrupt = errors.New("damaged history")
