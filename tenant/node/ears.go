package node

import (
	"github.com/fenec-go/fenecdb/replication/mirror"
)

// ear listens to a node that tenants of this one follow, for which of its tenants are
// written.
type ear struct {
	ear   *mirror.Ear
	users int  // followers
	heard bool // it was in touch once: nothing has been missed since
}

func (e *ear) stop() {
	if e.ear != nil {
		e.ear.Stop()
	}
}

// hearLocked listens to the node at from for one more follower.
func (fs *followers) hearLocked(from string) {
	e := fs.ears[from]
	if e == nil {
		e = &ear{}
		fs.ears[from] = e
		// It cannot call back before mu is given up.
		var err error
		e.ear, err = mirror.StartEar(mirror.EarOptions{
			Primary: from, Token: fs.r.node.opts.ReplicationToken, Transport: fs.r.transport, ErrorLog: fs.r.log,
			Heard: func(names []string, all bool) { fs.heard(e, from, names, all) },
		})
		if err != nil { // from was made by hand, and is no URL
			fs.r.log.Printf("replication: the bell of %q: %v", from, err)
		}
	}
	e.users++
}

// deafenLocked says that one follower less listens to the node at from.
func (fs *followers) deafenLocked(from string) {
	e := fs.ears[from]
	if e == nil {
		return
	}
	if e.users--; e.users == 0 {
		delete(fs.ears, from)
		fs.helpers.Go(e.stop) // it waits for who may wait for mu
	}
}

// heard wakes those who follow the tenants that were written on the node at from.
func (fs *followers) heard(e *ear, from string, names []string, all bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.ears[from] != e {
		return
	}
	e.heard = true
	for _, name := range names {
		if x := fs.byName[name]; x != nil && x.from == from {
			fs.wakeLocked(x, queuedSoon)
		}
	}
	if !all {
		return
	}
	for _, x := range fs.byName {
		if x.from == from {
			fs.wakeLocked(x, queuedLast)
		}
	}
}

// hears reports whether those who follow the node at from and rest are told when there is
// something for them.
func (fs *followers) hears(from string) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	e := fs.ears[from]
	return e != nil && e.heard
}

// failsLocked notes that the node at from was not in touch with one who follows it. If it
// never was with anybody, nobody else is waited for.
func (fs *followers) failsLocked(from string) {
	e := fs.ears[from]
	if e == nil || e.heard {
		return
	}
	for _, x := range fs.byName {
		if x.from == from {
			fs.inTouchLocked(x)
		}
	}
}
