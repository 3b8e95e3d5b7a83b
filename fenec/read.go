package fenec

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Snapshot reads a database at one sequence. It is safe for concurrent use
// until the function it was given to returns.
type Snapshot struct {
	db      *DB
	snap    *store.Snapshot
	catalog *catalog.Catalog
	closed  atomic.Bool
}

var errSnapshotOver = errors.New("the snapshot is read after its View has ended")

// View calls fn with a snapshot of everything written so far. Every read through
// it sees the same sequence, whatever is written meanwhile. Return soon: what was
// written since cannot be folded before. A snapshot that stands in the way for
// Options.SnapshotTimeout, that writers would have to wait for, or that an image
// waits for, is ended, and its reads fail with ErrSnapshotTooOld.
func (db *DB) View(ctx context.Context, fn func(*Snapshot) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	sn, err := db.snapshot()
	if err != nil {
		return err
	}
	defer sn.close()
	return fn(sn)
}

func (db *DB) snapshot() (*Snapshot, error) {
	snap, err := db.store.Snapshot()
	if err != nil {
		return nil, public(err)
	}
	return &Snapshot{db: db, snap: snap, catalog: db.catalogAt(snap.Seq())}, nil
}

func (sn *Snapshot) close() {
	sn.closed.Store(true)
	sn.snap.Close()
}

// Seq returns the sequence the snapshot stands at.
func (sn *Snapshot) Seq() uint64 { return sn.snap.Seq() }

// Query runs a statement that only reads; any other is ErrReadOnly.
func (sn *Snapshot) Query(ctx context.Context, text string, args ...any) (*Result, error) {
	st, err := sn.db.Prepare(text)
	if err != nil {
		return nil, err
	}
	params, err := parameters(args)
	if err != nil {
		return nil, err
	}
	if !reads(st.tree) {
		return nil, fault.New(fault.ReadOnly, "a snapshot can only be read")
	}
	return sn.run(ctx, st, params)
}

// retries is how often a single statement begins anew when its snapshot was
// ended, before it has told anybody anything.
const retries = 3

// read runs a statement that only reads, on a snapshot of its own.
func (db *DB) read(ctx context.Context, st *Stmt, params []value.Value) (res *Result, err error) {
	for range retries {
		res, err = db.readOnce(ctx, st, params)
		if !errors.Is(err, ErrSnapshotTooOld) {
			break
		}
	}
	return res, err
}

func (db *DB) readOnce(ctx context.Context, st *Stmt, params []value.Value) (*Result, error) {
	r, err := db.store.Read()
	if err != nil {
		return nil, public(err)
	}
	defer r.End()
	res, err := db.runGuarded(ctx, st, params, db.catalogAt(r.Seq()), &r.View)
	return res, public(err)
}

// run runs a statement that only reads.
func (sn *Snapshot) run(ctx context.Context, st *Stmt, params []value.Value) (*Result, error) {
	if sn.closed.Load() {
		return nil, errSnapshotOver
	}
	view := sn.snap.View()
	defer view.Release()
	res, err := sn.db.runGuarded(ctx, st, params, sn.catalog, view)
	return res, public(err)
}

// runGuarded runs a statement that only reads and reports faults in the file's
// map as errors.
func (db *DB) runGuarded(ctx context.Context, st *Stmt, params []value.Value, cat *catalog.Catalog, view *store.View) (res *Result, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer base.Recover(db.Path(), base.Guard(), &err)
	return db.runRead(ctx, st, params, cat, view, nil)
}

// runRead runs a statement that only reads, through a snapshot's view or, with
// tx, within a block.
func (db *DB) runRead(ctx context.Context, st *Stmt, params []value.Value, cat *catalog.Catalog, view *store.View, tx *table.Tx) (*Result, error) {
	switch st.tree.(type) {
	case *ql.Collections, *ql.Describe:
		found, err := schemas(st.tree, cat)
		return &Result{kind: KindSchemas, schemas: found, seq: view.Seq()}, err
	}
	s, err := st.compile(cat)
	if err != nil {
		return nil, err
	}
	var t plan.Table = table.NewReader(view, s.Collection())
	if tx != nil {
		t = tx.Writer(s.Collection()) // it knows the block's figures too
	}
	env := exec.Env{Params: params, Now: db.clock().UnixMilli()}
	rows, err := s.(exec.Query).Run(ctx, env, t)
	if err != nil {
		return nil, err
	}
	return &Result{kind: KindRows, rows: rows, columns: rows.Columns(), seq: view.Seq()}, nil
}
