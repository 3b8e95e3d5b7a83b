package router

import (
	"errors"
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/replication"
)

// staleMargin is for how much longer a copy may have been out of touch with its primary
// than the router, and take over by itself. Nodes tell of themselves every 2 s where there
// is nothing to send, and a hung one is silent to its copies first.
const staleMargin = 10 * time.Second

// hear notes that a node has answered to a grant, if it has.
func (t *tenure) hear(now time.Duration, err error) {
	if err == nil || errors.Is(err, replication.ErrMismatch) || errors.Is(err, replication.ErrUnfenced) {
		t.answered, t.heard = true, now
	}
}

// silent returns for how long a node has not answered. It is not known of one that has not
// since the router was started, or without leases.
func (l *leasing) silent(node string) (since time.Duration, known bool) {
	if l == nil {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tenures[node]
	if t == nil || !t.answered {
		return 0, false
	}
	return l.clock() - t.heard, true
}

// stale tells why a copy is not to take over by itself: what it may lack is more than what
// was written last.
func (p *promotion) stale(node string, s standing) error {
	silent, known := p.leasing.silent(p.from)
	if !known || s.Role != roleReplica || s.LagMs == nil {
		return nil
	}
	lag := time.Duration(*s.LagMs) * time.Millisecond
	switch {
	case lag < 0:
		return fmt.Errorf("node %s: its copy has not caught up since that node was started: %w", node, ErrStale)
	case lag <= silent+staleMargin:
		return nil
	}
	return fmt.Errorf("node %s: its copy was last known to be level %v ago, and node %s was heard of %v ago: %w",
		node, lag.Round(time.Second), p.from, silent.Round(time.Second), ErrStale)
}
