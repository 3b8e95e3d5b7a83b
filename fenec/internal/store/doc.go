// Package store keeps ordered keys in numbered spaces, in blocks that are
// there whole or not at all, and never loses one it acknowledged.
//
// It joins three parts. The base ([base.File]) is a bbolt file with everything
// up to the folded sequence. The log ([wal.Log]) holds every block since. The
// front ([front.Front]) is the image in memory of what the log holds, many
// versions to a key, so that a [Snapshot] is one sequence number.
//
// A [Block] is the unit of atomicity: it collects changes to keys in a private
// overlay and logical operations in a record. Commit appends the record to the
// log and moves the changes to the front in one step that readers see whole.
// What the record means is the owner's business: after an unclean end the
// store hands every record newer than the base to Options.Replay, which makes
// the same changes again.
//
// A checkpoint turns front and log over together, folds the turned front into
// the base in one transaction and drops its log. It runs in the background.
// Both fronts are bounded: when they are full, writers wait for the fold.
//
// Guarantees. A snapshot sees exactly one sequence, for as long as it is open.
// After an error of the log's file every further write is refused with
// ErrFailed, nothing is folded and no log is dropped; reads go on. A sequence
// number is never given out twice, whatever blocks were lost: numbers are
// reserved durably in steps, in the log's header, and an unclean open goes on
// past the reservation. Only who deletes the log itself deletes that too.
//
// Lock order: compaction (Store.compacting), then checkpoint (Store.folding), then write (Store.writing), then
// registry.mu.
package store
