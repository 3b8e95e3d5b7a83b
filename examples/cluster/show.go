package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"strings"
)

// tenant is the one that is shown.
const tenant = "acme"

// run is the whole show, with leases of so many seconds.
func run(ctx context.Context, w io.Writer, b binaries, term int) (err error) {
	if b, err = b.absolute(); err != nil {
		return err
	}
	c := &cluster{
		binaries: b, term: term, out: &printer{w: w}, nodes: map[string]*child{},
		tokens: tokens{draw("data"), draw("admin"), draw("shard"), draw("replication")},
	}
	if c.dir, err = os.MkdirTemp("", "fenec-cluster-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	s := &show{cluster: c}
	for _, part := range []func(context.Context) error{s.begin, s.loseNode, s.bringBack, s.loseRouter, s.rejoin} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// draw returns a token that nobody knows.
func draw(kind string) string { return kind + "-" + strings.ToLower(rand.Text()[:10]) }

// show is the script.
type show struct {
	*cluster
	client *client
	lost   string // the node that was killed
}

// begin starts everything and writes the first notes.
func (s *show) begin(ctx context.Context) (err error) {
	s.out.title("Three nodes that write under leases, a router that grants them, and one that follows it")
	for _, name := range s.tokens.environment() {
		s.out.text("export " + name + "\n")
	}
	for _, name := range []string{"n1", "n2", "n3"} {
		if err := s.startNode(ctx, name); err != nil {
			return err
		}
	}
	if s.active, err = s.startRouter(ctx, "r1.fenec", "127.0.0.1:0"); err != nil {
		return err
	}
	if s.second, err = s.startRouter(ctx, "r2.fenec", "127.0.0.1:0", "--replica-of", "http://"+s.active.addr); err != nil {
		return err
	}
	for _, name := range []string{"n1", "n2", "n3"} {
		if err := s.ctl(ctx, "node", "add", name, "--addr", s.nodes[name].addr); err != nil {
			return err
		}
	}
	s.out.title("A tenant is made, with a replica on another node, and a client writes to it")
	schema, err := s.schema()
	if err != nil {
		return err
	}
	if err := s.ctl(ctx, "create", tenant, "--schema", schema); err != nil {
		return err
	}
	if err := s.awaitSecond(ctx); err != nil {
		return err
	}
	s.client = &client{out: s.out, token: s.tokens.data, routers: []string{s.active.addr, s.second.addr}}
	if err := s.client.writeWhile(ctx, func() error { return nil }); err != nil {
		return err
	}
	return errors.Join(s.client.check(ctx), s.ctl(ctx, "status"))
}

// loseNode kills the node that the tenant is on.
func (s *show) loseNode(ctx context.Context) error {
	at, err := s.await(ctx, func(p place) bool { return p.Replica != "" })
	if err != nil {
		return err
	}
	s.lost = at.Node
	s.out.title(at.Node + " is killed while the client writes; the router fails it over by itself when its lease has run out")
	err = s.client.writeWhile(ctx, func() error {
		s.nodes[at.Node].kill()
		s.out.event("%s is dead", at.Node)
		now, err := s.await(ctx, func(p place) bool { return p.Node != at.Node })
		if err == nil {
			s.out.event("the router has %s on %s", tenant, now.Node)
		}
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(s.client.check(ctx), s.ctl(ctx, "status"))
}

// bringBack starts the node again.
func (s *show) bringBack(ctx context.Context) error {
	s.out.title(s.lost + " comes back, and its copy follows the new primary: what it had and nobody else has is given up")
	var now place
	err := s.client.writeWhile(ctx, func() (err error) {
		if err := s.startNode(ctx, s.lost); err != nil {
			return err
		}
		now, err = s.await(ctx, func(p place) bool { return p.Replica == s.lost })
		s.out.event("%s is the replica", s.lost)
		return err
	})
	if err != nil {
		return err
	}
	return errors.Join(s.ctl(ctx, "replicas"), s.compare(ctx, now.Node, now.Replica))
}

// loseRouter kills the router and has the other one take its place.
func (s *show) loseRouter(ctx context.Context) error {
	s.out.title("The router is killed, and the other one promoted, which grants leases when those of the first have run out")
	now, err := s.await(ctx, func(place) bool { return true })
	if err != nil {
		return err
	}
	err = s.client.writeWhile(ctx, func() error {
		s.active.kill()
		s.out.event("the router is dead")
		s.active, s.second = s.second, s.active
		return errors.Join(s.ctl(ctx, "promote"), s.awaitLease(ctx, now.Node, false), s.awaitLease(ctx, now.Node, true))
	})
	if err != nil {
		return err
	}
	return errors.Join(s.client.check(ctx), s.ctl(ctx, "status"))
}

// rejoin starts the router again that was killed, and looks at everything.
func (s *show) rejoin(ctx context.Context) (err error) {
	s.out.title("The first router comes back and follows the second")
	s.second, err = s.startRouter(ctx, "r1.fenec", s.second.addr, "--replica-of", "http://"+s.active.addr)
	if err != nil {
		return err
	}
	if err := s.client.writeWhile(ctx, func() error { return nil }); err != nil {
		return err
	}
	now, err := s.await(ctx, func(p place) bool { return p.Replica != "" })
	if err != nil {
		return err
	}
	return errors.Join(s.client.check(ctx), s.compare(ctx, now.Node, now.Replica), s.awaitSecond(ctx), s.ctl(ctx, "replication"))
}
