// Package feed keeps the latest blocks as they were written: every row as it was
// encoded, deletions, changes of the schema, and the time of each block.
//
// The operations of the open block are added to a [Feed] one by one and become
// part of it as the block is published. They wait in memory, in chunks that are
// laid out as they are stored, until a checkpoint folds their block: then the
// chunks go into the base in the same transaction. After an unclean end the replay
// of the log adds them again. [Feed.Read] gives them back in order, from base and
// memory, each with the definition of its collection at that moment.
//
// Guarantees. Every number handed out above the horizon has its entry, once, for
// as long as its block is there. The horizon is the smallest cursor that can be
// continued: where the base stood when the feed was first on, raised to the number
// of each entry that the bound pushes out. Numbers that no block has, as after an
// unclean end, are no entries; a cursor before or among them goes on after them.
// A block's entries name its first number, so blocks can be put together again.
//
// A feed is kept within its bound in the file, and again in memory until it is
// folded. A block that alone is more is not kept, nor anything before it. A feed
// that is turned off leaves the file with the next fold. A copy of the base has
// the feed too: whoever goes on with the copy goes on with its cursors.
//
// Layout. The feed has a space of its own, [Space]. Its keys are numbers of the
// sequence, 8 bytes big endian. Key 0 is the head:
//
//	version    1 byte, now 1
//	up to      uvarint, the sequence that was folded to
//	horizon    uvarint
//	bytes      uvarint, of all chunks with their keys
//
// Every other key is the first number of a chunk, which can be read without any
// other. Its value is definitions and groups of operations. A definition:
//
//	tag        1 byte, 1
//	definition its length, a uvarint, and a collection (package catalog)
//
// The definitions of a chunk are numbered from 0. A group is operations of one
// block on one collection that follow each other, one a number of the sequence:
//
//	tag        1 byte: bit 1 the block began before the group; bits 2 to 5 which
//	           of the following are left out because they are as expected
//	gap        uvarint, numbers left out before it (expected: none)
//	begun      uvarint, by how many numbers the block began before it; only if it did
//	time       varint, milliseconds since the group before (expected: 0)
//	collection uvarint, which of the definitions (expected: that of the group before)
//	count      uvarint, of operations (expected: 1)
//	operations each its length, a uvarint, and what the owner says it is
//
// A chunk begins as after a group at the Unix epoch of a definition that is none.
// Head and chunks are followed by their CRC32C as rows are (package row).
package feed

import "errors"

// Space is the space of the feed. No collection has that number.
const Space = ^uint32(0) - 2

// ErrCorrupt is returned for a stored feed that cannot be what was written.
var ErrCorrupt = errors.New("damaged feed")
