package main

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"unicode"
)

const ftsName = "FTS5"

// ftsIndex is a table of SQLite's FTS5 with its tokenizer unicode61, which keeps
// the index and not the texts.
type ftsIndex struct {
	db  *sql.DB
	get *sql.Stmt
}

func openFTS(ctx context.Context, path string) (*ftsIndex, error) {
	db, err := sql.Open(ftsDriver, path)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	f := &ftsIndex{db: db}
	for _, q := range []string{
		"pragma journal_mode=wal",
		"pragma synchronous=normal",
		"create virtual table d using fts5(body, content='', tokenize='unicode61')",
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	if f.get, err = db.Prepare("select rowid from d where d match ? order by rank limit 10"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, nil
}

func (f *ftsIndex) fill(ctx context.Context, texts []string) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	st, err := tx.Prepare("insert into d (rowid, body) values (?, ?)")
	for i := 0; err == nil && i < len(texts); i++ {
		_, err = st.Exec(i+1, texts[i])
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// optimize merges the index into one piece, which is how it answers fastest, and
// moves it to the file.
func (f *ftsIndex) optimize(ctx context.Context) error {
	_, err := f.db.ExecContext(ctx, "insert into d(d) values('optimize'); pragma wal_checkpoint(truncate)")
	return err
}

// anyOf returns the question in FTS5's language: any of its words.
func anyOf(question string) string {
	var words []string
	between := func(r rune) bool { return !unicode.In(r, unicode.Letter, unicode.Number, unicode.Mark) }
	for _, w := range strings.FieldsFunc(question, between) {
		words = append(words, `"`+w+`"`)
	}
	return strings.Join(words, " OR ")
}

func (f *ftsIndex) ask(question string) ([]int32, error) {
	rows, err := f.get.Query(anyOf(question))
	if err != nil {
		return nil, err
	}
	var ids []int32
	for rows.Next() {
		var id int32
		if err := rows.Scan(&id); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		ids = append(ids, id-1)
	}
	return ids, errors.Join(rows.Err(), rows.Close())
}

func (f *ftsIndex) close() error { return errors.Join(f.get.Close(), f.db.Close()) }
