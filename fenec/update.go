package fenec

import (
	"context"
	"errors"
	"sync"
)

// Tx is a block that a program fills statement by statement, see DB.Update.
type Tx struct {
	session *Session
	*update
}

// update is one run of Update, which its Txs share.
type update struct {
	mu     sync.Mutex // guards the fields below, and is held while a statement runs
	block  *block     // nil once fn has returned
	failed error      // of the first statement that failed
}

// errTxOver is returned by a Tx whose Update has ended.
var errTxOver = errors.New("the transaction is used after its Update has ended")

// Update calls fn with a transaction whose statements are one block: all of them
// happen or, when one of them or fn fails or fn panics, none. Each sees what those
// before it wrote; nobody else sees anything before the end. It returns the
// sequence of the last write, its own if there was one, and waits as Query does
// until the block is as durable as Options.Sync promises.
//
//	seq, err := db.Update(ctx, func(tx *fenec.Tx) error {
//		res, err := tx.Query(ctx, `get accounts select balance where id = $1`, from)
//		…
//		_, err = tx.Exec(ctx, `set accounts {balance: balance - $1} where id = $2`, amount, from)
//		return err
//	})
//
// fn holds the write lock, and what it writes is held in memory: it should return
// soon. It must not write to the database but through tx, which would wait for
// itself. When ctx has ended by the time that fn returns, nothing is kept.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) (seq uint64, err error) {
	return db.own.Update(ctx, fn)
}

// Update fills a block as DB.Update does.
func (s *Session) Update(ctx context.Context, fn func(*Tx) error) (seq uint64, err error) {
	if err := s.db.makeRoom(ctx); err != nil {
		return 0, err
	}
	ticket, err := s.inBlock(ctx, func(w *block) error {
		u := update{block: w}
		defer u.end()
		if err := fn(&Tx{s, &u}); err != nil {
			return err
		}
		return u.end()
	})
	if err != nil {
		return 0, public(err)
	}
	return ticket.To, s.db.confirmed(ctx, ticket)
}

// end lets no more statements in, and returns why one of them failed.
func (u *update) end() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.block = nil
	return u.failed
}

// Query runs one statement, of any kind but compact, and returns its answer. After
// one that failed, whether for its words, its arguments or what it met, nothing is
// kept: those that follow return the same error, and so does Update if fn
// returns nil.
func (tx *Tx) Query(ctx context.Context, text string, args ...any) (*Result, error) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	switch {
	case tx.block == nil:
		return nil, errTxOver
	case tx.failed != nil:
		return nil, tx.failed
	}
	res, err := tx.run(ctx, Statement{text, args})
	if err != nil {
		tx.failed = public(err)
		return nil, tx.failed
	}
	return res, nil
}

func (tx *Tx) run(ctx context.Context, one Statement) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a := argumentPool.Get().(*arguments)
	defer a.release()
	b, err := tx.session.bind(one, a.few[:0])
	if err != nil {
		return nil, err
	}
	tx.block.as(tx.session)
	res, err := tx.block.run(ctx, b)
	if err != nil {
		return nil, err
	}
	res.seq = tx.block.seq()
	return res, nil
}

// Exec runs one statement as Query does and returns how many documents it wrote
// or deleted.
func (tx *Tx) Exec(ctx context.Context, text string, args ...any) (int, error) {
	res, err := tx.Query(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return res.Affected(), nil
}

// Seq returns the sequence of the last write, of this block or before it; 0 once
// fn has returned.
func (tx *Tx) Seq() uint64 {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	if tx.block == nil {
		return 0
	}
	return tx.block.seq()
}

// As returns the same block as s shows it: for a server that writes a row of its
// own beside the statements of somebody who may not. s is a session of the same
// database.
func (tx *Tx) As(s *Session) *Tx { return &Tx{s, tx.update} }
