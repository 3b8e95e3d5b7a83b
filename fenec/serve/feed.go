package serve

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

const (
	feedLimit     = 1000 // writes of one answer, where nothing is asked for
	longestFeed   = 10_000
	feedMediaType = "application/x-ndjson"
)

// feed answers a request below /_changes.
func (c *call) feed() Answer {
	consumers := len(c.path) > 1 && c.path[1] == "consumers"
	switch method := c.r.Method; {
	case method == http.MethodGet && (c.at("_changes") || c.at("_changes", "consumers")):
	case (method == http.MethodPost || method == http.MethodDelete) && consumers && len(c.path) == 3:
	default:
		return c.notFound()
	}
	if refusal := c.authenticate(); refusal != nil {
		return *refusal
	}
	if !c.who.everything() {
		return Fail(http.StatusForbidden, "the feed of all changes is not for this token")
	}
	if refusal := c.takeIn(); refusal != nil {
		return *refusal
	}
	if refusal := c.open(); refusal != nil {
		return *refusal
	}
	defer c.letGo()
	if consumers {
		return c.consumers()
	}
	return c.changes()
}

// changes answers GET /_changes with the writes past a cursor.
func (c *call) changes() Answer {
	q := c.queryPairs()
	since, given, err := number(q, "since")
	limit, limited, err2 := number(q, "limit")
	wait, _, err3 := number(q, "wait")
	if err := errors.Join(err, err2, err3); err != nil {
		return Fail(http.StatusBadRequest, err.Error())
	}
	if !limited {
		limit = feedLimit
	}
	if !given {
		var refusal *Answer
		if since, refusal = c.place(q); refusal != nil {
			return *refusal
		}
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), atMost(wait))
	defer cancel()
	defer context.AfterFunc(c.server.closing, cancel)()
	defer c.endWith(cancel)()
	list, next, err := c.await(ctx, since, int(min(max(limit, 1), longestFeed)))
	if err != nil {
		return c.feedError(err)
	}
	return c.feedAnswer(list, next)
}

// place returns the cursor of a request that names none: its consumer's, or else
// the last write on disk.
func (c *call) place(q []target.Pair) (uint64, *Answer) {
	for _, pair := range q {
		if pair.Key != "consumer" {
			continue
		}
		at, ok, err := c.consumer(pair.Value)
		switch {
		case err != nil:
			a := Error(err)
			return 0, &a
		case !ok:
			a := Fail(http.StatusNotFound, "no consumer is called "+strconv.Quote(pair.Value))
			return 0, &a
		}
		return at, nil
	}
	return c.db.SyncedSeq(), nil
}

// await returns the writes past since. While there are none it waits until ctx
// ends.
func (c *call) await(ctx context.Context, since uint64, most int) (list []fenec.FeedChange, next uint64, err error) {
	for {
		list, next, err = c.db.Feed(c.r.Context(), since, most)
		if err != nil || len(list) > 0 || ctx.Err() != nil {
			return list, next, err
		}
		since = next
		began, goOn := time.Now(), c.waits()
		err := c.db.WaitFeed(ctx, since)
		c.waitedSince(began, "fenec.wait_for_changes")
		if refusal := goOn(); refusal != nil {
			return nil, since, refusedError{*refusal}
		}
		if err != nil && ctx.Err() == nil {
			return nil, since, err
		}
	}
}

// refusedError is a refusal on its way to whoever answers.
type refusedError struct{ answer Answer }

func (e refusedError) Error() string { return string(e.answer.Body) }

func (c *call) feedAnswer(list []fenec.FeedChange, next uint64) Answer {
	var body []byte
	var err error
	for i := range list {
		if body, err = list[i].AppendJSON(body); err != nil {
			return Error(err)
		}
		body = append(body, '\n')
	}
	return Answer{Status: http.StatusOK, Body: body, Seq: c.db.Seq(), rows: len(list), Header: http.Header{
		"Content-Type": {feedMediaType},
		"Fenec-Next":   {strconv.FormatUint(next, 10)},
	}}
}

// feedError answers with what is wrong with a cursor.
func (c *call) feedError(err error) Answer {
	var cursor *fenec.CursorError
	var refused refusedError
	switch {
	case errors.As(err, &refused):
		return refused.answer
	case errors.Is(err, fenec.ErrNoFeed):
		return Fail(http.StatusConflict, "the server keeps no feed of changes")
	case !errors.As(err, &cursor):
		return Error(err)
	case cursor.Since > cursor.Last:
		return failWith(http.StatusConflict, err, "seq", cursor.Last)
	}
	return failWith(http.StatusGone, err, "since", cursor.First)
}

// failWith returns an answer that tells of an error, and of a number.
func failWith(status int, err error, name string, n uint64) Answer {
	body := append(appendError(nil, err.Error()), `,"`+name+`":`...)
	return Answer{Status: status, Body: append(strconv.AppendUint(body, n, 10), '}')}
}

// number returns the whole number of a key of the query string, the last one if
// there are several.
func number(q []target.Pair, key string) (n uint64, given bool, err error) {
	for _, pair := range q {
		if pair.Key != key {
			continue
		}
		if n, err = strconv.ParseUint(pair.Value, 10, 64); err != nil {
			return 0, true, errors.New(key + " is not a whole number: " + strconv.Quote(pair.Value))
		}
		given = true
	}
	return n, given, nil
}
