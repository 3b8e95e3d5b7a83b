package router

import (
	"context"
	"errors"
)

// errNodeLost is why a move is given up whose source is failed over.
var errNodeLost = errors.New("its node is failed over")

// giveUp ends the moves off a node that is lost, and returns at once. What they have come
// to is left as it is, for a failover that takes their place.
func (m *mover) giveUp(node string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for x, end := range m.moves {
		if x.from.Name == node {
			end(errNodeLost)
		}
	}
}

// endable returns the context of a move that can be given up, until done is called.
func (m *mover) endable(ctx context.Context, x *transit) (moving context.Context, done func()) {
	moving, end := context.WithCancelCause(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.moves == nil {
		m.moves = make(map[*transit]context.CancelCauseFunc)
	}
	m.moves[x] = end
	return moving, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.moves, x)
		end(nil)
	}
}
