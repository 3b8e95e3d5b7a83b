package main

import (
	"context"
	"errors"

	"github.com/fenec-go/fenecdb/bench/internal/rawconn"
)

// The names of the roads. Those through a proxy are called as the proxy is.
const (
	constant = "net/http constant"
	direct   = "direct"
	routed   = "routed"
)

// road is a way for a request to an answer.
type road struct {
	name, addr string
	hop        *server // what forwards it, nil for nobody
	end        *server // what answers it
}

// request is what is asked on all roads.
var request = rawconn.Request("GET", getTarget, nil, "Authorization: Bearer "+dataToken)

const getTarget = "/t/" + acme + "/docs?limit=1&select=title"

// onRoads calls fn with all roads to acme's one document, and the one to a constant.
func (e *env) onRoads(ctx context.Context, dir string, fn func([]road) error) error {
	return e.withCluster(ctx, dir, func(c *cluster) error {
		for _, r := range []struct{ method, path, body string }{
			{"POST", "/query", `{"query":"create collection docs (title text, body text)"}`},
			{"POST", "/docs", `{"title":"the quick brown fox jumps over the lazy dog","body":"and another, and another"}`},
		} {
			if _, err := c.ask(ctx, r.method, r.path, []byte(r.body)); err != nil {
				return err
			}
		}
		return e.withPeers(ctx, c, fn)
	})
}

// withPeers adds the peers of a cluster's router.
func (e *env) withPeers(ctx context.Context, c *cluster, fn func([]road) error) (err error) {
	node := c.nodes["n1"]
	a, err := successful(send(ctx, "GET", node.URL()+getTarget, dataToken, nil))
	if err != nil {
		return err
	}
	fixed, err := e.startConstant(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fixed.Stop()) }()
	rs := []road{
		{constant, fixed.Addr(), nil, fixed},
		{direct, node.Addr(), nil, node},
		{routed, c.router.Addr(), c.router, node},
	}
	hops, err := e.startProxies(ctx, node.Addr())
	for _, hop := range hops {
		defer func() { err = errors.Join(err, hop.Stop()) }()
		rs = append(rs, road{hop.Name(), hop.Addr(), hop, node})
	}
	if err != nil {
		return err
	}
	return fn(rs)
}
