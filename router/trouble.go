package router

import "sync/atomic"

// trouble tells whether a directory's file refuses changes: from the first that it has
// refused until it has taken one again.
type trouble struct {
	failing atomic.Bool
	told    atomic.Pointer[func(why error)]
}

// tell has f told when it begins, and why, and when it ends, with nil. One of several
// fs is told.
func (t *trouble) tell(f func(why error)) { t.told.Store(&f) }

// note takes in what became of a change. Calls are never concurrent.
func (t *trouble) note(err error) {
	failing := err != nil
	if failing == t.failing.Load() {
		return
	}
	t.failing.Store(failing)
	if told := t.told.Load(); told != nil {
		(*told)(err)
	}
}
