package router

import "time"

const (
	// quickly is how soon a request follows the answer before it when its
	// client is busy.
	quickly = 10 * time.Millisecond
	// A client is put on the express lane when its merit reaches merited, and
	// leaves it at none. Merit grows by one with a request that came quickly,
	// up to mostMerit, and shrinks by two with one during which the router was
	// busy with others.
	merited, mostMerit = 8, 16
)

// lane is a client's standing with the express lane. The few clients that are on
// it have their connection, and the one to the node that they keep asking, held.
// They leave it when they pause, ask another node or subscribe, and when others
// are busy too: threads of their own would then only be in each other's way.
type lane struct {
	on      bool
	peer    *peer     // the node that was asked last
	kept    *upstream // a connection to it, between two requests; only while on
	merit   int       // for asking that node
	quick   bool      // the current request came quickly
	answers uint64    // how many the router had given when it gave the last one
	spinner spinner   // of both connections
}

// noteRequest notes that a request has come.
func (c *client) noteRequest() {
	l := &c.lane
	l.quick = l.on || c.began-c.ended <= quickly
}

// noteAnswer notes that a request was answered, and puts the client on the lane
// or takes it off.
func (c *client) noteAnswer() {
	l := &c.lane
	front := &c.router.front
	answers := front.answers.Add(1)
	others := answers - l.answers - 1
	l.answers = answers
	switch {
	case !l.quick:
		l.merit = 0
	case others < uint64(cap(front.express)):
		l.merit = min(l.merit+1, mostMerit)
	default:
		l.merit = max(l.merit-2, 0)
	}
	switch {
	case !l.on && l.merit >= merited:
		c.enterLane()
	case l.on && l.merit == 0:
		c.leaveLane()
	}
}

// enterLane puts the client on the lane if there is room.
func (c *client) enterLane() {
	select {
	case c.router.front.express <- struct{}{}:
		c.lane.on = true
		if !c.wire.hold(&c.lane.spinner) {
			c.leaveLane()
		}
	default:
	}
}

// leaveLane gives up the client's place on the lane, if it has one, and its
// merit.
func (c *client) leaveLane() {
	l := &c.lane
	l.merit = 0
	if !l.on {
		return
	}
	l.on = false
	<-c.router.front.express
	c.wire.release()
	if u := l.kept; u != nil {
		l.kept = nil
		u.goHome()
	}
}

// exchange sends the current request to the node.
func (c *client) exchange(n Node) (*upstream, error) {
	l := &c.lane
	if l.peer == nil || l.peer.addr != n.Addr || l.peer.retired.Load() {
		c.leaveLane()
		l.peer = c.router.forwarder.peer(n.Addr)
	}
	kept := l.kept
	l.kept = nil
	u, err := c.router.forwarder.exchange(n, l.peer, kept, &c.order)
	if err == nil && l.on {
		u.keeper = c
	}
	return u, err
}

// keep takes a connection to a node that is free again.
func (c *client) keep(u *upstream) {
	if !c.lane.on || !u.hold(&c.lane.spinner) {
		u.goHome()
		return
	}
	c.lane.kept = u
}
