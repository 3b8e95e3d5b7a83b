package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
)

// read runs a statement that only reads. With If-None-Match a get is answered
// with a tag, and not at all if the client has its answer.
func (c *call) read(ctx context.Context, st fenec.Statement, t *traits) Answer {
	sent := c.r.Header.Get("If-None-Match")
	if sent == "" || !t.get {
		return c.rows(ctx, st, t)
	}
	sent = strings.Trim(strings.TrimPrefix(strings.TrimSpace(sent), "W/"), `"`)
	if c.who.token != nil {
		return c.readByContent(ctx, st, sent)
	}
	if !c.tagged(ctx, t) {
		return c.rows(ctx, st, t)
	}
	return c.readBySeq(ctx, st, t, sent)
}

// tagged reports whether a get's answer changes with what it reads alone: not
// with time, nor with what an inner get finds.
func (c *call) tagged(ctx context.Context, t *traits) bool {
	if t.inner || t.now {
		return false
	}
	for _, name := range t.reads {
		if field, _ := c.expiry(name); field != "" {
			return false
		}
	}
	return true
}

// readBySeq tags the answer with the sequence it was read at: it stands until one
// of the collections it reads is written.
func (c *call) readBySeq(ctx context.Context, st fenec.Statement, t *traits, sent string) Answer {
	now := c.db.Seq()
	if seq, err := strconv.ParseUint(sent, 10, 64); err == nil && seq <= now {
		if changed, err := c.db.Changed(ctx, seq, t.reads...); err == nil && !changed {
			return notModified(strconv.FormatUint(now, 10))
		}
	}
	res, err := c.view.Query(ctx, st.Text, st.Args...)
	if err != nil {
		return Error(err)
	}
	a := c.single(res)
	a.Header = http.Header{"Etag": {quoted(strconv.FormatUint(res.Seq(), 10))}}
	return a
}

// readByContent tags the answer with a digest of itself. A sequence would tell
// who may not read everything when others write.
func (c *call) readByContent(ctx context.Context, st fenec.Statement, sent string) Answer {
	res, err := c.view.Query(ctx, st.Text, st.Args...)
	if err != nil {
		return Error(err)
	}
	a := c.single(res)
	sum := sha256.Sum256(a.Body)
	tag := "c" + hex.EncodeToString(sum[:16])
	if tag == sent {
		return notModified(tag)
	}
	a.Header = http.Header{"Etag": {quoted(tag)}}
	return a
}

func notModified(tag string) Answer {
	return Answer{Status: http.StatusNotModified, Header: http.Header{"Etag": {quoted(tag)}}}
}

func quoted(tag string) string { return `"` + tag + `"` }
