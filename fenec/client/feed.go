package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/inside"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// longestWait is how long a server lets a reader of the feed wait.
const longestWait = 30 * time.Second

// Feed returns the writes after the sequence since as fenec.DB.Feed does, at most
// 10000. A since that the feed does not go on from is a fenec.CursorError, and a
// server without a feed fenec.ErrNoFeed.
func (db *DB) Feed(ctx context.Context, since uint64, most int) (list []fenec.FeedChange, next uint64, err error) {
	return db.feed(ctx, &since, "", most, 0)
}

// WaitFeed returns once Feed has looked at more than the sequence since, as
// fenec.DB.WaitFeed does.
func (db *DB) WaitFeed(ctx context.Context, since uint64) error {
	for {
		_, next, err := db.feed(ctx, &since, "", 1, longestWait)
		if err != nil || next > since {
			return err
		}
	}
}

// Changes returns what Feed does, without the documents: fenec.DB.Changes of a
// server is its feed.
func (db *DB) Changes(ctx context.Context, since uint64, most int) (list []fenec.Change, next uint64, err error) {
	full, next, err := db.Feed(ctx, since, most)
	for i := range full {
		list = append(list, full[i].Change)
	}
	return list, next, err
}

// feed reads the feed from since on or, if that is nil, from where a consumer is.
func (db *DB) feed(ctx context.Context, since *uint64, consumer string, most int, wait time.Duration) (list []fenec.FeedChange, next uint64, err error) {
	q := url.Values{}
	if since != nil {
		next = *since
		q.Set("since", strconv.FormatUint(*since, 10))
	} else {
		q.Set("consumer", consumer)
	}
	if most < 1 {
		return nil, next, ctx.Err()
	}
	q.Set("limit", strconv.Itoa(most))
	q.Set("wait", strconv.FormatInt(wait.Milliseconds(), 10))
	rq := &request{method: http.MethodGet, path: "/_changes?" + q.Encode(), reads: true, waits: wait > 0}
	err = db.send(ctx, rq, func(a *answer) (err error) {
		if next, err = numberOf(a.header.Get("Fenec-Next")); err != nil {
			return err
		}
		list, err = readFeed(a.body)
		return err
	})
	if err != nil {
		return nil, next, feedError(err, next)
	}
	return list, next, nil
}

// feedError says more of a cursor that is none of the feed.
func feedError(err error, since uint64) error {
	var e *Error
	var cursor *fenec.CursorError
	switch {
	case errors.As(err, &cursor):
		cursor.Since = since
	case errors.As(err, &e) && e.Status == http.StatusConflict:
		e.err = fenec.ErrNoFeed
	}
	return err
}

// readFeed reads the lines of an answer.
func readFeed(body string) (list []fenec.FeedChange, err error) {
	for line := range strings.Lines(body) {
		members, err := membersOf(line)
		if err != nil {
			return nil, err
		}
		c, err := readChange(members)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func readChange(members rawMembers) (c fenec.FeedChange, err error) {
	for _, m := range members {
		switch m.key {
		case `"seq"`:
			c.Seq, err = numberOf(m.value)
		case `"at"`:
			var v value.Value
			if v, err = value.ParseJSONString(m.value); err == nil && v.Kind() != value.KindInt {
				err = errForm
			} else if err == nil {
				c.Time = time.UnixMilli(v.AsInt())
			}
		case `"collection"`:
			if m.value != "null" {
				c.Collection, err = textOf(m.value)
			}
		case `"op"`:
			c.Op, err = opOf(m.value)
		case `"id"`:
			c.ID, err = numberOf(m.value)
		case `"doc"`:
			c.Doc, err = readDoc(members, m.value)
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

func opOf(raw string) (fenec.ChangeOp, error) {
	for _, op := range []fenec.ChangeOp{fenec.ChangePut, fenec.ChangeDel, fenec.ChangeCreate, fenec.ChangeAlter, fenec.ChangeDrop} {
		if raw == `"`+op.String()+`"` {
			return op, nil
		}
	}
	return 0, errors.New("an op called " + raw)
}

// readDoc reads the document of a change.
func readDoc(change rawMembers, raw string) (*fenec.Doc, error) {
	members, err := membersOf(raw)
	if err != nil {
		return nil, err
	}
	if len(members) > mostColumns {
		return nil, errForm
	}
	collection, _ := change.get("collection")
	name, err := textOf(collection)
	if err != nil {
		return nil, err
	}
	var id uint64
	var names []string
	var values []value.Value
	for _, m := range members {
		if m.key == `"id"` {
			if id, err = numberOf(m.value); err != nil {
				return nil, err
			}
			continue
		}
		field, err := textOf(m.key)
		if err != nil {
			return nil, err
		}
		v, err := value.ParseJSONString(m.value)
		if err != nil {
			return nil, err
		}
		names, values = append(names, field), append(values, v)
	}
	return inside.Doc(name, id, names, values).(*fenec.Doc), nil
}
