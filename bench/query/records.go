package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
)

const (
	recordBody = 184 // makes a row of 200 bytes with its id and its version
	mostScan   = 100 // rows of a scan
)

var (
	recordSchema = map[string]string{
		"fenec":  "create collection record (version int, body text)",
		"SQLite": "create table record (id integer primary key, version integer, body text)",
	}
	recordInsert = text{
		"insert record {id: $1, version: $2, body: $3}",
		"insert into record (id, version, body) values (?, ?, ?)",
	}
	recordGet = text{"get record where id = $1", "select id, version, body from record where id = ?"}
	recordSet = text{
		"set record {version: $2, body: $3} where id = $1",
		"update record set version = ?2, body = ?3 where id = ?1",
	}
	recordScan = text{
		"get record where id >= $1 and id < $2",
		"select id, version, body from record where id >= ? and id < ?",
	}
)

// records is a table of versioned rows under many readers and writers. The body
// of a row is that of its id and version, and each worker writes rows of its own
// only, so that it is known what a read may answer.
type records struct {
	e        engine
	pool     gen.Bodies
	base     int            // rows that were there at first
	inserted atomic.Int64   // rows since
	versions []atomic.Int64 // of the first rows, by id less 1, as acknowledged

	get, set, scan, insert statement
}

// loadRecords makes the table in e.
func loadRecords(ctx context.Context, e engine, n int, pool gen.Bodies) error {
	if err := e.run(ctx, recordSchema[e.name()]); err != nil {
		return err
	}
	return e.fill(ctx, recordInsert, n, func(i int) []any {
		id := int64(i + 1)
		return []any{id, int64(0), pool.At(id)}
	})
}

// newRecords takes over the table that loadRecords has made in e.
func newRecords(e engine, n int, pool gen.Bodies) (*records, error) {
	t := &records{e: e, pool: pool, base: n, versions: make([]atomic.Int64, n)}
	return t, t.use(e)
}

// use goes on with the table in e, which has been opened anew.
func (t *records) use(e engine) error {
	t.e = e
	return prepareAll(e, map[*statement]text{
		&t.get: recordGet, &t.set: recordSet, &t.scan: recordScan, &t.insert: recordInsert,
	})
}

// worker reads and writes a table, for one goroutine: of all that there are, the
// rows whose place leaves its number when divided by theirs are its own.
type worker struct {
	t           *records
	number, all int
	keys        *zipf
	rng         *rand.Rand

	id, version int64
	body        string
	dest        []any
	n           int   // rows of the answer so far
	from        int64 // the first id of a scan, or the only one
	args        []any
}

func newWorker(t *records, number, all int, keys *zipf) *worker {
	w := &worker{t: t, number: number, all: all, keys: keys, rng: rand.New(rand.NewPCG(5, uint64(number)))}
	w.dest = []any{&w.id, &w.version, &w.body}
	return w
}

// own returns the next key that the worker may write.
func (w *worker) own() int64 {
	i := w.keys.draw(w.rng)
	i += w.number - i%w.all
	if i >= w.t.base {
		i -= w.all
	}
	return int64(max(i, w.number) + 1)
}

func (w *worker) read(ctx context.Context) error {
	return w.readKey(ctx, int64(w.keys.draw(w.rng)+1))
}

// readKey reads one row, which must be there in the version acknowledged before
// or a later one.
func (w *worker) readKey(ctx context.Context, id int64) error {
	before := w.t.versions[id-1].Load()
	w.n, w.from = 0, id
	w.args = append(w.args[:0], id)
	if err := w.t.get.rows(ctx, w.args, w.row); err != nil {
		return err
	}
	if w.n != 1 {
		return fmt.Errorf("row %d is there %d times", id, w.n)
	}
	if w.version < before || w.all == 1 && w.version != before {
		return fmt.Errorf("row %d is read in version %d after %d was written", id, w.version, before)
	}
	return nil
}

// row scans the next row, whose id must be the next and whose body that of its
// version.
func (w *worker) row(scan scan) error {
	if err := scan(w.dest...); err != nil {
		return err
	}
	if w.id != w.from+int64(w.n) {
		return fmt.Errorf("got row %d in place of %d", w.id, w.from+int64(w.n))
	}
	w.n++
	if w.body != w.t.pool.At(w.id+w.version) {
		return fmt.Errorf("row %d has another body than that of version %d", w.id, w.version)
	}
	return nil
}

func (w *worker) update(ctx context.Context) error {
	id := w.own()
	return w.write(ctx, id, w.t.versions[id-1].Load()+1)
}

func (w *worker) write(ctx context.Context, id, version int64) error {
	n, err := w.t.set.exec(ctx, id, version, w.t.pool.At(id+version))
	if err == nil && n != 1 {
		err = fmt.Errorf("row %d is set %d times", id, n)
	}
	if err == nil {
		w.t.versions[id-1].Store(version)
	}
	return err
}

// readModifyWrite reads a row and writes its next version.
func (w *worker) readModifyWrite(ctx context.Context) error {
	id := w.own()
	if err := w.readKey(ctx, id); err != nil {
		return err
	}
	return w.write(ctx, id, w.version+1)
}

// scanSome reads up to mostScan rows that follow each other.
func (w *worker) scanSome(ctx context.Context) error {
	rows := min(1+w.rng.IntN(mostScan), w.t.base)
	return w.scanRange(ctx, int64(min(w.keys.draw(w.rng), w.t.base-rows)+1), rows)
}

func (w *worker) scanRange(ctx context.Context, from int64, rows int) error {
	w.n, w.from = 0, from
	w.args = append(w.args[:0], from, from+int64(rows))
	if err := w.t.scan.rows(ctx, w.args, w.row); err != nil {
		return err
	}
	if w.n != rows {
		return fmt.Errorf("%d rows from %d on, want %d", w.n, from, rows)
	}
	return nil
}

// add inserts a row past all others.
func (w *worker) add(ctx context.Context) error {
	id := int64(w.t.base) + w.t.inserted.Add(1)
	n, err := w.t.insert.exec(ctx, id, int64(0), w.t.pool.At(id))
	if err == nil && n != 1 {
		err = fmt.Errorf("row %d is inserted %d times", id, n)
	}
	return err
}

// verify reads the whole table and compares it with what was acknowledged. Nobody
// else is at work.
func (t *records) verify(ctx context.Context) error {
	w := newWorker(t, 0, 1, nil)
	w.from = 1
	err := t.scan.rows(ctx, []any{int64(1), int64(1 << 60)}, func(scan scan) error {
		if err := w.row(scan); err != nil {
			return err
		}
		want := int64(0)
		if w.n <= t.base {
			want = t.versions[w.n-1].Load()
		}
		if w.version != want {
			return fmt.Errorf("row %d ends in version %d, want %d", w.id, w.version, want)
		}
		return nil
	})
	if want := t.base + int(t.inserted.Load()); err == nil && w.n != want {
		err = fmt.Errorf("ends with %d rows, want %d", w.n, want)
	}
	return err
}
