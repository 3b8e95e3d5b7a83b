package replication

// Audience knows how far the streams of a primary have got, by the number that each was
// given, and what the replicas at their ends hold on disk. It decides whom a write waits
// for before it is answered: all that keep up. A stream keeps up from when it has been
// sent all there is until a write has waited for it in vain.
type Audience struct {
	streams map[uint64]*listener
	behind  int // how many of them lag
}

// listener is one streal.
type listener struct {
	name string // of the replica; "" if it does not tell
	sent uint64
	held uint64
	lags bool
}

// Join adds a stream to the replica of that name, which lags at first. What an older
// stream of that replica told is no longer counted.
func (a *Audience) Join(stream uint64, name string) {
	if a.streams == nil {
		a.streams = map[uint64]*listener{}
	}
	for _, l := range a.streams {
		if name != "" && l.name == name {
			l.held, l.name = 0, ""
		}
	}
	a.streams[stream] = &listener{name: name, lags: true}
	a.behind++
}

// Leave takes a stream out.
func (a *Audience) Leave(stream uint64) {
	if l := a.streams[stream]; l != nil {
		a.lag(l, false)
		delete(a.streams, stream)
	}
}

// Sent says that the stream was sent everything up to seq, and whether that is all there
// is to send.
func (a *Audience) Sent(stream, seq uint64, all bool) {
	if l := a.streams[stream]; l != nil {
		l.sent = max(l.sent, seq)
		if all {
			a.lag(l, false)
		}
	}
}

// Held says that the replica at the stream's end holds everything up to seq on disk. What
// it says may come before Sent does; it holds nothing that it was not sent.
func (a *Audience) Held(stream, seq uint64) {
	if l := a.streams[stream]; l != nil && l.name != "" {
		l.held = max(l.held, seq)
	}
}

// Reached reports whether every stream that keeps up was sent the write seq.
func (a *Audience) Reached(seq uint64) bool {
	if a.behind == len(a.streams) {
		return true
	}
	for _, l := range a.streams {
		if !l.lags && l.sent < seq {
			return false
		}
	}
	return true
}

// Missed says that a write has waited in vain, and makes those lag that it waited for.
func (a *Audience) Missed(seq uint64) {
	for _, l := range a.streams {
		if l.sent < seq {
			a.lag(l, true)
		}
	}
}

// Copies returns how many replicas hold everything up to seq on disk.
func (a *Audience) Copies(seq uint64) int {
	n := 0
	for _, l := range a.streams {
		if l.name != "" && min(l.held, l.sent) >= seq {
			n++
		}
	}
	return n
}

// Progress returns how far a stream has got, what its replica holds, and whether writes
// do not wait for it.
func (a *Audience) Progress(stream uint64) (sent, held uint64, lags bool) {
	if l := a.streams[stream]; l != nil {
		return l.sent, min(l.held, l.sent), l.lags
	}
	return 0, 0, true
}

func (a *Audience) lag(l *listener, lags bool) {
	if l.lags == lags {
		return
	}
	l.lags = lags
	if lags {
		a.behind++
	} else {
		a.behind--
	}
}
