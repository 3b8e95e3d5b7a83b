package mirror

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// reportPause is how long a report that did not arrive waits for another try.
const reportPause = 100 * time.Millisecond

// reporter tells a primary what is on the copy's disk: at most one report is on its way,
// and the next tells of all that came meanwhile. A nil one tells nothing.
type reporter struct {
	replica *Replica
	stream  string // number that the primary gave the stream
	came    chan struct{}
	cancel  context.CancelFunc
	done    chan struct{}
}

// startReports starts a reporter, which tells at once what is there.
func (r *Replica) startReports(ctx context.Context, stream string) *reporter {
	ctx, cancel := context.WithCancel(ctx)
	rep := &reporter{replica: r, stream: stream, came: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{})}
	rep.ring()
	go rep.run(ctx)
	return rep
}

// ring says that the copy has got further.
func (rep *reporter) ring() {
	if rep == nil {
		return
	}
	select {
	case rep.came <- struct{}{}:
	default:
	}
}

func (rep *reporter) stop() {
	rep.cancel()
	<-rep.done
}

// run reports until it is stopped.
func (rep *reporter) run(ctx context.Context) {
	defer close(rep.done)
	var told uint64
	for {
		select {
		case <-rep.came:
		case <-ctx.Done():
			return
		}
		held, err := rep.held(ctx)
		if err == nil && held > told {
			if err = rep.tell(ctx, held); err == nil {
				told = held
			}
		}
		if err != nil {
			rep.ring() // for another try
			if !rest(ctx, reportPause) {
				return
			}
		}
	}
}

// held brings what has come to the disk, and returns the last write there.
func (rep *reporter) held(ctx context.Context) (held uint64, err error) {
	err = rep.replica.use(ctx, func(db *fenec.DB) error {
		last := db.LastWrite()
		err := db.Sync(ctx)
		held = durable(db, last)
		return err
	})
	return held, err
}

func (rep *reporter) tell(ctx context.Context, held uint64) error {
	q := url.Values{"stream": {rep.stream}, "seq": {strconv.FormatUint(held, 10)}}
	return rep.replica.primary.post(ctx, "/_replication/held?"+q.Encode())
}
