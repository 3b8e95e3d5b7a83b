package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/http1"
	"github.com/fenec-go/fenecdb/router"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// quiet is told what goes wrong where something is made to go wrong.
var quiet = log.New(io.Discard, "", 0)

// replicationToken is what nodes and routers that follow each other know.
const replicationToken = "bench-replication"

// nearNode is a node in this process, served as the daemon serves one.
type nearNode struct {
	name, dir string
	listen    string // where it listens; the same after a stop
	addr      string // where the others reach it
	opts      node.Options
	node      *node.Node // nil while it is stopped
	server    *http1.Server
}

// startNode starts a node whose writes are on disk when they are answered.
func (e *env) startNode(name, dir string, change ...func(*node.Options)) (*nearNode, error) {
	n := &nearNode{name: name, dir: filepath.Join(dir, name), listen: "127.0.0.1:0", opts: node.Options{
		Tenants:          tenant.Options{DB: fenec.Options{Sync: fenec.SyncAlways}, TrashKeep: -1},
		Surface:          serve.Options{Token: serve.NewSecret(dataToken), ErrorLog: quiet},
		AdminToken:       serve.NewSecret(adminToken),
		ReplicationToken: serve.NewSecret(replicationToken),
	}}
	for _, c := range change {
		c(&n.opts)
	}
	return n, n.start()
}

func (n *nearNode) start() error {
	l, err := net.Listen("tcp", n.listen)
	if err != nil {
		return err
	}
	if n.node, err = node.Open(n.dir, n.opts); err != nil {
		return errors.Join(err, l.Close())
	}
	n.listen = l.Addr().String()
	if n.addr == "" {
		n.addr = n.listen
	}
	n.server = http1.NewServer(n.node, http1.ServerOptions{ErrorLog: quiet})
	go func() { _ = n.server.Serve(l) }()
	return nil
}

func (n *nearNode) stop() error {
	if n.node == nil {
		return nil
	}
	n.node.EndStreams()
	err := errors.Join(n.server.Close(), n.node.Close())
	n.node = nil
	return err
}

func (n *nearNode) url() string { return "http://" + n.listen }

// last returns the number of the last write that the node's copy of a tenant has.
func (n *nearNode) last(ctx context.Context, name string) (uint64, error) {
	at, err := n.node.Tenants().Position(ctx, name)
	return at.Last, err
}

// near is a router and nodes in this process.
type near struct {
	*env
	dir       string
	nodes     []*nearNode
	directory *router.Directory
	router    *router.Router
	url       string // of the router
}

// withNear calls fn with nodes and a router over them.
func (e *env) withNear(dir string, nodes []*nearNode, opts router.Options, fn func(*near) error) (err error) {
	c := &near{env: e, dir: e.path(dir), nodes: nodes}
	if c.directory, err = router.OpenDirectory(filepath.Join(c.dir, directoryFile)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.directory.Close()) }()
	for _, n := range nodes {
		if err := c.directory.PutNode(router.Node{Name: n.name, Addr: n.addr, Token: router.NewToken(adminToken)}); err != nil {
			return err
		}
	}
	opts.Directory, opts.ErrorLog, opts.Token = c.directory, quiet, router.NewToken(shardToken)
	if c.router, err = router.New(opts); err != nil {
		return err
	}
	addr, end, err := serveRouter(c.router)
	if err != nil {
		return err
	}
	defer end()
	c.url = "http://" + addr
	return fn(c)
}

// serveRouter serves a router until end is called.
func serveRouter(rt *router.Router) (addr string, end func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go func() { _ = rt.Serve(l) }()
	return l.Addr().String(), func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = rt.Shutdown(ctx)
	}, nil
}

// withNodes calls fn with nodes named n1 and so on, each changed by its own function.
func (e *env) withNodes(dir string, changes []func(*node.Options), fn func([]*nearNode) error) (err error) {
	if err := os.MkdirAll(e.path(dir), 0o700); err != nil {
		return err
	}
	var nodes []*nearNode
	defer func() {
		for _, n := range nodes {
			err = errors.Join(err, n.stop())
		}
	}()
	for i, change := range changes {
		n, err := e.startNode(fmt.Sprintf("n%d", i+1), e.path(dir), change)
		if err != nil {
			return err
		}
		nodes = append(nodes, n)
	}
	return fn(nodes)
}

// asItIs changes nothing.
func asItIs(*node.Options) {}

// manage asks the router under /_shard/ and reads its answer into a value, nil for none.
func (c *near) manage(ctx context.Context, method, path, body string, into any) error {
	a, err := successful(send(ctx, method, c.url+"/_shard/"+path, shardToken, []byte(body)))
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(a.Body, into)
}

// create makes a tenant on a node, with the collection docs.
func (c *near) create(ctx context.Context, name, on string) error {
	const schema = `"schema":{"format":1,"collections":[{"name":"docs","fields":[{"name":"n","type":"int"}]}]}`
	return c.manage(ctx, "PUT", "tenants/"+name, fmt.Sprintf(`{"node":%q,%s}`, on, schema), nil)
}
