package fenec

// Block tells a limit what a block, or a part of a long one, is about to do.
// The parts of a block add up: each tells of what came since the one before.
// Collections whose name begins with _ are the server's own; they count toward
// bytes only.
type Block struct {
	RecordBytes int64 // exact length of the record in the log; 0 in memory
	LiveBytes   int64 // net change of the encoded rows
	Written     int   // documents written or deleted, those of a dropped collection aside
	Rows        int   // net change of the number of documents
	Shrinks     bool  // so far the block only takes away: nothing is added or becomes longer
	Part        int   // 0 for a whole block, else counts the parts from 0
	Expiry      bool  // a sweep's: expired documents are deleted, which nobody asked for
}

// SetLimit makes fn decide about every block from now on: it is asked, under
// the write lock, as the block is about to be written to the log. An error of fn
// is the statement's error, and the block leaves no trace: no record, no number,
// no change. fn must return soon and must not write. A block with a record of
// more than 16 MiB is asked about part by part. nil takes the limit away.
func (db *DB) SetLimit(fn func(Block) error) {
	if fn == nil {
		db.limit.Store(nil)
		return
	}
	db.limit.Store(&fn)
}

// ask asks the limit about what the block has done since it was last asked.
func (w *block) ask(recordBytes int64) error {
	now, part := w.tx.Change(), w.parts
	since := now.Since(w.asked)
	w.asked, w.parts = now, part+1
	if w.db.Path() == "" {
		recordBytes = 0 // there is no log
	}
	return w.limit(Block{
		RecordBytes: recordBytes,
		LiveBytes:   since.LiveBytes,
		Written:     since.Written,
		Rows:        since.Rows,
		Shrinks:     !now.Grew,
		Part:        part,
		Expiry:      w.expiry,
	})
}
