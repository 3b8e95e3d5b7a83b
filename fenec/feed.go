package fenec

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/feed"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// ErrNoFeed is returned by Feed and WaitFeed where Options.FeedBytes keeps none.
var ErrNoFeed = errors.New("the database keeps no feed: FeedBytes is not set")

// CursorError says that a cursor is none that the feed goes on from: it is below
// First, or ahead of Last. It matches ErrHistoryGone.
type CursorError struct {
	Since uint64 // the cursor
	First uint64 // the smallest that can be gone on from
	Last  uint64 // the last write the database holds, on disk or not
}

// Error names the cursor and those that could be gone on from.
func (e *CursorError) Error() string {
	return fmt.Sprintf("%v: the feed since %d: it goes on from %d to %d", ErrHistoryGone, e.Since, e.First, e.Last)
}

// Is reports whether target is ErrHistoryGone.
func (e *CursorError) Is(target error) bool { return target == ErrHistoryGone }

// FeedChange is a write of the feed. It may be kept.
type FeedChange struct {
	Change      // of which Collection is never "", and is as it was at that moment
	Doc    *Doc // for a put, the document as it was written; else nil
}

// feedBytes is how much of the feed one answer takes up, in bytes: what makes it
// longer is left for the next.
const feedBytes = 8 << 20

// Feed returns the writes after the sequence since that are on disk, in order, and
// the sequence from which to go on: whoever does is given every write exactly once.
// It returns at most that many, and fewer where these would take up too much
// memory. Collections whose name begins with _ are left out, but next goes past
// what was written to them. A since that is not on disk yet is answered with
// nothing.
//
// The feed is kept from the moment that Options.FeedBytes was first set, across
// restarts, crashes and images, and within that bound. A since below FeedHorizon or
// above Seq is a CursorError, and a database without a feed ErrNoFeed.
func (db *DB) Feed(ctx context.Context, since uint64, most int) (list []FeedChange, next uint64, err error) {
	if err := ctx.Err(); err != nil {
		return nil, since, err
	}
	if !db.feed.On() {
		return nil, since, ErrNoFeed
	}
	if err := db.stillOpen(); err != nil {
		return nil, since, err
	}
	if last := db.Seq(); since > last {
		return nil, since, &CursorError{since, db.FeedHorizon(), last}
	}
	p := feedPage{most: most, next: max(since, db.store.SyncedSeq())}
	horizon, ok, err := db.readFeed(since, p.next, p.add)
	switch {
	case err != nil || p.err != nil:
		return nil, since, public(errors.Join(err, p.err))
	case !ok:
		return nil, since, &CursorError{since, horizon, db.Seq()}
	}
	return p.list, p.next, nil
}

// readFeed calls fn with the entries past after and up to upTo, until it returns
// false. ok is false if the feed does not go back that far.
func (db *DB) readFeed(after, upTo uint64, fn func(feed.Entry) bool) (horizon uint64, ok bool, err error) {
	defer base.Recover(db.Path(), base.Guard(), &err)
	return db.feed.Read(db.store.Base, after, upTo, fn)
}

// stillOpen returns ErrClosed after Close.
func (db *DB) stillOpen() error {
	r, err := db.store.Read()
	if err != nil {
		return public(err)
	}
	r.End()
	return nil
}

// feedPage is one answer of Feed.
type feedPage struct {
	most  int
	list  []FeedChange
	bytes int
	next  uint64
	err   error
}

// add adds an entry, and reports whether it did.
func (p *feedPage) add(e feed.Entry) bool {
	if len(p.list) >= p.most || p.bytes >= feedBytes {
		p.next = e.Seq - 1
		return false
	}
	if strings.HasPrefix(e.Collection.Name, "_") {
		return true
	}
	op, err := table.DecodeOperation(e.Op)
	if err != nil {
		p.err = fmt.Errorf("the feed at %d: %w", e.Seq, err)
		return false
	}
	c := FeedChange{Change: Change{e.Seq, time.UnixMilli(e.At), e.Collection.Name, ChangeOp(op.Op), op.ID}}
	if c.Op == ChangePut {
		c.Doc = &Doc{e.Collection, op.ID, op.Row}
	}
	p.list = append(p.list, c)
	p.bytes += len(e.Op)
	return true
}

// FeedHorizon returns the smallest since that Feed can go on from; Seq of the
// moment the database was opened if it keeps no feed.
func (db *DB) FeedHorizon() uint64 { return db.feed.Horizon() }

// SyncedSeq returns the sequence up to which every write is on disk.
func (db *DB) SyncedSeq() uint64 { return db.store.SyncedSeq() }

// WaitFeed returns once Feed has looked at more than the sequence since, which may
// be writes that it leaves out: something written after since is on disk. Nothing
// gets there sooner because of it.
func (db *DB) WaitFeed(ctx context.Context, since uint64) error {
	if !db.feed.On() {
		return ErrNoFeed
	}
	return public(db.store.WaitSynced(ctx, since))
}

// AppendJSON appends the change as an object: seq, at in milliseconds since 1970,
// collection and op; of a document its id too, and of a put the doc.
func (c *FeedChange) AppendJSON(dst []byte) ([]byte, error) {
	dst = strconv.AppendUint(append(dst, `{"seq":`...), c.Seq, 10)
	dst = strconv.AppendInt(append(dst, `,"at":`...), c.Time.UnixMilli(), 10)
	dst = value.AppendJSONString(append(dst, `,"collection":`...), c.Collection)
	dst = value.AppendJSONString(append(dst, `,"op":`...), c.Op.String())
	if c.Op == ChangePut || c.Op == ChangeDel {
		dst = strconv.AppendUint(append(dst, `,"id":`...), c.ID, 10)
	}
	if c.Doc != nil {
		var err error
		if dst, err = c.Doc.AppendJSON(append(dst, `,"doc":`...)); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// AppendJSON appends the document as an object: the id, then its fields in the
// order of the schema, but for those that are null. On an error what dst has
// received is of no use.
func (d *Doc) AppendJSON(dst []byte) ([]byte, error) {
	r, err := row.Parse(d.row)
	if err != nil {
		return dst, public(err)
	}
	dst = append(value.AppendJSONString(append(dst, '{'), catalog.ID), ':')
	dst = strconv.AppendUint(dst, d.id, 10)
	for i := range min(r.Len(), len(d.col.Fields)) {
		f := &d.col.Fields[i]
		if f.Dropped() || r.IsNull(i) {
			continue
		}
		dst = append(value.AppendJSONString(append(dst, ','), f.Name), ':')
		if dst, err = r.AppendJSON(dst, i, f.Type); err != nil {
			return dst, public(err)
		}
	}
	return append(dst, '}'), nil
}
