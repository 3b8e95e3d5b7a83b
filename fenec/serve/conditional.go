package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/inside"
)

// read runs a statement that only reads. With If-None-Match a get is answered
// with a tag, and not at all if the client has its answer.
func (c *call) read(ctx context.Context, st fenec.Statement, t *traits) Answer {
	sent := c.r.Header.Get("If-None-Match")
	scoped := c.who.token != nil
	if sent == "" || !t.get || !scoped && !c.tagged(ctx, t) {
		return c.rows(ctx, st, t, Answer{}, whole)
	}
	sent = strings.Trim(strings.TrimPrefix(strings.TrimSpace(sent), "W/"), `"`)
	if scoped {
		return c.readByContent(ctx, st, t, sent)
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

// readBySeq tags the answer with the sequence from which on it is right: it stands
// until one of the collections it reads is written.
func (c *call) readBySeq(ctx context.Context, st fenec.Statement, t *traits, sent string) Answer {
	now := c.db.Seq()
	tag := strconv.FormatUint(now, 10)
	if c.unchanged(ctx, t, sent, now) {
		// The tag may be that of another statement.
		if err := inside.Check(c.db, st.Text); err != nil {
			return Error(err)
		}
		return notModified(tag)
	}
	return c.rows(ctx, st, t, Answer{Header: etag(tag)}, whole)
}

// unchanged reports whether nothing a statement reads was written since the sequence
// that a tag names.
func (c *call) unchanged(ctx context.Context, t *traits, sent string, now uint64) bool {
	seq, err := strconv.ParseUint(sent, 10, 64)
	if err != nil || seq > now {
		return false
	}
	changed, err := c.db.Changed(ctx, seq, t.reads...)
	return err == nil && !changed
}

// readByContent tags the answer with a digest of itself. A sequence would tell
// who may not read everything when others write. One that is too long to be held
// has no tag.
func (c *call) readByContent(ctx context.Context, st fenec.Statement, t *traits, sent string) Answer {
	a := c.rows(ctx, st, t, Answer{}, longestComplete)
	if a.sent || a.Status != http.StatusOK {
		return a
	}
	sum := sha256.Sum256(a.Body)
	tag := "c" + hex.EncodeToString(sum[:16])
	if tag == sent {
		return notModified(tag)
	}
	a.Header = etag(tag)
	return a
}

func notModified(tag string) Answer {
	return Answer{Status: http.StatusNotModified, Header: etag(tag)}
}

// etag returns the header of a tag.
func etag(tag string) http.Header { return http.Header{"Etag": {`"` + tag + `"`}} }
