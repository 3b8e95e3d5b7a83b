package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/fenec-go/fenecdb/bench/internal/litedriver"
)

// sqliteEngine is a SQLite database in WAL mode: one connection that writes, as
// SQLite has one writer anyhow and this spares waiting for its lock, and several
// that read.
type sqliteEngine struct {
	writer, reader *sql.DB
}

// liteOptions are how a SQLite database is opened.
type liteOptions struct {
	sync    string // pragma synchronous: normal syncs at checkpoints, full at every commit
	readers int    // connections that read
	cache   int    // MiB of page cache a connection, 0 for SQLite's own choice
}

func openSQLite(path string, opts liteOptions) (*sqliteEngine, error) {
	s := &sqliteEngine{}
	var err error
	if s.writer, err = openPool(path, opts, 1); err != nil {
		return nil, err
	}
	if s.reader, err = openPool(path, opts, opts.readers); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// openPool opens n connections and sets each up, which is done while all of them
// are held.
func openPool(path string, opts liteOptions, n int) (*sql.DB, error) {
	db, err := sql.Open(litedriver.Name, path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	held := make([]*sql.Conn, n)
	for i := range held {
		if held[i], err = db.Conn(context.Background()); err == nil {
			err = setUp(held[i], opts)
		}
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	for _, c := range held {
		err = errors.Join(err, c.Close())
	}
	return db, err
}

func setUp(c *sql.Conn, opts liteOptions) error {
	pragmas := []string{"busy_timeout=10000", "journal_mode=wal", "synchronous=" + opts.sync}
	if opts.cache > 0 {
		pragmas = append(pragmas, fmt.Sprintf("cache_size=-%d", opts.cache<<10))
	}
	_, err := c.ExecContext(context.Background(), "pragma "+strings.Join(pragmas, "; pragma "))
	return err
}

func (s *sqliteEngine) name() string { return "SQLite" }

func (s *sqliteEngine) run(ctx context.Context, statements ...string) error {
	for _, q := range statements {
		if _, err := s.writer.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// prepare prepares reads on the connections that read.
func (s *sqliteEngine) prepare(t text) (statement, error) {
	db := s.writer
	if strings.HasPrefix(t.sqlite, "select") {
		db = s.reader
	}
	st, err := db.Prepare(t.sqlite)
	if err != nil {
		return nil, err
	}
	return sqliteStatement{st}, nil
}

func (s *sqliteEngine) fill(ctx context.Context, t text, n int, args func(i int) []any) error {
	for from := 0; from < n; from += fillStep {
		if err := s.fillOne(ctx, t, from, min(from+fillStep, n), args); err != nil {
			return err
		}
	}
	return s.settle(ctx)
}

func (s *sqliteEngine) fillOne(ctx context.Context, t text, from, to int, args func(i int) []any) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	st, err := tx.Prepare(t.sqlite)
	for i := from; err == nil && i < to; i++ {
		_, err = st.Exec(args(i)...)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (s *sqliteEngine) json(t string) any        { return t }
func (s *sqliteEngine) jsonDest(c *jsonCell) any { return &c.text }

func (s *sqliteEngine) settle(ctx context.Context) error {
	return s.run(ctx, "pragma wal_checkpoint(truncate)")
}

func (s *sqliteEngine) close() error {
	var err error
	for _, db := range []*sql.DB{s.reader, s.writer} {
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}

// sqliteStatement leaves the context out: with one the driver starts a goroutine
// for each statement, to interrupt it.
type sqliteStatement struct{ st *sql.Stmt }

func (s sqliteStatement) rows(_ context.Context, args []any, each func(scan) error) error {
	rows, err := s.st.Query(args...)
	if err != nil {
		return err
	}
	scan := rows.Scan
	for rows.Next() {
		if err := each(scan); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

func (s sqliteStatement) exec(_ context.Context, args ...any) (int64, error) {
	res, err := s.st.Exec(args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
