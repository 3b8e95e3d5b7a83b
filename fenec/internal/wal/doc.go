// Package wal is the write-ahead log of one database: a file to which every
// block, the writes of one statement or batch, is appended before the write is
// acknowledged, and from which the blocks that the base has not folded yet come
// back when the database is opened.
//
// Create makes a log and Open reads one, hands each Block to a callback and
// returns the Log to go on with. Log.Append writes a block, or Log.AppendPart
// and then Append one that is too large to be held in one piece. Log.SyncTo
// brings what was appended to disk. Log.CloseClean ends a log that may be opened
// again without doubt; Read and Inspect look at one without changing it. One
// file is one Log: turning over to the next one, and dropping a log whose blocks
// have been folded, is the caller's business.
//
// # Guarantees
//
//   - What comes back is a prefix of the blocks that were appended, each whole
//     and as it was written. It holds at least every block that SyncTo or Sync
//     reported to be on disk.
//   - Every frame says how far the log was on disk when the frame was written.
//     A bad frame past the last such mark, wherever in the file that stands, is a
//     torn tail and is cut off. One before it is damage: a CorruptError, and the
//     file is left alone.
//   - A log names its base by a random id and is not read for another one. Its
//     checksums take in a random id of its own and the place in the file, so a
//     frame from elsewhere, for instance within somebody's data, is no frame.
//   - After a write or a flush failed, nothing is written any more and nothing
//     is tried again: ErrFailed. What a failed write left in the file is cut off.
//   - A reservation of sequence numbers is on disk before Reserve returns. A log
//     that was not closed cleanly tells which numbers may have been seen.
//
// # Concurrency
//
// One writer at a time appends. Any number of goroutines may wait in SyncTo;
// they share flushes, which one of them runs while the writer goes on. A log has
// no goroutine of its own.
//
// # Limits
//
// A torn tail and a last block that was damaged later cannot be told apart
// unless something behind the block says that it was on disk: a later frame, a
// reservation, or a clean close. Checksums are CRC32C: they find accidents, not
// forgeries. Nothing is compressed or encrypted.
//
// The bytes are described in docs/format/log.md.
package wal
