package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"
)

// acme is the tenant.
const acme = "acme"

// The tokens: of the nodes' data, of their admin routes, and of the router's.
const (
	dataToken  = "bench-data"
	adminToken = "bench-admin"
	shardToken = "bench-shard"
)

// cluster is two nodes and a router, which has placed acme on the first.
type cluster struct {
	*env
	dir    string
	nodes  map[string]*server
	router *server
	url    string // of the router
}

// withCluster calls fn with a cluster in a directory of its own.
func (e *env) withCluster(ctx context.Context, dir string, fn func(*cluster) error) error {
	if err := e.binaries(); err != nil {
		return err
	}
	c := &cluster{env: e, dir: e.path(dir), nodes: map[string]*server{}}
	err := c.begin(ctx)
	if err == nil {
		err = fn(c)
	}
	return errors.Join(err, c.stop())
}

func (c *cluster) begin(ctx context.Context) error {
	for _, name := range []string{"n1", "n2"} {
		n, err := start(ctx, name, c.server, "--dir", c.nodeDir(name), "--http", "127.0.0.1:0",
			"--http-token", dataToken, "--admin-token", adminToken, "--max-connections", "0", "--trash-keep", "0")
		if err != nil {
			return err
		}
		c.nodes[name] = n
	}
	if err := c.route(ctx); err != nil {
		return err
	}
	for name, n := range c.nodes {
		body := fmt.Sprintf(`{"addr":%q,"token":%q}`, n.Addr(), adminToken)
		if err := c.manage(ctx, "PUT", "/_shard/nodes/"+name, body); err != nil {
			return err
		}
	}
	return c.manage(ctx, "PUT", "/_shard/tenants/"+acme, `{"node":"n1"}`)
}

func (c *cluster) nodeDir(name string) string { return filepath.Join(c.dir, name) }

// route starts the router, in the place of the one before it.
func (c *cluster) route(ctx context.Context, flags ...string) error {
	if c.router != nil {
		if err := c.router.Stop(); err != nil {
			return err
		}
		c.router = nil
	}
	args := []string{"--directory", filepath.Join(c.dir, "shard.fenec"), "--listen", "127.0.0.1:0", "--token", shardToken}
	r, err := start(ctx, "router", c.shard, append(args, flags...)...)
	if err != nil {
		return err
	}
	c.router, c.url = r, r.URL()
	return nil
}

func (c *cluster) stop() error {
	var errs []error
	if c.router != nil {
		errs = append(errs, c.router.Stop())
	}
	for _, n := range c.nodes {
		errs = append(errs, n.Stop())
	}
	return errors.Join(errs...)
}

// manage asks the router under /_shard/ and wants a 2xx.
func (c *cluster) manage(ctx context.Context, method, path, body string) error {
	_, err := successful(send(ctx, method, c.url+path, shardToken, []byte(body)))
	return err
}

// ask sends a request for acme through the router and wants a 2xx.
func (c *cluster) ask(ctx context.Context, method, path string, body []byte) (*answer, error) {
	return successful(send(ctx, method, c.url+"/t/"+acme+path, dataToken, body))
}

// answer is a whole answer.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// answerTime bounds the wait for an answer. An index may take minutes to create.
const answerTime = 15 * time.Minute

func send(ctx context.Context, method, url, token string, body []byte) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	a := &answer{Status: res.StatusCode, Header: res.Header}
	a.Body, err = io.ReadAll(res.Body)
	return a, err
}

// successful passes on an answer that is a 2xx.
func successful(a *answer, err error) (*answer, error) {
	if err == nil && a.Status/100 != 2 {
		err = fmt.Errorf("answered %d: %s", a.Status, a.Body)
	}
	return a, err
}
