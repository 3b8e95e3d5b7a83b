package quota

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// The lengths of a span, in seconds.
const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
)

// span is what a tenant used in one minute or day, as the database has it. Spans
// of minutes have no ByteSeconds.
type span struct {
	Key          string `fenec:"key"` // tenant and at
	Tenant       string `fenec:"tenant"`
	At           int64  `fenec:"at"` // its beginning, in Unix seconds
	Requests     int64  `fenec:"requests"`
	RowsRead     int64  `fenec:"rows_read"`
	RowsWritten  int64  `fenec:"rows_written"`
	BytesRead    int64  `fenec:"bytes_read"`
	BytesWritten int64  `fenec:"bytes_written"`
	CPU          int64  `fenec:"cpu"`     // nanoseconds
	Streams      int64  `fenec:"streams"` // nanoseconds
	ByteSeconds  int64  `fenec:"byte_seconds"`
}

const spanFields = `(key text @unique, tenant text @hash, at int @sorted, requests int, rows_read int, rows_written int,
	bytes_read int, bytes_written int, cpu int, streams int, byte_seconds int)`

// addSpan adds to the spans that are there.
const addSpan = ` $1 if absent else set {requests: requests + new.requests, rows_read: rows_read + new.rows_read,
	rows_written: rows_written + new.rows_written, bytes_read: bytes_read + new.bytes_read,
	bytes_written: bytes_written + new.bytes_written, cpu: cpu + new.cpu, streams: streams + new.streams,
	byte_seconds: byte_seconds + new.byte_seconds}`

// sumSpans gives one span for each group.
const sumSpans = `sum(requests) as requests, sum(rows_read) as rows_read, sum(rows_written) as rows_written,
	sum(bytes_read) as bytes_read, sum(bytes_written) as bytes_written, sum(cpu) as cpu, sum(streams) as streams,
	sum(byte_seconds) as byte_seconds`

// storage is what a tenant holds. The time it has held that is not in the spans
// of days yet is counted when somebody asks or it changes: a tenant that nobody
// uses costs nothing.
type storage struct {
	Tenant string `fenec:"tenant"`
	Bytes  int64  `fenec:"bytes"`
	Rows   int64  `fenec:"rows"`
	First  int64  `fenec:"first"` // when it first held something, in Unix seconds
	Until  int64  `fenec:"until"` // up to which the spans of days have it, in Unix seconds
}

// The collections.
var schema = []fenec.Statement{
	{Text: "create collection if not exists usage_minute " + spanFields},
	{Text: "create collection if not exists usage_day " + spanFields},
	{Text: "create collection if not exists usage_storage (tenant text @unique, bytes int, rows int, first int, until int)"},
}

// newSpan returns the span of the given length that begins at or before the moment.
func newSpan(tenant string, moment, length int64, u Usage) span {
	at := moment - moment%length
	return span{
		Key:    tenant + "/" + strconv.FormatInt(at, 10),
		Tenant: tenant, At: at,
		Requests: u.Requests, RowsRead: u.RowsRead, RowsWritten: u.RowsWritten,
		BytesRead: u.BytesRead, BytesWritten: u.BytesWritten,
		CPU: int64(u.CPU), Streams: int64(u.Streams), ByteSeconds: u.ByteSeconds,
	}
}

func (s *span) usage() Usage {
	return Usage{
		Requests: s.Requests, RowsRead: s.RowsRead, RowsWritten: s.RowsWritten,
		BytesRead: s.BytesRead, BytesWritten: s.BytesWritten,
		CPU: time.Duration(s.CPU), Streams: time.Duration(s.Streams), ByteSeconds: s.ByteSeconds,
	}
}

func (s *storage) holding() Holding { return Holding{s.Bytes, s.Rows} }

// since returns the byte-seconds from the moment from on that no span has.
func (s *storage) since(from, now int64) int64 {
	return s.Bytes * max(0, now-max(from, s.Until))
}

// days returns the spans of the byte-seconds up to now that none has, but those
// before oldest.
func (s *storage) days(oldest, now int64) []span {
	var list []span
	for t := max(s.Until, oldest); s.Bytes > 0 && t < now; {
		end := min(t-t%day+day, now)
		list = append(list, newSpan(s.Tenant, t, day, Usage{ByteSeconds: s.Bytes * (end - t)}))
		t = end
	}
	return list
}

// entries is what one block writes.
type entries struct {
	minutes, days []span
	storage       []storage
}

// save writes all entries or none.
func (e *entries) save(ctx context.Context, db *fenec.DB) error {
	list := []fenec.Statement{
		{Text: "put usage_minute" + addSpan, Args: []any{e.minutes}},
		{Text: "put usage_day" + addSpan, Args: []any{e.days}},
		{Text: "put usage_storage $1 if absent else set {bytes: new.bytes, rows: new.rows, first: new.first, until: new.until}", Args: []any{e.storage}},
	}
	_, err := db.Batch(ctx, list)
	return err
}

// loadStorage returns what the database has of a tenant.
func loadStorage(ctx context.Context, db *fenec.DB, tenant string) (s storage, err error) {
	res, err := db.Query(ctx, "get usage_storage where tenant = $1", tenant)
	if err != nil {
		return storage{}, err
	}
	list, err := fenec.Collect[storage](res)
	if err != nil || len(list) == 0 {
		return storage{Tenant: tenant}, err
	}
	return list[0], nil
}

// prune deletes the spans that began before the moments given.
func prune(ctx context.Context, db *fenec.DB, oldestMinute, oldestDay int64) error {
	_, err := db.Batch(ctx, []fenec.Statement{
		{Text: "del usage_minute where at < $1", Args: []any{oldestMinute}},
		{Text: "del usage_day where at < $1", Args: []any{oldestDay}},
		{Text: "del usage_storage where bytes = 0 and rows = 0 and until < $1", Args: []any{oldestDay}},
	})
	if err != nil {
		return fmt.Errorf("delete old spans: %w", err)
	}
	return nil
}
