package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// digestJSON is the answer of digest. Sums are 16 hexadecimal digits: many readers of JSON
// have no whole numbers of that size.
type digestJSON struct {
	Tenant      string                 `json:"tenant"`
	Seq         uint64                 `json:"seq"` // number of the last write
	Root        string                 `json:"root"`
	Schema      string                 `json:"schema"`
	Collections []collectionDigestJSON `json:"collections"`
}

type collectionDigestJSON struct {
	Name   string            `json:"name"`
	Rows   uint64            `json:"rows"`
	Sum    string            `json:"sum,omitempty"` // left out if it is not known without a look at the rows
	Chunks []digestChunkJSON `json:"chunks,omitempty"`
}

type digestChunkJSON struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	Rows  uint64 `json:"rows"`
	Sum   string `json:"sum"`
}

// errPast is returned for a digest at a write that others have followed.
var errPast = errors.New("the tenant is past that write")

const (
	longestDigestWait = 30 * time.Second
	digestWait        = 5 * time.Second
	mostChunk         = 1 << 30
)

// digest answers GET /_admin/tenants/<t>/digest?at=&chunk=.
func (n *Node) digest(r *http.Request, name string) serve.Answer {
	ask, err := digestAsked(r)
	if err != nil {
		return serve.Fail(http.StatusBadRequest, err.Error())
	}
	db, ended, release, err := n.copyOf(name).Hold(r.Context())
	if err != nil {
		return failure(err)
	}
	defer release()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	d, err := ask.of(ctx, db)
	switch {
	case errors.Is(err, errPast):
		return withSeq(serve.Fail(http.StatusConflict, err.Error()), db)
	case errors.Is(err, context.DeadlineExceeded):
		return withSeq(serve.Fail(http.StatusGatewayTimeout, fmt.Sprintf("the tenant has not come to write %d", ask.at)), db)
	case err != nil:
		return failure(err)
	}
	return jsonAnswer(http.StatusOK, digestOf(name, &d))
}

func withSeq(a serve.Answer, db *fenec.DB) serve.Answer {
	a.Body = append(strconv.AppendUint(append(a.Body[:len(a.Body)-1], `,"seq":`...), db.LastWrite(), 10), '}')
	return a
}

// digestAsk is what a digest is wanted of.
type digestAsk struct {
	at     uint64 // the last write it is to hold
	given  bool   // else it is of the moment
	chunk  int    // rows of a chunk; 0 for none, without a look at rows
	atMost time.Duration
}

func digestAsked(r *http.Request) (a digestAsk, err error) {
	q := r.URL.Query()
	a.atMost = digestWait
	if text := r.Header.Get("Fenec-Wait"); text != "" {
		ms, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return a, errors.New("Fenec-Wait is a number of milliseconds")
		}
		a.atMost = time.Duration(min(ms, uint64(longestDigestWait/time.Millisecond))) * time.Millisecond
	}
	at, given, err := wholeNumber(q, "at", 1<<63)
	if err != nil {
		return a, err
	}
	chunk, chunked, err := wholeNumber(q, "chunk", mostChunk)
	if err == nil && chunked && chunk == 0 {
		err = errors.New("chunk is a number of rows")
	}
	a.at, a.given, a.chunk = at, given, int(chunk)
	return a, err
}

// wholeNumber reads a number of the query string.
func wholeNumber(q url.Values, key string, most uint64) (n uint64, given bool, err error) {
	text := q.Get(key)
	if text == "" {
		return 0, false, nil
	}
	n, err = strconv.ParseUint(text, 10, 64)
	if err != nil || n > most {
		return 0, true, fmt.Errorf("%s is a number from 0 to %d", key, most)
	}
	return n, true, nil
}

// of makes the digest, whose Seq is then the number of a write.
func (a *digestAsk) of(ctx context.Context, db *fenec.DB) (d fenec.Digest, err error) {
	if a.given {
		if err := awaitWrite(ctx, db, a.at, a.atMost); err != nil {
			return d, err
		}
	}
	before := db.LastWrite()
	if a.given && before > a.at {
		return d, errPast
	}
	if a.chunk > 0 {
		d, err = db.DigestScan(ctx, a.chunk)
	} else {
		d, err = db.Digest(ctx)
	}
	switch {
	case err != nil:
		return d, err
	case db.LastWrite() == before:
		d.Seq = before // which is less where numbers were passed over
	case a.given && d.Seq != a.at:
		return d, errPast
	}
	return d, nil
}

// awaitWrite waits until readers see the write at.
func awaitWrite(ctx context.Context, db *fenec.DB, at uint64, atMost time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	for {
		seen := db.Seq()
		if db.LastWrite() >= at {
			return db.WaitSeq(ctx, at)
		}
		if err := db.WaitSeq(ctx, seen+1); err != nil {
			return err
		}
	}
}

// digestOf returns a digest as it is answered.
func digestOf(name string, d *fenec.Digest) digestJSON {
	out := digestJSON{name, d.Seq, hexSum(d.Root()), hexSum(d.Schema), make([]collectionDigestJSON, len(d.Collections))}
	for i := range d.Collections {
		c, to := &d.Collections[i], &out.Collections[i]
		to.Name, to.Rows = c.Name, c.Rows
		if c.Known {
			to.Sum = hexSum(c.Sum)
		}
		for _, k := range c.Chunks {
			to.Chunks = append(to.Chunks, digestChunkJSON{k.First, k.Last, k.Rows, hexSum(k.Sum)})
		}
	}
	return out
}

func hexSum(sum uint64) string { return fmt.Sprintf("%016x", sum) }
