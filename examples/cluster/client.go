package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// client writes notes, numbered from 1 on, and tries each again until it is acknowledged.
// It knows both routers, and turns to the other one when one does not answer.
//
// A note that it tries again is sent under the same key, so that it is written once though
// it may have been written before the answer was lost.
type client struct {
	out     *printer
	token   string
	routers []string // addresses
	at      int      // which it asks
	acked   int      // notes, all of those up to this one

	refused time.Time // since when; zero while it is not
	why     string    // that was shown last
}

// patience is how long the client tries to write a note.
const patience = 20 * time.Second

// enough is how many notes are written after something has happened.
const enough = 20

// writeWhile writes notes until do has returned, and then enough more. It returns when do
// has, whatever comes of the notes.
func (c *client) writeWhile(ctx context.Context, do func() error) (err error) {
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		failed = do()
	}()
	defer func() {
		<-done
		err = errors.Join(err, failed)
	}()
	for left := enough; left > 0; {
		select {
		case <-done:
			if failed != nil {
				return nil // deferred is what has failed
			}
			left--
		default:
		}
		if err := c.write(ctx); err != nil {
			return err
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// write writes the next note.
func (c *client) write(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		status, why := c.send(ctx, c.acked+1)
		switch {
		case status == http.StatusCreated:
			c.acked++
			c.accepted()
			return nil
		case status == 0: // this router is gone
			c.at = (c.at + 1) % len(c.routers)
		case status < 500:
			return fmt.Errorf("note %d: %d %s", c.acked+1, status, why)
		}
		c.noteRefusal(status, why)
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("note %d is not acknowledged, %w: %s", c.acked+1, err, why)
		}
	}
}

// send sends a note once. The status is 0 if there is no answer, and why says why a note
// was not taken.
func (c *client) send(ctx context.Context, n int) (status int, why string) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	url := "http://" + c.routers[c.at] + "/t/" + tenant + "/notes"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(fmt.Appendf(nil, `{"n":%d}`, n)))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Idempotency-Key", fmt.Sprint("note-", n))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "the router does not answer"
	}
	defer res.Body.Close()
	var said struct{ Error string }
	body, err := io.ReadAll(res.Body)
	if err = errors.Join(err, json.Unmarshal(body, &said)); err != nil {
		return http.StatusBadGateway, err.Error()
	}
	return res.StatusCode, said.Error
}

// noteRefusal shows why a note is not taken, unless that was shown.
func (c *client) noteRefusal(status int, why string) {
	if c.refused.IsZero() {
		c.refused = time.Now()
	}
	if why == c.why {
		return
	}
	c.why = why
	if status == 0 {
		c.out.event("note %d: %s, the client turns to the other one", c.acked+1, why)
		return
	}
	c.out.event("note %d: %d, %s", c.acked+1, status, why)
}

// accepted shows that notes are taken again.
func (c *client) accepted() {
	if c.refused.IsZero() {
		return
	}
	c.out.event("note %d is acknowledged, %d ms after it was first refused", c.acked, time.Since(c.refused).Milliseconds())
	c.refused, c.why = time.Time{}, ""
}

// check requires each note that was acknowledged to be there, once, and no other.
func (c *client) check(ctx context.Context) error {
	var rows []struct{ N int }
	url := fmt.Sprintf("http://%s/t/%s/notes?select=n&order=n&limit=%d", c.routers[c.at], tenant, c.acked+1)
	if err := ask(ctx, url, c.token, &rows); err != nil {
		return err
	}
	for i, r := range rows {
		if r.N != i+1 {
			return fmt.Errorf("note %d is missing, or there twice", i+1)
		}
	}
	if len(rows) != c.acked {
		return fmt.Errorf("%d notes are there, %d were acknowledged", len(rows), c.acked)
	}
	c.out.text(fmt.Sprintf("all %d notes that were acknowledged are there, each once\n", c.acked))
	return nil
}
