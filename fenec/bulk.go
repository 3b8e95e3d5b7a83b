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

// A block of Load ends with the row that brings it to one of these.
const (
	loadRows  = 512
	loadBytes = 256 << 10 // of memory that the arguments take up, about
)

// Load runs a statement once for each row of arguments, for many documents with
// less work than as many calls of Exec:
//
//	n, err := db.Load(ctx, `put notes {text: $1, embedding: $2}`, func(yield func([]any, error) bool) {
//		for _, note := range notes {
//			if !yield([]any{note.Text, note.Embedding}, nil) {
//				return
//			}
//		}
//	})
//
// The statement is a put, an insert, a set or a del, and does for each row what
// Exec does. Arguments are as those of Exec. They are copied: the slice of a row,
// and slices in it, may be used again for the next.
//
// Rows are written in blocks of up to 512 and about 256 KiB of arguments, of fewer
// where Options.BlockBytes asks for it. A block happens whole or not at all, and
// others may write between two. The write lock is not held while rows are asked
// for: they may take their time and use the database, which does not have the
// latest of them yet.
//
// Load returns how many of the rows are written: the first n, and nothing of those
// after them. The first error ends it, and nothing is kept of the block that was
// being gathered or written. When a row fails the error is a *BatchError with the
// row's index as At and n as Completed; what refuses a whole block, as a limit or
// the disk, and an error that rows yields are returned as they are. When ctx ends,
// rows among the n may still be waiting for the disk.
func (db *DB) Load(ctx context.Context, text string, rows iter.Seq2[[]any, error]) (n int, err error) {
	return db.own.Load(ctx, text, rows)
}

// Load writes rows as DB.Load does.
func (s *Session) Load(ctx context.Context, text string, rows iter.Seq2[[]any, error]) (n int, err error) {
	st, err := s.prepare(text)
	if err != nil {
		return 0, err
	}
	switch st.tree.(type) {
	case *ql.Put, *ql.Set, *ql.Del:
	default:
		return 0, fault.New(fault.Query, "want a statement that writes documents: put, insert, set or del")
	}
	if err := s.allows(st.tree); err != nil {
		return 0, err
	}
	l := loader{session: s, st: st, most: loadRows}
	for args, err := range rows {
		if err == nil {
			err = l.take(ctx, args)
		}
		if err != nil {
			return l.written, err
		}
	}
	err = l.flush(ctx)
	return l.written, err
}

// loader is one run of Load.
type loader struct {
	session *Session
	st      *Stmt
	most    int // rows of a block
	written int // rows in blocks before

	// The rows of the block to come, in memory that the next block uses again.
	rows   [][]value.Value
	floats []float32 // of their vectors
	bytes  int       // that they take up, about
}

// take adds a row and writes the block that it fills.
func (l *loader) take(ctx context.Context, args []any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := l.add(args); err != nil {
		return l.failed(len(l.rows), err)
	}
	if len(l.rows) < l.most && l.bytes < loadBytes {
		return nil
	}
	return l.flush(ctx)
}

// failed returns the error of the row i rows after those that are written.
func (l *loader) failed(i int, err error) error {
	return &BatchError{At: l.written + i, Completed: l.written, Err: public(err)}
}

func (l *loader) add(args []any) error {
	var room []value.Value
	if n := len(l.rows); n < cap(l.rows) {
		room = l.rows[:n+1][n] // of a row that is written
	}
	row, err := appendParameters(room[:0], args)
	if err != nil {
		return err
	}
	for i, v := range row {
		row[i] = l.own(v)
	}
	l.rows = append(l.rows, row)
	return nil
}

// own returns v without memory of the caller's, and counts it. Lists and objects
// are new since they were made of an argument; texts do not change.
func (l *loader) own(v value.Value) value.Value {
	const each = 32 // a Value and what else there is of it
	l.bytes += each
	switch v.Kind() {
	case value.KindText:
		l.bytes += v.Len()
	case value.KindBytes:
		l.bytes += v.Len()
		return value.Clone(v)
	case value.KindVector:
		l.bytes += 4 * v.Len()
		start := len(l.floats)
		l.floats = append(l.floats, v.AsVector()...)
		return value.Vector(l.floats[start:])
	case value.KindList:
		elems := v.AsList()
		for i, e := range elems {
			elems[i] = l.own(e)
		}
	case value.KindObject:
		members := v.AsObject()
		for i, m := range members {
			l.bytes += len(m.Key)
			members[i].Value = l.own(m.Value)
		}
	}
	return v
}

// flush writes the rows there are and forgets them.
func (l *loader) flush(ctx context.Context) error {
	err := l.write(ctx, l.rows)
	l.rows, l.floats, l.bytes = l.rows[:0], l.floats[:0], 0
	return err
}

// write writes rows as one block, or as several where one would be too large.
func (l *loader) write(ctx context.Context, rows [][]value.Value) error {
	if len(rows) == 0 {
		return nil
	}
	if l.grows() {
		if err := l.session.db.makeRoom(ctx); err != nil {
			return err
		}
	}
	ticket, err := l.session.inBlock(ctx, func(w *block) error { return l.fill(ctx, w, rows) })
	if errors.Is(err, ErrBlockTooLarge) && len(rows) > 1 {
		l.most = len(rows) / 2
		if err := l.write(ctx, rows[:len(rows)/2]); err != nil {
			return err
		}
		return l.write(ctx, rows[len(rows)/2:])
	}
	if err != nil {
		return public(err)
	}
	l.written += len(rows)
	return l.session.db.confirmed(ctx, ticket)
}

func (l *loader) grows() bool { return grows(l.st.tree) }

// fill runs the statement for rows.
func (l *loader) fill(ctx context.Context, w *block, rows [][]value.Value) (err error) {
	defer base.Recover(w.db.Path(), base.Guard(), &err)
	x, err := l.st.compile(w.catalog)
	if err != nil {
		return err
	}
	if l.grows() {
		if err := w.db.checkMemory(); err != nil {
			return err
		}
	}
	env := exec.Env{Guard: l.session.values, Now: w.block.Time().UnixMilli(), Source: w}
	for i, params := range rows {
		w.lent, env.Params = false, params
		if _, err := x.(exec.Write).Run(ctx, env, w.tx); err != nil {
			return l.failed(i, err)
		}
	}
	return nil
}
