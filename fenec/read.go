package fenec

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/graphs"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Snapshot reads a database at one sequence. It is safe for concurrent use
// until the function it was given to returns.
type Snapshot struct {
	session *Session
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
	return db.own.View(ctx, fn)
}

func (s *Session) snapshot() (*Snapshot, error) {
	snap, err := s.db.store.Snapshot()
	if err != nil {
		return nil, public(err)
	}
	return &Snapshot{session: s, snap: snap, catalog: s.db.catalogAt(snap.Seq())}, nil
}

func (sn *Snapshot) close() {
	sn.closed.Store(true)
	sn.snap.Close()
}

// Seq returns the sequence the snapshot stands at.
func (sn *Snapshot) Seq() uint64 { return sn.snap.Seq() }

// Query runs a statement that only reads; any other is ErrReadOnly.
func (sn *Snapshot) Query(ctx context.Context, text string, args ...any) (*Result, error) {
	st, err := sn.session.prepare(text)
	if err != nil {
		return nil, err
	}
	a := argumentPool.Get().(*arguments)
	defer a.release()
	params, err := appendParameters(a.few[:0], args)
	if err != nil {
		return nil, err
	}
	if !reads(st.tree) {
		return nil, fault.New(fault.ReadOnly, "a snapshot can only be read")
	}
	return sn.run(ctx, bound{st: st, params: params})
}

// retries is how often a single statement begins anew when its snapshot was
// ended, before it has told anybody anything.
const retries = 3

// read runs a statement that only reads, on a snapshot of its own.
func (s *Session) read(ctx context.Context, b bound) (res *Result, err error) {
	for range retries {
		res, err = s.readOnce(ctx, b)
		if !errors.Is(err, ErrSnapshotTooOld) {
			break
		}
	}
	return res, err
}

func (s *Session) readOnce(ctx context.Context, b bound) (*Result, error) {
	r, err := s.db.store.Read()
	if err != nil {
		return nil, public(err)
	}
	defer r.End()
	res, err := s.runGuarded(ctx, b, s.db.catalogAt(r.Seq()), &r.View)
	return res, public(err)
}

// run runs a statement that only reads.
func (sn *Snapshot) run(ctx context.Context, b bound) (*Result, error) {
	if sn.closed.Load() {
		return nil, errSnapshotOver
	}
	view := sn.snap.View()
	defer view.Release()
	res, err := sn.session.runGuarded(ctx, b, sn.catalog, view)
	return res, public(err)
}

// runGuarded runs a statement that only reads and reports faults in the file's
// map as errors.
func (s *Session) runGuarded(ctx context.Context, b bound, cat *catalog.Catalog, view *store.View) (res *Result, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer base.Recover(s.db.Path(), base.Guard(), &err)
	from := sources.Get().(*viewSource)
	defer from.release()
	from.view, from.graphs = view, s.db.graphs
	return s.runRead(ctx, b, cat, view.Seq(), from)
}

// viewSource gives collections as a snapshot's view has them, to one run of a
// statement and then to others.
type viewSource struct {
	view   *store.View
	graphs *graphs.Set
	reader table.Reader // of the collection asked for first, to save its memory
	lent   bool         // reader is in use
}

var sources = sync.Pool{New: func() any { return new(viewSource) }}

func (v *viewSource) release() {
	*v = viewSource{}
	sources.Put(v)
}

func (v *viewSource) Table(c *catalog.Collection) plan.Table {
	if v.lent {
		return table.NewReader(v.view, c)
	}
	v.reader, v.lent = *table.NewReader(v.view, c), true
	return &v.reader
}

func (v *viewSource) Graph(ctx context.Context, c *catalog.Collection, x *catalog.Index) (*graphs.Graph, error) {
	return v.graphs.Graph(ctx, c, x)
}

// runRead runs a statement that only reads, at that sequence.
func (s *Session) runRead(ctx context.Context, b bound, cat *catalog.Catalog, seq uint64, from exec.Source) (*Result, error) {
	switch b.st.tree.(type) {
	case *ql.Collections, *ql.Describe:
		found, err := s.schemas(b.st.tree, cat)
		return &Result{kind: KindSchemas, told: &told{schemas: found}, seq: seq}, err
	}
	x, err := b.st.compile(cat)
	if err != nil {
		return nil, err
	}
	env := exec.Env{Params: b.params, Guard: s.values, Now: s.db.clock().UnixMilli(), Source: from, Into: b.into.recycle()}
	rows, err := x.(exec.Query).Run(ctx, env)
	if err != nil {
		return nil, err
	}
	if b.into == nil {
		return rowsResult(rows, seq), nil
	}
	b.into.kind, b.into.rows, b.into.seq = KindRows, rows, seq
	return b.into, nil
}

// recycle empties r, of which nothing is good afterwards, and returns the memory that
// its rows had; nil if there is none, or no r.
func (r *Result) recycle() *exec.Result {
	if r == nil {
		return nil
	}
	rows := r.rows
	if rows != nil {
		rows.Recycle()
	}
	*r = Result{rows: rows}
	return rows
}

// rowsResult returns the rows of a statement that only reads, as of seq.
func rowsResult(rows *exec.Result, seq uint64) *Result {
	return &Result{kind: KindRows, rows: rows, seq: seq}
}
