package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/fenec-go/fenecdb/internal/daemon"
)

// cluster is a router and its nodes as child processes, with their databases in
// a temporary directory.
type cluster struct {
	dir    string
	nodes  []*daemon.Process
	router *daemon.Process
	tokens tokens
	client *http.Client
}

// tokens are drawn anew for every run.
type tokens struct {
	data  string // opens the tenants' data, on every node
	admin string // is the router's key to the nodes
	shard string // opens the router's directory
}

// startCluster starts two nodes and a router and tells the router of the nodes.
// What it returns must be stopped, also after an error.
func startCluster(ctx context.Context, c config) (*cluster, error) {
	cl := &cluster{
		tokens: tokens{data: "data-" + draw(), admin: "admin-" + draw(), shard: "shard-" + draw()},
		client: &http.Client{Timeout: 30 * time.Second},
	}
	var err error
	if cl.dir, err = os.MkdirTemp("", "fenec-demo-"); err != nil {
		return cl, err
	}
	for _, name := range []string{"n1", "n2"} {
		node, err := daemon.Start(ctx, name, c.server,
			"--dir", filepath.Join(cl.dir, name), "--http", "127.0.0.1:0",
			"--http-token", cl.tokens.data, "--admin-token", cl.tokens.admin)
		if err != nil {
			return cl, err
		}
		cl.nodes = append(cl.nodes, node)
	}
	cl.router, err = daemon.Start(ctx, "router", c.shard,
		"--directory", filepath.Join(cl.dir, "shard.fenec"), "--listen", "127.0.0.1:0",
		"--token", cl.tokens.shard)
	if err != nil {
		return cl, err
	}
	return cl, cl.register(ctx)
}

// register tells the router where the nodes are.
func (cl *cluster) register(ctx context.Context) error {
	for _, n := range cl.nodes {
		_, err := cl.expect(ctx, http.StatusCreated, call{
			method: "PUT", path: "/_shard/nodes/" + n.Name(), token: cl.tokens.shard,
			body: fmt.Sprintf(`{"addr":%q,"token":%q}`, n.Addr(), cl.tokens.admin),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// wait returns when ctx ends, or with an error when a daemon does.
func (cl *cluster) wait(ctx context.Context) error {
	ended := func(p *daemon.Process) error {
		return fmt.Errorf("%s ended by itself\n%s", p.Name(), p.Log())
	}
	select {
	case <-ctx.Done():
		return nil
	case <-cl.router.Done():
		return ended(cl.router)
	case <-cl.nodes[0].Done():
		return ended(cl.nodes[0])
	case <-cl.nodes[1].Done():
		return ended(cl.nodes[1])
	}
}

// stop ends the router and the nodes and removes their databases.
func (cl *cluster) stop() error {
	var errs []error
	if cl.router != nil {
		errs = append(errs, cl.router.Stop())
	}
	for _, n := range cl.nodes {
		errs = append(errs, n.Stop())
	}
	if cl.dir != "" {
		errs = append(errs, os.RemoveAll(cl.dir))
	}
	return errors.Join(errs...)
}

// call is one request to the router.
type call struct {
	method string
	path   string
	token  string
	body   string
}

// do sends c and returns the status and the body of the answer.
func (cl *cluster) do(ctx context.Context, c call) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, c.method, cl.router.URL()+c.path, bytes.NewReader([]byte(c.body)))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := cl.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, body, err
}

// expect sends c and wants the given status.
func (cl *cluster) expect(ctx context.Context, status int, c call) ([]byte, error) {
	got, body, err := cl.do(ctx, c)
	if err == nil && got != status {
		err = fmt.Errorf("answered %d, want %d: %s", got, status, body)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", c.method, c.path, err)
	}
	return body, nil
}

// draw returns eight random hex digits.
func draw() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
