package fenec

import (
	"maps"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/history"
)

// latest knows when each topic was last written to, if that was since the
// database was opened.
type latest struct {
	mu     sync.Mutex // guards the fields below
	opened uint64     // the sequence at which the database was opened, or came to by passing over numbers
	writes map[uint32]lastWrite

	// still is the smallest sequence from which on nothing is known to have been
	// written to a topic up to opened.
	still map[uint32]uint64
}

// lastWrite is a topic's last write and the one before it: while the last one is
// not seen by readers yet, no other is.
type lastWrite struct{ at, before uint64 }

func (l *latest) init(opened uint64) {
	l.opened, l.writes, l.still = opened, map[uint32]lastWrite{}, map[uint32]uint64{}
}

// passOver notes that the database has come to seq and that numbers before are nobody's:
// of those only the history tells.
func (l *latest) passOver(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened = seq
}

// since returns up to where the history is to be asked.
func (l *latest) since() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opened
}

// wrote notes a block that ends at seq, before readers see it.
func (l *latest) wrote(n *history.Notes, seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n.Visible() {
		l.writeLocked(everyone, seq)
	}
	for _, number := range n.Collections() {
		l.writeLocked(number, seq)
	}
}

func (l *latest) writeLocked(number uint32, seq uint64) {
	l.writes[number] = lastWrite{seq, l.writes[number].at}
}

// prune forgets what the catalog does not have any more.
func (l *latest) prune(cat *catalog.Catalog) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.writes, func(number uint32, _ lastWrite) bool {
		return number != everyone && cat.Numbered(number) == nil
	})
}

// past reports whether the topic of that number was written to past since, up to
// seen. known is false if that takes a look at the history up to the opening.
func (l *latest) past(number uint32, since, seen uint64) (written, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.writes[number]
	at := last.at
	if at > seen {
		at = last.before
	}
	if at > since {
		return true, true
	}
	still, ok := l.still[number]
	return false, since >= l.opened || ok && since >= still
}

// rests notes that the topic was not written to from since on, up to the opening.
func (l *latest) rests(number uint32, since uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if still, ok := l.still[number]; !ok || since < still {
		l.still[number] = since
	}
}
