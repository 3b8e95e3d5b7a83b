package fenec

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/feed"
)

// FeedBlock is a block of the feed, whole, as a replica applies it.
type FeedBlock struct {
	First, Last uint64 // numbers of its first and last write
	At          int64  // milliseconds since 1970

	// Record is what Apply takes:
	//
	//	length      uvarint, of the rest
	//	first       uvarint, the number of the first write
	//	step        uvarint, first less the number of the write before it
	//	operations  as the log has them, one a number
	Record []byte
}

// FeedBlocks returns the blocks after the sequence since that are on disk, whole and in
// order: as many as take up most bytes together, but one at least if there is one. Those
// of collections whose name begins with _ are among them. Errors are those of Feed; a
// since that is not the end of a block is a CursorError too, but for one at the horizon,
// of which nothing else is known, and for 0.
func (db *DB) FeedBlocks(ctx context.Context, since uint64, most int) ([]FeedBlock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !db.feed.On() {
		return nil, ErrNoFeed
	}
	if err := db.stillOpen(); err != nil {
		return nil, err
	}
	if last := db.LastWrite(); since > last {
		return nil, &CursorError{since, db.FeedHorizon(), last}
	}
	g := blockGatherer{last: since, most: most}
	from := since
	if since > db.FeedHorizon() {
		from-- // to see whether there is such a write
		g.wants = since
	}
	horizon, ok, err := db.readFeed(from, db.store.SyncedSeq(), g.add)
	switch {
	case err != nil:
		return nil, public(err)
	case !ok || g.astray:
		return nil, &CursorError{since, horizon, db.LastWrite()}
	}
	return g.blocks(), nil
}

// blockGatherer makes blocks of entries.
type blockGatherer struct {
	wants  uint64 // is to be the first entry, which is passed over; 0 for none
	most   int
	list   []FeedBlock
	bytes  int
	block  uint64 // of the last entry
	last   uint64 // entry
	astray bool   // since is not the end of a block
}

// add adds an entry, and reports whether it did.
func (g *blockGatherer) add(e feed.Entry) bool {
	if e.Seq == g.wants {
		g.wants = 0
		return true
	}
	if e.Block != g.block {
		g.astray = e.Seq != e.Block || g.wants != 0
		if g.astray || len(g.list) > 0 && g.bytes >= g.most {
			return false
		}
		b := FeedBlock{First: e.Seq, At: e.At}
		b.Record = binary.AppendUvarint(b.Record, e.Seq)
		b.Record = binary.AppendUvarint(b.Record, e.Seq-g.last)
		g.list = append(g.list, b)
		g.block = e.Block
	}
	b := &g.list[len(g.list)-1]
	b.Last, g.last = e.Seq, e.Seq
	b.Record = append(b.Record, e.Op...)
	g.bytes += len(e.Op)
	return true
}

// blocks returns the blocks, each with the length of its record.
func (g *blockGatherer) blocks() []FeedBlock {
	for i := range g.list {
		b := &g.list[i]
		sized := make([]byte, 0, len(b.Record)+binary.MaxVarintLen64)
		b.Record = append(binary.AppendUvarint(sized, uint64(len(b.Record))), b.Record...)
	}
	return g.list
}

// record is a FeedBlock's Record, read.
type record struct {
	before     uint64 // the number of the write before it
	first      uint64
	operations []byte
}

// cutRecord reads the first of records.
func cutRecord(records []byte) (r record, rest []byte, err error) {
	n, at := binary.Uvarint(records)
	if at <= 0 || n > uint64(len(records)-at) {
		return r, nil, fmt.Errorf("%w: a record ends early", ErrCorrupt)
	}
	body, rest := records[at:at+int(n)], records[at+int(n):]
	first, a := binary.Uvarint(body)
	step, b := binary.Uvarint(body[max(a, 0):])
	if a <= 0 || b <= 0 || step == 0 || step > first || a+b == len(body) {
		return r, nil, fmt.Errorf("%w: a record of %d bytes", ErrCorrupt, n)
	}
	return record{before: first - step, first: first, operations: body[a+b:]}, rest, nil
}
