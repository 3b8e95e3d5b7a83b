package main

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strconv"

	"github.com/fenec-go/fenecdb/bench/internal/litedriver"
)

// liteSide is SQLite (WAL, synchronous=normal) behind a handler for net/http that
// answers the same requests with the same JSON, by prepared statements. One
// connection writes, as SQLite has one writer, and one for each core reads.
//
// SQLite has no index of vectors: a search measures all of them.
type liteSide struct {
	file                    string
	writer, reader          *sql.DB
	byID, byK, vectors, put *sql.Stmt
}

// hit is a row that a search found.
type hit struct {
	ID    int64   `json:"id"`
	K     int64   `json:"k"`
	Body  string  `json:"body"`
	Score float32 `json:"_score"`
}

func (l *liteSide) open(ctx context.Context, w *world) (map[string]http.Handler, error) {
	var err error
	if l.writer, err = openLite(ctx, l.file, 1); err != nil {
		return nil, err
	}
	if l.reader, err = openLite(ctx, l.file, runtime.NumCPU()); err != nil {
		return nil, err
	}
	if err := l.fill(ctx, w); err != nil {
		return nil, err
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		db   *sql.DB
		text string
	}{
		{&l.byID, l.reader, "select id, k, owner, body from docs where id = ?"},
		{&l.byK, l.reader, "select id, k, owner, body from docs where k = ? limit ?"},
		{&l.vectors, l.reader, "select id, k, body, vec from shapes"},
		{&l.put, l.writer, "insert into notes (k, owner, body) values (?, ?, ?)"},
	} {
		if *p.stmt, err = p.db.PrepareContext(ctx, p.text); err != nil {
			return nil, err
		}
	}
	return map[string]http.Handler{surface: l.handler()}, nil
}

func openLite(ctx context.Context, file string, connections int) (*sql.DB, error) {
	db, err := sql.Open(litedriver.Name, file)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	_, err = db.ExecContext(ctx, "pragma journal_mode=wal; pragma synchronous=normal")
	return db, err
}

func (l *liteSide) fill(ctx context.Context, w *world) error {
	for _, text := range []string{
		"create table docs (id integer primary key, k integer, owner text, body text)",
		"create index docs_k on docs (k)",
		"create table notes (id integer primary key, k integer, owner text, body text)",
		"create table shapes (id integer primary key, k integer, body text, vec blob)",
	} {
		if _, err := l.writer.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	tx, err := l.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for id := 1; id <= w.rows; id++ {
		d, s := w.doc(id), w.shape(id)
		_, err := tx.Exec("insert into docs values (?, ?, ?, ?)", d.ID, d.K, d.Owner, d.Body)
		if err == nil {
			_, err = tx.Exec("insert into shapes values (?, ?, ?, ?)", s.ID, s.K, s.Body, bytesOf(s.Vec))
		}
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// bytesOf writes a vector as SQLite keeps it.
func bytesOf(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func (l *liteSide) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, r *http.Request) {
		rows, err := l.read(r)
		answer(w, http.StatusOK, rows, err)
	})
	mux.HandleFunc("POST /shapes/near", func(w http.ResponseWriter, r *http.Request) {
		hits, err := l.near(r)
		answer(w, http.StatusOK, hits, err)
	})
	mux.HandleFunc("POST /notes", func(w http.ResponseWriter, r *http.Request) {
		var d doc
		err := json.NewDecoder(r.Body).Decode(&d)
		if err == nil {
			_, err = l.put.ExecContext(r.Context(), d.K, d.Owner, d.Body)
		}
		answer(w, http.StatusCreated, struct {
			Inserted int `json:"inserted"`
		}{1}, err)
	})
	return mux
}

func answer(w http.ResponseWriter, status int, v any, err error) {
	body, jsonErr := json.Marshal(v)
	if err := errors.Join(err, jsonErr); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// read answers a get by id, or by k with a limit.
func (l *liteSide) read(r *http.Request) ([]doc, error) {
	q := r.URL.Query()
	if id := q.Get("id"); id != "" {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return nil, err
		}
		return docsOf(l.byID.QueryContext(r.Context(), n))
	}
	k, err := strconv.ParseInt(q.Get("k"), 10, 64)
	if err != nil {
		return nil, err
	}
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil {
		return nil, err
	}
	return docsOf(l.byK.QueryContext(r.Context(), k, limit))
}

func docsOf(rows *sql.Rows, err error) ([]doc, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []doc{}
	for rows.Next() {
		var d doc
		if err := rows.Scan(&d.ID, &d.K, &d.Owner, &d.Body); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, rows.Err()
}

// near answers a search by the cosine of vectors of length 1.
func (l *liteSide) near(r *http.Request) ([]hit, error) {
	var q struct {
		Vector []float32 `json:"vector"`
		Limit  int       `json:"limit"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		return nil, err
	}
	rows, err := l.vectors.QueryContext(r.Context())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	best := make([]hit, 0, q.Limit+1)
	for rows.Next() {
		var (
			h         hit
			body, vec sql.RawBytes
		)
		if err := rows.Scan(&h.ID, &h.K, &body, &vec); err != nil {
			return nil, err
		}
		h.Score = dot(q.Vector, vec)
		if len(best) == q.Limit && h.Score <= best[q.Limit-1].Score {
			continue
		}
		h.Body = string(body)
		at, _ := slices.BinarySearchFunc(best, h.Score, func(h hit, s float32) int { return cmp.Compare(s, h.Score) })
		best = slices.Insert(best, at, h)
		best = best[:min(len(best), q.Limit)]
	}
	return best, rows.Err()
}

func dot(v []float32, b []byte) (sum float32) {
	for i := range min(len(v), len(b)/4) {
		sum += v[i] * math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return sum
}

func (l *liteSide) Close() error {
	var errs []error
	for _, db := range []*sql.DB{l.reader, l.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}
