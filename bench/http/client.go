package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/rawconn"
)

// client sends one request over and over on a kept-alive connection.
type client struct {
	conn    *rawconn.Conn
	request []byte
	key     []byte // of request: an idempotency key, new each time; nil for none
}

// keyField begins the line of an idempotency key, which has keyDigits digits.
const (
	keyField  = "Idempotency-Key: "
	keyDigits = 16
)

// keyed is a line for a request whose clients give it a new key each time.
var keyed = fmt.Sprintf("%s%0*d", keyField, keyDigits, 0)

func dial(ctx context.Context, addr string, request []byte) (*client, error) {
	conn, err := rawconn.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	c := &client{conn: conn, request: bytes.Clone(request)}
	if at := bytes.Index(c.request, []byte(keyField)); at >= 0 {
		c.key = c.request[at+len(keyField):][:keyDigits]
	}
	return c, nil
}

// ask sends the request and reads its answer.
func (c *client) ask() error {
	if c.key != nil {
		renew(c.key)
	}
	return c.conn.Exchange(c.request)
}

// keys is how many keys there have been.
var keys atomic.Uint64

// renew makes another key of key.
func renew(key []byte) {
	n := keys.Add(1)
	for i := len(key) - 1; i >= 0; i-- {
		key[i] = byte('0' + n%10)
		n /= 10
	}
}

// askAll lets the clients ask at once for about d and returns how many requests
// were answered.
func askAll(d time.Duration, clients []*client) (int64, error) {
	var (
		wg       sync.WaitGroup
		answered atomic.Int64
		errs     = make([]error, len(clients))
		start    = time.Now()
	)
	for i, c := range clients {
		wg.Go(func() {
			n := int64(0)
			for ; errs[i] == nil && time.Since(start) < d; n++ {
				errs[i] = c.ask()
			}
			answered.Add(n)
		})
	}
	wg.Wait()
	return answered.Load(), errors.Join(errs...)
}
