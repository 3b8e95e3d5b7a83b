package fenec

import (
	"context"
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// buildInBlock is the most rows of which an index is built within one block,
// while other writers wait.
const buildInBlock = 5000

// postingsAtOnce is about how many postings of an index are put into the file at
// once.
const postingsAtOnce = 1_500_000

// createIndex runs a "create index" that is no part of a batch: beside reads
// and writes, if the collection is large. The index is in the building first,
// when blocks keep it in step and nobody reads it; then it gets the entries of
// the rows that are there, stretch by stretch; and a last block installs it. A
// process that ends before leaves an index in the building, which the next open
// takes out.
func (s *Session) createIndex(ctx context.Context, st *Stmt) (*Result, error) {
	db := s.db
	def := st.tree.(*ql.CreateIndex)
	large, err := db.isLarge(def.On.Text)
	if err != nil {
		return nil, err
	}
	if !large {
		return s.writeOne(ctx, bound{st: st})
	}
	if err := s.knows(db.catalogAt(db.store.Seq()), def.On.Text); err != nil {
		return nil, public(err)
	}
	if err := errors.Join(db.makeRoom(ctx), db.checkMemory()); err != nil {
		return nil, err
	}
	b := indexBuild{db: db, def: def}
	err = b.begin(ctx)
	if def.IfNotExists && errors.Is(err, ErrExists) {
		res := thereAlready(def)
		res.seq = db.Seq()
		return res, nil
	}
	if err != nil {
		return nil, err
	}
	if err := b.build(ctx); err != nil {
		return nil, errors.Join(s.discreet(def, err), b.abandon())
	}
	res := done("index on %s of collection %s created", def.Path.String(), def.On.Text)
	res.seq = b.seq
	return res, nil
}

// isLarge reports whether an index on a collection is built beside other work.
func (db *DB) isLarge(name string) (bool, error) {
	r, err := db.store.Read()
	if err != nil {
		return false, public(err)
	}
	defer r.End()
	c := db.catalogAt(r.Seq()).Find(name)
	if c == nil {
		return false, nil // the statement will tell
	}
	rows, err := table.NewReader(&r.View, c).Rows()
	return rows > buildInBlock, public(err)
}

// indexBuild makes one index.
type indexBuild struct {
	db    *DB
	def   *ql.CreateIndex
	col   uint32 // the collection's number
	index *catalog.Index
	seq   uint64 // of the last block
}

// begin makes the index one in the building, durably: a log that is lost with
// its block must not leave entries behind in the file.
func (b *indexBuild) begin(ctx context.Context) error {
	err := b.alter(ctx, func(cat *catalog.Catalog) (out *catalog.Catalog, before, after *catalog.Collection, err error) {
		out, before, after, b.index, err = cat.BeginIndex(b.def)
		if err == nil {
			b.col = after.Number
		}
		return out, before, after, err
	})
	if err != nil {
		return err
	}
	return b.db.Sync(ctx)
}

// alter changes the collection's definition in a block of its own.
func (b *indexBuild) alter(ctx context.Context, change func(*catalog.Catalog) (out *catalog.Catalog, before, after *catalog.Collection, err error)) error {
	ticket, err := b.db.own.inBlock(ctx, func(w *block) error {
		cat, before, after, err := change(w.catalog)
		if err != nil {
			return err
		}
		w.catalog = cat
		return w.tx.Alter(ctx, cat, before, after)
	})
	if err != nil {
		return err
	}
	b.seq = ticket.To
	return public(ticket.Wait(ctx))
}

// build makes the entries of all rows and installs the index.
func (b *indexBuild) build(ctx context.Context) error {
	for next := uint64(1); next != 0; {
		if err := b.fill(ctx, &next); err != nil {
			return public(err)
		}
	}
	if b.index.Kind == catalog.Unique {
		// From now on writers refuse to add a value that is held, since all that
		// are have entries. Expired rows hold none.
		if err := b.sweep(ctx); err != nil {
			return err
		}
		if err := b.checkDistinct(ctx); err != nil {
			return err
		}
	}
	if b.index.Kind == catalog.HNSW {
		if err := b.link(ctx); err != nil {
			return err
		}
	}
	return b.alter(ctx, func(cat *catalog.Catalog) (*catalog.Catalog, *catalog.Collection, *catalog.Collection, error) {
		return cat.InstallIndex(b.col, b.index)
	})
}

// link builds the graph of what has been folded, so that the first search finds
// one. What open reads keep from being folded is linked later.
func (b *indexBuild) link(ctx context.Context) error {
	if err := b.db.Checkpoint(ctx); err != nil {
		return err
	}
	c, err := b.collection(b.db.Seq())
	if err != nil {
		return err
	}
	return public(b.db.graphs.Link(ctx, c, b.index))
}

// fill makes the entries of a stretch of rows, from the id next on, and moves
// next on; to 0 after the last.
func (b *indexBuild) fill(ctx context.Context, next *uint64) (err error) {
	defer base.Recover(b.db.Path(), base.Guard(), &err)
	if b.index.Kind == catalog.Text || b.index.Kind == catalog.Inverted {
		return b.fillPostings(ctx, next)
	}
	return b.db.store.Fill(b.index.Space, func(v *store.View) (keys []store.Entry, err error) {
		c, err := b.collection(v.Seq())
		if err != nil {
			return nil, err
		}
		keys, *next, err = table.NewReader(v, c).Gather(ctx, b.index, *next)
		return keys, err
	})
}

// fillPostings is fill for an index of postings.
func (b *indexBuild) fillPostings(ctx context.Context, next *uint64) error {
	return b.db.store.FillMerged(func(v *store.View) (func(*base.Tx) ([]base.Change, error), error) {
		c, err := b.collection(v.Seq())
		if err != nil {
			return nil, err
		}
		p, after, err := table.NewReader(v, c).GatherPostings(ctx, b.index, *next, postingsAtOnce)
		if err != nil {
			return nil, err
		}
		*next = after
		return p.Merge, nil
	})
}

// collection returns the definition at seq, if the index is in the building
// still.
func (b *indexBuild) collection(seq uint64) (*catalog.Collection, error) {
	c := b.db.catalogAt(seq).Numbered(b.col)
	if c == nil || c.Built(b.index) {
		return nil, fault.New(fault.NotFound, "what the index on %s of %s was being made on is gone", b.def.Path.String(), b.def.On.Text)
	}
	return c, nil
}

// sweep deletes the expired rows of the collection.
func (b *indexBuild) sweep(ctx context.Context) error {
	c, err := b.collection(b.db.store.Seq())
	if err == nil {
		_, err = b.db.sweepCollection(ctx, c)
	}
	return err
}

func (b *indexBuild) checkDistinct(ctx context.Context) error {
	return b.db.View(ctx, func(sn *Snapshot) (err error) {
		c, err := b.collection(sn.Seq())
		if err != nil {
			return err
		}
		v := sn.snap.View()
		defer v.Release()
		defer base.Recover(b.db.Path(), base.Guard(), &err)
		return public(table.NewReader(v, c).CheckDistinct(ctx, b.index))
	})
}

// abandon takes the index out of the building, whatever the context of the
// statement says.
func (b *indexBuild) abandon() error {
	err := b.alter(context.Background(), func(cat *catalog.Catalog) (*catalog.Catalog, *catalog.Collection, *catalog.Collection, error) {
		return cat.AbandonIndex(b.col, b.index)
	})
	switch {
	case err == nil, errors.Is(err, ErrNotFound), errors.Is(err, ErrClosed), errors.Is(err, ErrFailed), errors.Is(err, ErrReplica):
		return nil // it is gone, or the next open takes it out
	}
	return fmt.Errorf("abandon the index: %w", err)
}

// abandonBuilds takes out the indexes that a process which ended was building. Those of
// a primary that is followed are the primary's to take out, or to install.
func (db *DB) abandonBuilds() error {
	if db.History().Following {
		return nil
	}
	for _, c := range db.catalogAt(db.store.Seq()).Collections() {
		for _, x := range c.Building {
			b := indexBuild{db: db, col: c.Number, index: x}
			if err := b.abandon(); err != nil {
				return err
			}
		}
	}
	return nil
}
