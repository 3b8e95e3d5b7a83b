package mirror

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

const (
	// bellLine is how many names one line of a bell's stream has at most.
	bellLine = 1000

	bellType = "application/x-ndjson"
)

// news is a line of a bell's stream.
type news struct {
	Boot   string   `json:"boot"`
	Cursor uint64   `json:"cursor"`
	Names  []string `json:"names,omitempty"`
	All    bool     `json:"all,omitempty"`
}

// ServeHTTP answers a listener. Whoever calls it has seen to it that it may listen.
func (b *Bell) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !only(http.MethodGet, w, r) {
		return
	}
	q := r.URL.Query()
	cursor, err := number(q, "cursor")
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	select {
	case <-b.over:
		refuse(w, http.StatusServiceUnavailable, "the node is being closed")
		return
	default:
	}
	b.tell(r.Context(), newSink(w, r, bellType), q.Get("boot"), cursor)
}

// tell tells a listener what it asked for, and what comes, until it goes.
func (b *Bell) tell(ctx context.Context, out *sink, boot string, cursor uint64) {
	known := boot == b.boot
	for {
		lines, next := b.lines(cursor, known)
		encoder := json.NewEncoder(out)
		for _, line := range lines {
			if encoder.Encode(line) != nil {
				return
			}
		}
		if out.flush() != nil || !b.await(ctx, next) {
			return
		}
		cursor, known = next, true
	}
}

// lines returns what there is to tell since cursor, which is this bell's or not known, and
// the cursor to go on from.
func (b *Bell) lines(cursor uint64, known bool) (list []news, next uint64) {
	names, next, ok := b.since(cursor)
	if !ok || !known {
		return []news{{Boot: b.boot, Cursor: next, All: true}}, next
	}
	for ; len(names) > bellLine; names = names[bellLine:] {
		// The cursor moves when all have been told.
		list = append(list, news{Boot: b.boot, Cursor: cursor, Names: names[:bellLine]})
	}
	return append(list, news{Boot: b.boot, Cursor: next, Names: names}), next
}

func (b *Bell) since(cursor uint64) (names []string, next uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rings.Since(cursor)
}

// await waits until somebody has rung since cursor and a little longer, or for as long as
// a stream may say nothing. It reports whether the stream goes on.
func (b *Bell) await(ctx context.Context, cursor uint64) bool {
	timer := time.NewTimer(aliveAfter)
	defer timer.Stop()
	select {
	case <-b.rungSince(cursor):
		timer.Reset(b.opts.Pause)
	case <-timer.C:
		return true
	case <-b.over:
		return false
	case <-ctx.Done():
		return false
	}
	select {
	case <-timer.C:
		return true
	case <-b.over:
		return false
	case <-ctx.Done():
		return false
	}
}

// rungSince returns a channel that is closed once somebody has rung since cursor.
func (b *Bell) rungSince(cursor uint64) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung == nil {
		b.rung = make(chan struct{})
	}
	if b.rings.Last() == cursor {
		return b.rung
	}
	rung := make(chan struct{})
	close(rung)
	return rung
}
