package fenec

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// scope narrows what a subscription of a session with a policy is told: it never
// hears of an id that it was not given a row of.
type scope struct {
	held  map[uint64]struct{} // the ids of the rows it was given and not taken away
	blind bool                // the shape is "false": it is told when, and not what
}

// newScope returns the scope of a subscription, nil if it may be told all.
func newScope(p *Policy, x *shape) *scope {
	if p == nil {
		return nil
	}
	return &scope{held: map[uint64]struct{}{}, blind: x.blind}
}

// isFalse reports whether a condition is the constant false.
func isFalse(where ql.Expr) bool {
	l, ok := where.(*ql.Literal)
	return ok && l.Kind == ql.Bool && !l.Bool
}

// narrow takes out of an event what the subscriber may not hear. It returns
// whether there is something left to tell.
func (s *scope) narrow(ev *Event) (bool, error) {
	if s == nil || ev.Kind == 0 {
		return true, nil
	}
	if ev.Kind == EventSeed {
		clear(s.held)
	}
	ev.Dels = slices.DeleteFunc(ev.Dels, func(id uint64) bool {
		_, held := s.held[id]
		return !held
	})
	for _, id := range ev.Dels {
		delete(s.held, id)
	}
	for i := range ev.Rows.Len() {
		id, err := ev.Rows.id(i)
		if err != nil {
			return false, err
		}
		s.held[id] = struct{}{}
	}
	tells := ev.Kind == EventSeed || ev.Schema || ev.Rows.Len() > 0 || len(ev.Dels) > 0
	if s.blind {
		ev.Rows, ev.Dels = noRows(), nil
	}
	return tells, nil
}
