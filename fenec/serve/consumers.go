package serve

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// longestConsumer is the longest name of a consumer, in bytes.
const longestConsumer = 200

// consumers answers a request below /_changes/consumers. Consumers are names for
// places in the feed of changes, kept in a collection of the database.
func (c *call) consumers() Answer {
	if c.r.Method == http.MethodGet {
		return c.listConsumers()
	}
	name := c.path[2]
	if len(name) > longestConsumer {
		return Fail(http.StatusBadRequest, fmt.Sprintf("a consumer's name has 1 to %d bytes", longestConsumer))
	}
	if refusal := c.mayWrite(); refusal != nil {
		return *refusal
	}
	if c.r.Method == http.MethodDelete {
		return c.forgetConsumer(name)
	}
	return c.moveConsumer(name)
}

// consumer returns where a consumer stands. ok is false if there is none of that
// name.
func (c *call) consumer(name string) (since uint64, ok bool, err error) {
	res, err := c.db.Query(c.r.Context(), `get _consumers select since where name = $1`, name)
	switch {
	case errors.Is(err, fenec.ErrNotFound):
		return 0, false, nil
	case err != nil || !res.Next():
		return 0, false, err
	}
	return since, true, res.Scan(&since)
}

func (c *call) listConsumers() Answer {
	res, err := c.db.Query(c.r.Context(), `get _consumers select name, since order name`)
	if errors.Is(err, fenec.ErrNotFound) {
		return OK([]byte("[]"))
	}
	if err != nil {
		return Error(err)
	}
	synced := c.db.SyncedSeq()
	body := []byte{'['}
	for row := range res.All() {
		var name string
		var since uint64
		if err := row.Scan(&name, &since); err != nil {
			return Error(err)
		}
		if len(body) > 1 {
			body = append(body, ',')
		}
		body = strconv.AppendUint(append(appendConsumer(body, name, since), `,"behind":`...), synced-min(since, synced), 10)
		body = append(body, '}')
	}
	return OK(append(body, ']'))
}

// appendConsumer appends a consumer without the closing brace.
func appendConsumer(dst []byte, name string, since uint64) []byte {
	dst = value.AppendJSONString(append(dst, `{"name":`...), name)
	return strconv.AppendUint(append(dst, `,"since":`...), since, 10)
}

func (c *call) forgetConsumer(name string) Answer {
	_, err := c.db.Query(c.r.Context(), `del _consumers where name = $1`, name)
	if err != nil && !errors.Is(err, fenec.ErrNotFound) {
		return Error(err)
	}
	return Answer{Status: http.StatusNoContent}
}

// moveConsumer makes a consumer, or moves it.
func (c *call) moveConsumer(name string) Answer {
	synced := c.db.SyncedSeq()
	since, err := c.newPlace(synced)
	switch {
	case err != nil:
		return Fail(http.StatusBadRequest, err.Error())
	case since > synced:
		return failWith(http.StatusConflict, fmt.Errorf("%d is past the last write on disk, %d", since, synced), "seq", synced)
	}
	if _, _, err := c.db.Feed(c.r.Context(), since, 0); errors.Is(err, fenec.ErrNoFeed) {
		return c.feedError(err)
	}
	if err := c.storeConsumer(name, since); err != nil {
		return Error(err)
	}
	return OK(append(appendConsumer(nil, name, since), '}'))
}

// newPlace returns the place that the request's body names, else the last write on
// disk.
func (c *call) newPlace(synced uint64) (uint64, error) {
	if len(c.body) == 0 {
		return synced, nil
	}
	v, err := value.ParseJSON(c.body)
	if err != nil {
		return 0, err
	}
	if v.Kind() != value.KindObject {
		return 0, errors.New(`want an object with a member "since"`)
	}
	since, _ := v.Get("since")
	switch {
	case since.IsNull():
		return synced, nil
	case since.Kind() != value.KindInt || since.AsInt() < 0:
		return 0, errors.New(`"since" is a whole number, not negative`)
	}
	return uint64(since.AsInt()), nil
}

// storeConsumer keeps a consumer's place. What moves it past nothing that a
// consumer is told of need not be kept, and is not: the keeping is itself such a
// write.
func (c *call) storeConsumer(name string, since uint64) error {
	ctx := c.r.Context()
	if at, ok, err := c.consumer(name); err != nil {
		return err
	} else if ok && at <= since {
		list, _, err := c.db.Feed(ctx, at, 1)
		if err == nil && (len(list) == 0 || list[0].Seq > since) {
			return nil
		}
	}
	_, err := c.db.Update(ctx, func(tx *fenec.Tx) error {
		_, err := tx.Exec(ctx, `create collection if not exists _consumers (name text @unique, since int)`)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `put _consumers {name: $1, since: $2} if absent else set {since: $2}`, name, since)
		return err
	})
	return err
}
