package quota

import "github.com/fenec-go/fenecdb/fenec"

// pending is what a block was counted with before it was known to land. A long
// block is asked about in parts, and may fail after some of them.
//
// The sequence tells afterwards: a block that is asked about holds the write
// lock until it has ended, so the sequence is where it was exactly as long as
// the block has not landed. One that takes no number of the sequence changes no
// figure either.
type pending struct {
	open   bool    // something may have to be undone
	seq    uint64  // of the database as the block began
	change Holding // that held has in it
	rows   int64   // taken from the bucket of rows
	bytes  int64   // taken from the bucket of bytes
}

// undecided reports whether the block has not landed, or not yet.
func (p *pending) undecided(db *fenec.DB) bool { return p.open && db.Seq() == p.seq }

// ask is the database's limit: it decides about a block, or a part of one, and
// counts and charges what it allows. The write lock is held, which makes the look
// at what is held and the change of it one step.
func (q *Quota) ask(b fenec.Block) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if b.Part == 0 {
		q.begin()
		if err := q.checkRates(b); err != nil {
			return err
		}
	}
	if err := q.count(); err != nil {
		return err
	}
	change := Holding{b.LiveBytes, int64(b.Rows)}
	if err := q.checkCeilings(change); err != nil {
		return err
	}
	q.held.add(change)
	q.block.change.add(change)
	q.charge(b)
	return nil
}

// begin undoes the block before, if it came to nothing, and starts the next.
func (q *Quota) begin() {
	seq := q.db.Seq()
	if q.block.open && q.block.seq == seq {
		q.held.add(q.block.change.negative())
		q.giveBack(q.block)
	}
	q.block = pending{open: true, seq: seq}
}

// count looks up what the database holds, if that is not known. No block can land
// meanwhile.
func (q *Quota) count() error {
	if q.counted {
		return nil
	}
	held, err := HeldBy(q.db)
	if err != nil {
		return err
	}
	held.add(q.block.change)
	q.held, q.counted = held, true
	return nil
}

// Recount makes the next write look up what the database holds. It is needed
// after changes that no block was asked about: those of a primary that the
// database followed, or an image.
func (q *Quota) Recount() {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.counted = false
}

// checkCeilings refuses a change that makes its block one that needs room where
// there is none. A block that takes away, or changes nothing, is always allowed,
// even where more is held than may be.
func (q *Quota) checkCeilings(change Holding) error {
	block, after := q.block.change, q.held
	block.add(change)
	after.add(change)
	switch l := q.limits.Load(); {
	case l.Bytes > 0 && block.Bytes > 0 && after.Bytes > l.Bytes:
		return &Refusal{Key: KeyBytes, Limit: l.Bytes}
	case l.Rows > 0 && block.Rows > 0 && after.Rows > l.Rows:
		return &Refusal{Key: KeyRows, Limit: l.Rows}
	}
	return nil
}

// checkRates refuses a client's block while those before it have used up a rate. MayWrite
// has said so to those who asked; but others may have written since, and not everybody
// asks. Blocks without documents of the tenant's go on: schemas, and what a server keeps
// for itself.
func (q *Quota) checkRates(b fenec.Block) error {
	if b.Expiry || b.Written == 0 || !q.bounded() {
		return nil
	}
	now := q.now()
	q.rowsPerSecond.refill(now)
	q.bytesPerSecond.refill(now)
	if r := writeRefusal(&q.rowsPerSecond, &q.bytesPerSecond); r != nil {
		return r
	}
	return nil
}

// bounded reports whether there is a rate that writes are charged to.
func (q *Quota) bounded() bool { return q.rowsPerSecond.rate > 0 || q.bytesPerSecond.rate > 0 }

// charge takes what the block writes from the rates' buckets, into debt if need
// be. What expires is nobody's write, and charged to none.
func (q *Quota) charge(b fenec.Block) {
	rows, bytes := &q.rowsPerSecond, &q.bytesPerSecond
	if b.Expiry || !q.bounded() {
		return
	}
	now := q.now()
	if rows.rate > 0 {
		rows.refill(now)
		rows.take(int64(b.Written))
		q.block.rows += int64(b.Written)
	}
	if bytes.rate > 0 {
		bytes.refill(now)
		bytes.take(b.RecordBytes)
		q.block.bytes += b.RecordBytes
	}
}

// giveBack returns to the buckets what a block took that came to nothing.
func (q *Quota) giveBack(p pending) {
	if !q.bounded() {
		return
	}
	now := q.now()
	q.rowsPerSecond.refill(now)
	q.rowsPerSecond.giveBack(p.rows)
	q.bytesPerSecond.refill(now)
	q.bytesPerSecond.giveBack(p.bytes)
}

// landed returns the buckets of rows and bytes as the blocks leave them that have
// landed.
func (q *Quota) landed() (rows, bytes bucket) {
	now := q.now()
	q.rowsPerSecond.refill(now)
	q.bytesPerSecond.refill(now)
	rows, bytes = q.rowsPerSecond, q.bytesPerSecond
	if q.block.undecided(q.db) {
		rows.giveBack(q.block.rows)
		bytes.giveBack(q.block.bytes)
	}
	return rows, bytes
}
