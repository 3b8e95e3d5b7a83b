package fenec

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/graphs"
	"github.com/fenec-go/fenecdb/fenec/internal/inside"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// bound is a statement with its parameters.
type bound struct {
	st     *Stmt
	params []value.Value
	into   *Result // whose memory rows may be answered in, or nil
}

// BatchError says which statement of a batch failed, or which row of a Load.
// Nothing of a batch was kept, so Completed is 0; a Load, and servers that run
// statements one by one, count those that stayed.
type BatchError struct {
	At        int // index from 0
	Completed int
	Err       error
}

// Error counts statements from 1, as people do: the one at 0 is the first.
func (e *BatchError) Error() string {
	return fmt.Sprintf("statement %d of the batch: %v", e.At+1, e.Err)
}

// Unwrap returns the statement's error.
func (e *BatchError) Unwrap() error { return e.Err }

// Batch runs statements in order as one block: all of them or, when one fails,
// none. Each sees what those before it wrote; nobody else sees anything before
// the last is done. A batch of reads only sees one snapshot. A compact cannot be
// part of a batch. When a statement fails the error is a *BatchError that says
// which; what refuses the whole block, as a limit or the disk, is returned as it
// is.
func (db *DB) Batch(ctx context.Context, stmts []Statement) ([]*Result, error) {
	return db.own.Batch(ctx, stmts)
}

// Batch runs statements as DB.Batch does.
func (s *Session) Batch(ctx context.Context, stmts []Statement) ([]*Result, error) {
	list := make([]bound, len(stmts))
	onlyReads := true
	for i, one := range stmts {
		b, err := s.bind(one, nil)
		if err != nil {
			return nil, &BatchError{At: i, Err: err}
		}
		list[i] = b
		onlyReads = onlyReads && reads(b.st.tree)
	}
	if onlyReads {
		return s.readAll(ctx, list)
	}
	return s.write(ctx, list)
}

// bind reads a statement that is to be part of a block, and its arguments into the
// room that there is for them, if that is enough.
func (s *Session) bind(one Statement, room []value.Value) (bound, error) {
	st, err := s.prepare(one.Text)
	if err != nil {
		return bound{}, err
	}
	if err := s.allows(st.tree); err != nil {
		return bound{}, err
	}
	if _, ok := st.tree.(*ql.Compact); ok {
		return bound{}, fault.New(fault.Query, "compact cannot be part of a block")
	}
	params, err := appendParameters(room, one.Args)
	return bound{st: st, params: params}, err
}

