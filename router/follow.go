package router

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec"
)

// changesAtOnce is how many changes are looked at before the maps are brought up to them.
const changesAtOnce = 4096

// catcher brings a directory's maps up to the file of a router that follows another. What
// has changed since they were read is looked up entry by entry, by the history of changes
// that the database keeps. Where that does not tell, all is read anew: another database has
// come as an image, the history does not go back far enough, or the schema has changed.
//
// It is for one goroutine at a time, while nothing is written to the database.
type catcher struct {
	directory *Directory
	left      func(addr string) // told of an address that no node has any more
	logf      func(string, ...any)

	db    *fenec.DB // that the maps were read from
	seq   uint64    // up to which
	stale bool      // the maps are to be read anew
	keys  keys
	said  string // the error logged last

	wholes atomic.Uint64 // how often all was read
}

// catchUp brings the maps up to the database. What cannot be read leaves them as they are,
// and is tried again the next time.
func (c *catcher) catchUp(db *fenec.DB) {
	if db == c.db && db.Seq() == c.seq && !c.stale {
		return
	}
	err := c.changes(db)
	c.stale = err != nil
	if said := errorLine(err); said != c.said {
		c.said = said
		if err != nil {
			c.logf("the directory has come, but cannot be read: %v; the one before stays", err)
		} else {
			c.logf("the directory that has come can be read again")
		}
	}
}

// errorLine returns an error's text, "" for none.
func errorLine(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// changes takes over what has changed.
func (c *catcher) changes(db *fenec.DB) error {
	if db != c.db || c.stale {
		return c.readAll(db)
	}
	for c.seq < db.Seq() {
		list, next, err := db.Changes(context.Background(), c.seq, changesAtOnce)
		if err == nil {
			err = c.take(db, list)
		}
		if errors.Is(err, fenec.ErrHistoryGone) || errors.Is(err, errWhole) {
			return c.readAll(db)
		}
		if err != nil {
			return err
		}
		c.seq = next
	}
	return nil
}

// errWhole tells that changes cannot be taken over one by one.
var errWhole = errors.New("all is to be read anew")

// readAll reads everything, and puts it in the place of the maps. Look-ups go on meanwhile.
func (c *catcher) readAll(db *fenec.DB) error {
	c.wholes.Add(1)
	s := &fileStore{db}
	kept, err := s.load()
	if err != nil {
		return err
	}
	next, err := directoryOf(kept)
	if err != nil {
		return err
	}
	found, err := s.keys()
	if err != nil {
		return err
	}
	before := c.directory.Nodes()
	c.directory.become(next)
	c.db, c.seq, c.keys = db, db.Seq(), found
	c.forget(before)
	return nil
}

// forget tells of the addresses that no node has any more.
func (c *catcher) forget(before []Node) {
	has := map[string]bool{}
	for _, n := range c.directory.Nodes() {
		has[n.Addr] = true
	}
	for _, n := range before {
		if !has[n.Addr] {
			c.left(n.Addr)
		}
	}
}

// become puts the maps of another directory in the place of this one's, of which nobody is
// told. A look-up meanwhile finds what either of them has.
func (d *Directory) become(next *Directory) {
	d.change.Lock()
	defer d.change.Unlock()
	d.nodes.replace(next.nodes)
	d.tenants.replace(next.tenants)
	d.quotas.replace(next.quotas)
	d.strays.Store(next.strays.Load())
	d.pairs.Store(next.pairs.Load())
	d.arrived.Store(next.arrived.Load())
}
