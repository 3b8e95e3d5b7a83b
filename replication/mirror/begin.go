package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
)

// imageWait is how long the disk may take before an image can be sent.
const imageWait = 30 * time.Second

// errDiskBehind is answered where it took longer.
var errDiskBehind = errors.New("the disk is behind what has to go into an image")

// headerReplica names the instance of the copy that asks, headerHeld the stream whose
// replica is to report what is on its disk. headerNumbers tells up to where the primary may
// have given out numbers, which may be past its last write: whoever has the writes of the
// hello has all of these numbers that are a write's. headerParted says of an image that the
// copy's last write is none of the primary's, though their histories do not tell.
const (
	headerReplica = "Fenec-Replica"
	headerHeld    = "Fenec-Held"
	headerNumbers = "Fenec-Numbers"
	headerParted  = "Fenec-Parted"
)

// ask is the request for a stream.
type ask struct {
	replication.Request
	last    string // fingerprint of the write that Since is the number of, "" if it is not known
	replica string // instance of the asking copy, "" if it does not tell
	digests bool   // it compares digests, and makes them as we do
}

func parseAsk(r *http.Request) (ask, error) {
	q := r.URL.Query()
	a := ask{last: q.Get("last"), replica: r.Header.Get(headerReplica), digests: q.Get("digest") == fenec.Version}
	var err error
	if a.Since, err = number(q, "since"); err != nil {
		return a, err
	}
	if text := q.Get("history"); text != "" {
		if a.History, err = replication.ParseID(text); err != nil {
			return a, fmt.Errorf("history=%q: 16 hexadecimal digits are wanted", text)
		}
	}
	switch text := q.Get("image"); text {
	case "", "0":
	case "1":
		a.Image = true
	default:
		return a, fmt.Errorf("image=%q: 0 or 1 is wanted", text)
	}
	return a, nil
}

// number returns the value of a key that may be left out, 0 then.
func number(q url.Values, key string) (uint64, error) {
	text := q.Get(key)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s=%q: a whole number is wanted", key, text)
	}
	return n, nil
}

// start is what a stream begins with.
type start struct {
	hello   replication.Hello
	numbers uint64       // see headerNumbers
	sent    uint64       // number up to which the replica has everything then
	image   *fenec.Image // nil if it goes on from where it is
	parted  bool         // see headerParted
}

// close gives the image up; twice does no harm.
func (s *start) close() {
	if s.image != nil {
		_ = s.image.Close() // it has been read as far as it was to be
		s.image = nil
	}
}

// begin decides what the stream begins with. The history is that of one moment: it is
// looked at again after all that depends on it.
func (st *stream) begin(ctx context.Context, ask ask) (*start, error) {
	db := st.source.db
	if _, err := db.BeginHistory(ctx); err != nil {
		return nil, err
	}
	for {
		h := db.History()
		numbers := db.Seq() // before the last write is asked for
		start, err := st.beginWith(ctx, ask, h)
		if err != nil {
			return nil, err
		}
		start.numbers = numbers
		if slices.Equal(db.History().Lineage, h.Lineage) {
			return start, nil
		}
		start.close()
	}
}

func (st *stream) beginWith(ctx context.Context, ask ask, h replication.History) (*start, error) {
	db := st.source.db
	last := db.LastWrite()
	why, parted, err := continues(ctx, db, ask, h.Lineage, last)
	if err != nil {
		return nil, err
	}
	if ask.Image {
		why = "it asks for one"
	}
	if why == "" {
		hello := replication.Hello{Seq: last, Durable: durable(db, last), Time: now(), History: h}
		return &start{hello: hello, sent: ask.Since}, nil
	}
	if ask.Since > 0 {
		st.source.log("the replica at %s stands at change %d of history %v and is sent an image: %s",
			st.peer, ask.Since, ask.History, why)
	}
	start, err := openImage(ctx, db, h)
	if err == nil {
		start.parted = parted
	}
	return start, err
}

// continues judges whether a replica can go on from where it stands, "", or tells why not,
// and whether its last write is known to be none that is here.
func continues(ctx context.Context, db *fenec.DB, from ask, l replication.Lineage, last uint64) (why string, parted bool, err error) {
	switch {
	case from.Since > last:
		return fmt.Sprintf("this database ends at change %d, and lacks writes that the replica has", last), true, nil
	case !l.Continued(from.History, from.Since, last):
		return "it does not hold a part of what is here", true, nil
	}
	if own := fingerprint(ctx, db, from.Since); own != "" && from.last != "" && own != from.last {
		return "another write has the number of its last one here: this database was put back to an older state", true, nil
	}
	var cursor *fenec.CursorError
	_, err = db.FeedBlocks(ctx, from.Since, 1)
	if errors.As(err, &cursor) {
		return "its last write is none that is here, or is no longer kept for replicas", cursor.Since >= cursor.First, nil
	}
	return "", false, err
}

// openImage makes an image of everything there is, all of which is on disk.
func openImage(ctx context.Context, db *fenec.DB, h replication.History) (*start, error) {
	waiting, stop := context.WithTimeout(ctx, imageWait)
	defer stop()
	image, err := db.OpenImage(waiting)
	if err != nil {
		if ctx.Err() == nil && waiting.Err() != nil {
			err = errDiskBehind
		}
		return nil, err
	}
	// The image's sequence may be ahead of its last write, by numbers that no write has.
	last := db.LastWrite()
	hello := replication.Hello{Image: true, Seq: min(last, image.Seq()), Durable: durable(db, last), Time: now(), History: h}
	return &start{hello: hello, sent: hello.Seq, image: image}, nil
}

// now returns the time as streams tell it.
func now() int64 { return time.Now().UnixMilli() }

// untilEnd reads an image until its stream is ended.
type untilEnd struct {
	ctx context.Context
	r   io.Reader
}

func (u untilEnd) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.r.Read(p)
}
