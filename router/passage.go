package router

import (
	"errors"
	"net/http"
)

// sender is the client's side of a request that is forwarded.
type sender interface {
	sink
	waiter
	// send sends the current request to the node and returns the connection on which
	// the head of the answer was read. An error is a *NodeError, or errAborted if the
	// client has gone.
	send(n Node, target []byte) (*upstream, error)
}

// forward sends a tenant's request to its node, and the answer back. It sends it again,
// to the node that has the tenant then, if the tenant was away: a move had frozen it, or
// taken it elsewhere.
//
// An error is a refusal if the client has seen nothing yet; after any other its
// connection has to end.
func (rt *Router) forward(s sender, in *incoming, d *destination) error {
	var h holding
	if d.place.gate != nil && certainlyWrites(in.Method, d.target) {
		if err := rt.awaitGate(s, d, &h); err != nil {
			return err
		}
	}
	for {
		n := *d.place.on.node.Load()
		in.sealed = d.place.sealed
		sent := sendingTo(d.place.on)
		u, err := s.send(n, d.target)
		if err != nil {
			return rt.failed(n, err)
		}
		again, err := rt.passOn(s, u, n, in, d, &h, sent)
		if err != nil {
			return rt.failed(n, err)
		}
		if !again {
			return nil
		}
	}
}

// passOn passes an answer on, unless the request is to be sent again.
func (rt *Router) passOn(s sender, u *upstream, n Node, in *incoming, d *destination, h *holding, sent sending) (again bool, err error) {
	status := u.answer.Status
	rt.accepted(in, d, status)
	if status/100 == 2 && !in.Method.Safe() && rt.overtaken(sent) {
		u.close()
		return false, errOvertaken
	}
	f := formOf(&u.answer, in.Method)
	if !f.isWhole() {
		rt.degradations.heard(d, n.Name, status, nothing)
		if status == http.StatusUnauthorized {
			if err := rt.refused(s, in, d.tenant); err != nil {
				u.close()
				return false, err
			}
		}
		return false, sent.relay(u, f, s)
	}
	says, err := takeWhole(u, n, f, s)
	if err != nil {
		return false, err
	}
	rt.degradations.heard(d, n.Name, status, says)
	switch {
	case status == http.StatusUnauthorized:
		if err := rt.refused(s, in, d.tenant); err != nil {
			s.drop()
			return false, err
		}
	case says == misses:
		if again, err = rt.awaitChange(s, d, h); again || err != nil {
			s.drop()
			return again, err
		}
	}
	return false, s.end()
}

// failed turns a node's failure into the refusal that its tenants' clients are told.
// Other errors stay as they are.
func (rt *Router) failed(n Node, err error) error {
	if !errors.As(err, new(*NodeError)) {
		return err
	}
	rt.metrics.failed(n.Name)
	return badGateway(n)
}
