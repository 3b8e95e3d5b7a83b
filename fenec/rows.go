package fenec

import (
	"context"
	"errors"
	"iter"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Rows runs a get and gives its rows as they are found, as many as there may be:
//
//	for row, err := range db.Rows(ctx, `get notes where done = $1 order id`, true) {
//		if err != nil {
//			return err
//		}
//		…
//	}
//
// They are those of Query, all as of one sequence. Some hundred of them are held at
// a time, or about 256 KiB with their children; but those that must be sorted, or
// put in groups, are held until that is done, and those of a get with require until
// their number is known. A get with facets, and every other statement, is
// ErrQuery: use Query.
//
// An error is the last that comes. After rows that came before it they are not all
// there are: a get may fail late, and one whose rows are taken so slowly that it
// stands in the way of writers ends as a View does, with ErrSnapshotTooOld. Beyond
// that nobody waits for the body of the loop: it may take its time, write to the
// database, and break. Each loop over what Rows returns runs the statement anew,
// and the arguments must stay what they are until it ends.
func (db *DB) Rows(ctx context.Context, text string, args ...any) iter.Seq2[Row, error] {
	return db.own.Rows(ctx, text, args...)
}

// Rows runs a get as DB.Rows does.
func (s *Session) Rows(ctx context.Context, text string, args ...any) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		l := rowLoop{session: s, yield: yield}
		if err := l.run(ctx, text, args); err != nil && !l.over {
			yield(Row{}, err)
		}
	}
}

// rowLoop is one loop over the rows of a get.
type rowLoop struct {
	session *Session
	yield   func(Row, error) bool
	begun   bool // a row has been given
	over    bool // no more are wanted
}

// errLoopOver ends the run of a get whose rows are not wanted any more.
var errLoopOver = errors.New("the loop is over")

func (l *rowLoop) run(ctx context.Context, text string, args []any) error {
	st, err := l.session.prepare(text)
	if err != nil {
		return err
	}
	if _, ok := st.tree.(*ql.Get); !ok {
		return fault.New(fault.Query, "only a get has rows that come one by one: use Query")
	}
	a := argumentPool.Get().(*arguments)
	defer a.release()
	params, err := appendParameters(a.few[:0], args)
	if err != nil {
		return err
	}
	var rest *Result
	for range retries {
		rest, err = l.find(ctx, st, params)
		if l.begun || !errors.Is(err, ErrSnapshotTooOld) {
			break
		}
	}
	if err == nil {
		l.give(rest)
	}
	return err
}

// find runs the statement on a snapshot of its own and returns the last of its
// rows, for which that is not needed.
func (l *rowLoop) find(ctx context.Context, st *Stmt, params []value.Value) (rest *Result, err error) {
	s := l.session
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := s.db.store.Read()
	if err != nil {
		return nil, public(err)
	}
	defer r.End()
	defer base.Recover(s.db.Path(), base.Guard(), &err)
	x, err := st.compile(s.db.catalogAt(r.Seq()))
	if err != nil {
		return nil, err
	}
	from := sources.Get().(*viewSource)
	defer from.release()
	from.view, from.graphs = &r.View, s.db.graphs
	env := exec.Env{Params: params, Guard: s.values, Now: s.db.clock().UnixMilli(), Source: from}
	rows, err := x.(exec.Batches).Each(ctx, env, func(rows *exec.Result) error {
		r.Pause()
		return l.give(rowsResult(rows, r.Seq()))
	})
	if err != nil {
		return nil, public(err)
	}
	return rowsResult(rows, r.Seq()), nil
}

// give gives rows to the body of the loop.
func (l *rowLoop) give(rows *Result) error {
	for row := range rows.All() {
		l.begun = true
		if !l.yield(row, nil) {
			l.over = true
			return errLoopOver
		}
	}
	return nil
}
