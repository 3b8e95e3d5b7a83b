package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/litedriver"
)

// sqlite is a SQLite database in WAL mode with one table of rows and prepared
// statements, over one connection, which is how SQLite writes fastest.
type sqlite struct {
	db       *sql.DB
	ins, get *sql.Stmt
}

// openSQLite creates the database at path. sync is its pragma synchronous.
func openSQLite(path, sync string) (*sqlite, error) {
	db, err := sql.Open(litedriver.Name, path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &sqlite{db: db}
	if err := s.prepare(sync); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func (s *sqlite) prepare(sync string) error {
	for _, q := range []string{
		"pragma journal_mode=wal",
		"pragma synchronous=" + sync,
		"create table rows (id integer primary key, k integer, body text)",
	} {
		if _, err := s.db.Exec(q); err != nil {
			return err
		}
	}
	var err error
	if s.ins, err = s.db.Prepare("insert into rows (id, k, body) values (?, ?, ?)"); err != nil {
		return err
	}
	s.get, err = s.db.Prepare("select id, k, body from rows where id = ?")
	return err
}

func (s *sqlite) put(id int64, body string) error {
	_, err := s.ins.Exec(id, id, body)
	return err
}

// append puts a row whose id SQLite chooses.
func (s *sqlite) append(k int64, body string) error {
	_, err := s.ins.Exec(nil, k, body)
	return err
}

func (s *sqlite) read(id int64) error {
	var (
		got, k int64
		body   string
	)
	return s.get.QueryRow(id).Scan(&got, &k, &body)
}

// fill puts the even ids up to 2*rows in large transactions.
func (s *sqlite) fill(ctx context.Context, rows int, pool gen.Bodies) error {
	for from := 0; from < rows; from += fillStep {
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		ins := tx.Stmt(s.ins)
		for i := from; i < min(from+fillStep, rows); i++ {
			id := baseID(i)
			if _, err := ins.Exec(id, id, pool.At(id)); err != nil {
				return errors.Join(err, tx.Rollback())
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return s.settle()
}

// cache gives the connection a page cache of so many MiB; SQLite's own choice is
// two.
func (s *sqlite) cache(mib int) error {
	_, err := s.db.Exec(fmt.Sprintf("pragma cache_size=-%d", mib<<10))
	return err
}

// settle moves what is in the write-ahead log into the database file.
func (s *sqlite) settle() error {
	_, err := s.db.Exec("pragma wal_checkpoint(truncate)")
	return err
}

func (s *sqlite) close() error { return s.db.Close() }
