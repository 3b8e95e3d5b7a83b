package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Consumer is a place in the feed that the server keeps under a name.
type Consumer struct {
	Name   string
	Since  uint64 // the last write that the consumer has done with
	Behind uint64 // how many writes on disk come after it
}

const consumersPath = "/_changes/consumers"

// Consumers returns the consumers, by name.
func (db *DB) Consumers(ctx context.Context) (list []Consumer, err error) {
	rq := &request{method: http.MethodGet, path: consumersPath, reads: true}
	err = db.send(ctx, rq, func(a *answer) error {
		list = nil
		_, err := eachElement(a.body, func(raw string) error {
			v, err := value.ParseJSONString(raw)
			if err != nil {
				return err
			}
			since, ok1 := member(v, "since")
			behind, ok2 := member(v, "behind")
			if !ok1 || !ok2 {
				return errForm
			}
			name, _ := v.Get("name")
			if name.Kind() != value.KindText {
				return errForm
			}
			list = append(list, Consumer{name.AsText(), since, behind})
			return nil
		})
		return err
	})
	return list, err
}

// MoveConsumer makes a consumer, or moves it to a place: the sequence of the last
// write that it has done with. fenec.NoCursor stands for the last write on disk.
func (db *DB) MoveConsumer(ctx context.Context, name string, since uint64) error {
	rq := &request{method: http.MethodPost, path: consumerPath(name), reads: true}
	if since != fenec.NoCursor {
		rq.body = append(strconv.AppendUint([]byte(`{"since":`), since, 10), '}')
		rq.media = "application/json"
	}
	err := db.send(ctx, rq, func(*answer) error { return nil })
	return feedError(err, since)
}

// ForgetConsumer deletes a consumer, if there is one of that name.
func (db *DB) ForgetConsumer(ctx context.Context, name string) error {
	rq := &request{method: http.MethodDelete, path: consumerPath(name), reads: true}
	return db.send(ctx, rq, func(*answer) error { return nil })
}

func consumerPath(name string) string { return consumersPath + "/" + url.PathEscape(name) }

// Consume returns the writes after a consumer's place, at most that many, and the
// place after them. While there are none it waits. Who moves the consumer there
// once the writes are done with is given every write at least once:
//
//	for {
//		list, next, err := db.Consume(ctx, "mailer", 100)
//		…
//		err = db.MoveConsumer(ctx, "mailer", next)
//	}
//
// A name that the server does not know is fenec.ErrNotFound.
func (db *DB) Consume(ctx context.Context, name string, most int) (list []fenec.FeedChange, next uint64, err error) {
	for {
		list, next, err = db.feed(ctx, nil, name, max(most, 1), longestWait)
		if err != nil || len(list) > 0 {
			return list, next, err
		}
	}
}
