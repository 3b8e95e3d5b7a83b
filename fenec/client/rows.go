package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
)

// Rows runs a get and gives its rows as fenec.DB.Rows does: as they come, of which
// the last reading from the network is held at a time. The request is sent again as
// one of Query is, but only before the first row has come. A server ends an answer
// whose reader is silent for about a minute: the body of the loop should not take
// that long.
func (db *DB) Rows(ctx context.Context, text string, args ...any) iter.Seq2[fenec.Row, error] {
	return func(yield func(fenec.Row, error) bool) {
		l := rowLoop{db: db, traits: traitsOf(text), yield: yield}
		if err := l.run(ctx, text, args); err != nil && err != errLoopOver {
			yield(fenec.Row{}, err)
		}
	}
}

// rowLoop is one loop over the rows of a get.
type rowLoop struct {
	db      *DB
	traits  traits
	request *request
	yield   func(fenec.Row, error) bool
}

// errLoopOver ends the run of a get whose rows are not wanted any more.
var errLoopOver = errors.New("the loop is over")

func (l *rowLoop) run(ctx context.Context, text string, args []any) error {
	if l.traits.known && (!l.traits.get || l.traits.faceted) {
		return fault.New(fault.Query, "only a get without facets has rows that come one by one: use Query")
	}
	body, err := appendStatement(nil, fenec.Statement{Text: text, Args: args})
	if err != nil {
		return err
	}
	l.traits.reads = true // what cannot be parsed is refused, whatever it is
	l.request = l.db.query(ctx, body, &l.traits)
	return l.db.retry(ctx, l.request, func() error {
		res, err := l.db.open(ctx, l.db.opts.HTTPClient, l.request)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		err = l.read(res)
		if err == nil || err == errLoopOver {
			return err
		}
		return brokenOff(ctx, err)
	})
}

// brokenOff returns the error of a loop whose answer could not be read to its end.
func brokenOff(ctx context.Context, err error) error {
	var form *formError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &form):
		return misread(form.error)
	}
	return fmt.Errorf("%w: %w", ErrNoAnswer, err)
}

// read gives the rows of an answer to the body of the loop.
func (l *rowLoop) read(res *http.Response) error {
	reader := rowReader{from: res.Body}
	for rows := (&table{lookup: l.traits.lookup}); !reader.ended(); rows = rows.next() {
		if err := reader.more(rows); err != nil {
			return err
		}
		if err := l.give(rows); err != nil {
			return err
		}
	}
	// The connection is good for others only once the answer's end was seen.
	_, err := io.Copy(io.Discard, res.Body)
	return err
}

// give gives rows to the body of the loop.
func (l *rowLoop) give(rows *table) error {
	for row := range rowsResult(rows, 0, false).All() {
		l.request.reads = false // it is not sent again
		if !l.yield(row, nil) {
			return errLoopOver
		}
	}
	return nil
}
