package serve

import (
	"context"
	"sync"

	"github.com/fenec-go/fenecdb/fenec"
)

// turns lets requests that would pick the same rows go one after the other, in
// order of arrival.
type turns struct {
	mu    sync.Mutex // guards queue
	queue map[turnKey][]chan struct{}
}

// turnKey tells what requests pick: those of one sender with one body pick the same.
type turnKey struct {
	db    *fenec.DB
	token string
	body  string
}

// wait returns once it is the request's turn. done passes it on.
func (t *turns) wait(ctx context.Context, k turnKey) (done func(), err error) {
	mine := make(chan struct{})
	t.mu.Lock()
	if t.queue == nil {
		t.queue = map[turnKey][]chan struct{}{}
	}
	first := len(t.queue[k]) == 0
	t.queue[k] = append(t.queue[k], mine)
	t.mu.Unlock()
	if first {
		close(mine)
	}
	done = func() { t.leave(k, mine) }
	select {
	case <-mine:
		return done, nil
	case <-ctx.Done():
		done()
		return nil, ctx.Err()
	}
}

// leave takes a request out of its queue and, if it was its turn, gives the next
// one its own.
func (t *turns) leave(k turnKey, mine chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	queue := t.queue[k]
	for i, ch := range queue {
		if ch != mine {
			continue
		}
		queue = append(queue[:i:i], queue[i+1:]...)
		switch {
		case len(queue) == 0:
			delete(t.queue, k)
			return
		case i == 0:
			close(queue[0])
		}
		t.queue[k] = queue
		return
	}
}