func (s *Session) readAll(ctx context.Context, list []bound) ([]*Result, error) {
	var results []*Result
	err := s.View(ctx, func(sn *Snapshot) error {
		for i, b := range list {
			res, err := sn.run(ctx, b)
			if err != nil {
				return &BatchError{At: i, Err: err}
			}
			results = append(results, res)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// writeOne runs one statement as a block and waits until that is as durable as the
// policy promises.
func (s *Session) writeOne(ctx context.Context, b bound) (res *Result, err error) {
	if grows(b.st.tree) {
		if err := s.db.makeRoom(ctx); err != nil {
			return nil, err
		}
	}
	ticket, err := s.inBlock(ctx, func(w *block) (err error) {
		res, err = w.run(ctx, b)
		return public(err)
	})
	if err != nil {
		return nil, err
	}
	res.seq = ticket.To
	if err := s.db.confirmed(ctx, ticket); err != nil {
		return nil, err
	}
	return res, nil
}

// write runs statements as one block and waits until it is as durable as the
// policy promises.
func (s *Session) write(ctx context.Context, list []bound) ([]*Result, error) {
	if slices.ContainsFunc(list, func(b bound) bool { return grows(b.st.tree) }) {
		if err := s.db.makeRoom(ctx); err != nil {
			return nil, err
		}
	}
	var results []*Result
	ticket, err := s.inBlock(ctx, func(w *block) (err error) {
		results, err = w.runAll(ctx, list)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, res := range results {
		res.seq = ticket.To
	}
	if err := s.db.confirmed(ctx, ticket); err != nil {
		return nil, err
	}
	return results, nil
}

// durable waits until a block is as durable as the policy promises.
func durable(ctx context.Context, t store.Ticket) error {
	defer inside.Phase(ctx, "durability")()
	return public(t.Wait(ctx))
}

// inBlock opens a block, has fn fill it, and commits it; when fn fails nothing
// of it is left.
func (s *Session) inBlock(ctx context.Context, fn func(*block) error) (store.Ticket, error) {
	if err := ctx.Err(); err != nil {
		return store.Ticket{}, err
	}
	db := s.db
	w := blocks.Get().(*block)
	defer w.release()
	w.db, w.session = db, s
	waited := inside.Phase(ctx, "lock.wait")
	b, err := db.store.Begin(ctx, nil)
	waited()
	if err != nil {
		return store.Ticket{}, public(err)
	}
	if w.fence, err = db.fenced(); err != nil {
		b.Rollback()
		return store.Ticket{}, err
	}
	w.block, w.tx = b, db.figures.Begin(b)
	// Looked up under the write lock: a limit holds for those who wait for it too.
	if limit := db.limit.Load(); limit != nil {
		w.limit = *limit
		b.SetLimit(w.ask)
	}
	w.hook()
	w.catalog = db.catalogAt(b.Seq())
	w.before = w.catalog
	ended := false
	defer func() {
		if !ended {
			b.Rollback() // fn failed, or it or the limit panicked
		}
	}()
	if err := fn(w); err != nil {
		return store.Ticket{}, err
	}
	if err := ctx.Err(); err != nil {
		return store.Ticket{}, err
	}
	ticket, err := w.commit(&ended)
	return ticket, public(err)
}

// block is an open block of statements.
type block struct {
	db      *DB
	session *Session
	block   *store.Block
	tx      *table.Tx
	catalog *catalog.Catalog // as the block has made it
	before  *catalog.Catalog
	limit   func(Block) error // or nil
	asked   table.Change      // what limit has been asked about
	parts   int
	expiry  bool          // it is a sweep's
	fence   *func() error // that let the block begin, or nil

	reader table.TxReader // what the statement at hand reads first, to save its memory
	lent   bool           // reader is in use
}

// blocks are blocks that have ended. What is answered to a statement may not refer
// to the block it was of.
var blocks = sync.Pool{New: func() any { return new(block) }}

// release lets the memory of a block be that of another one.
func (w *block) release() {
	*w = block{}
	blocks.Put(w)
}

// as makes the statements that follow those of s.
func (w *block) as(s *Session) {
	if w.session != s {
		w.session = s
		w.hook()
	}
}

// seq returns the sequence of the last write, of the block or before it.
func (w *block) seq() uint64 { return w.block.Next() - 1 }

func (w *block) runAll(ctx context.Context, list []bound) ([]*Result, error) {
	results := make([]*Result, len(list))
	for i, b := range list {
		var err error
		if results[i], err = w.run(ctx, b); err != nil {
			return nil, &BatchError{At: i, Err: public(err)}
		}
	}
	return results, nil
}

func (w *block) run(ctx context.Context, b bound) (res *Result, err error) {
	defer base.Recover(w.db.Path(), base.Guard(), &err)
	w.lent = false
	if grows(b.st.tree) {
		if err := w.db.checkMemory(); err != nil {
			return nil, err
		}
	}
	switch tree := b.st.tree.(type) {
	case *ql.CreateCollection:
		return w.create(tree)
	case *ql.DropCollection:
		return w.drop(tree)
	case *ql.AlterCollection:
		return w.alter(ctx, tree)
	case *ql.CreateIndex:
		return w.createIndex(ctx, tree)
	}
	if reads(b.st.tree) {
		return w.session.runRead(ctx, b, w.catalog, w.block.Seq(), w)
	}
	x, err := b.st.compile(w.catalog)
	if err != nil {
		return nil, err
	}
	env := exec.Env{Params: b.params, Guard: w.session.values, Now: w.block.Time().UnixMilli(), Source: w}
	out, err := x.(exec.Write).Run(ctx, env, w.tx)
	if err != nil {
		return nil, err
	}
	if out.Rows == nil {
		return &Result{kind: KindAffected, affected: out.Affected, wrote: true}, nil
	}
	return &Result{kind: KindRows, rows: out.Rows, affected: out.Affected, wrote: true}, nil
}

// Table gives the block's statements a collection as the block has made it.
func (w *block) Table(c *catalog.Collection) plan.Table {
	if w.lent {
		return w.tx.Reader(c)
	}
	w.reader, w.lent = *w.tx.Reader(c), true
	return &w.reader
}

// Graph gives the block's statements the graph of an index.
func (w *block) Graph(ctx context.Context, c *catalog.Collection, x *catalog.Index) (*graphs.Graph, error) {
	return w.db.graphs.Graph(ctx, c, x)
}

// commit ends the block, and says so in ended unless something is wrong before.
func (w *block) commit(ended *bool) (store.Ticket, error) {
	if err := w.tx.Seal(); err != nil {
		return store.Ticket{}, err
	}
	if w.fence != nil {
		if err := (*w.fence)(); err != nil { // what it has said as the block began is over
			return store.Ticket{}, err
		}
	}
	ticket, err := w.block.Commit(func(seq uint64) {
		w.tx.Publish()
		if w.catalog != w.before {
			w.db.publishCatalog(seq, w.catalog)
			w.db.latest.prune(w.catalog)
		}
		w.db.latest.wrote(w.tx.Notes(), seq)
		w.db.watch.wrote(w.tx.Notes(), seq)
	})
	*ended = true
	w.db.watch.published()
	return ticket, err
}
