package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// binaries are the daemons' files.
type binaries struct{ server, shard string }

// cluster is nodes and routers as child processes, which have their files in one
// directory.
type cluster struct {
	binaries
	term   int // of leases, in seconds
	out    *printer
	dir    string
	tokens tokens
	nodes  map[string]*child
	active *child // the router that takes changes
	second *child // the one that follows it; nil for none
}

// tokens are drawn anew for each run.
type tokens struct{ data, admin, shard, replication string }

// environment is how the daemons get those that are not in their arguments.
func (t tokens) environment() []string {
	return []string{
		"FENEC_HTTP_TOKEN=" + t.data, "FENEC_NODE_TOKEN=" + t.admin,
		"FENEC_SHARD_TOKEN=" + t.shard, "FENEC_REPLICATION_TOKEN=" + t.replication,
	}
}

// close ends the daemons and removes their files.
func (c *cluster) close() error {
	for _, p := range c.nodes {
		p.kill()
	}
	for _, p := range []*child{c.active, c.second} {
		if p != nil {
			p.kill()
		}
	}
	return os.RemoveAll(c.dir)
}

// run starts a daemon and shows how.
func (c *cluster) run(ctx context.Context, bin string, line ...string) (*child, error) {
	c.out.command(append([]string{filepath.Base(bin)}, line...))
	return start(ctx, c.dir, c.tokens.environment(), append([]string{bin}, line...)...)
}

// startNode starts a node: at any port the first time, and then where it was.
func (c *cluster) startNode(ctx context.Context, name string) error {
	addr := "127.0.0.1:0"
	if before := c.nodes[name]; before != nil {
		addr = before.addr
	}
	p, err := c.run(ctx, c.server, "--dir", name, "--http", addr, "--admin-token", c.tokens.admin, "--sync", "always", "--lease")
	if err == nil {
		c.nodes[name] = p
	}
	return err
}

// startRouter starts a router whose directory is in the file.
func (c *cluster) startRouter(ctx context.Context, file, addr string, more ...string) (*child, error) {
	return c.run(ctx, c.shard, append([]string{"--directory", file, "--listen", addr, "--replicas", "--auto-failover", strconv.Itoa(c.term)}, more...)...)
}

// ctl runs fenec-shard ctl and shows it with what it prints.
func (c *cluster) ctl(ctx context.Context, line ...string) error {
	line = append([]string{"ctl", "--router", "http://" + c.active.addr}, line...)
	c.out.command(append([]string{"fenec-shard"}, line...))
	cmd := exec.CommandContext(ctx, c.shard, line...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), c.tokens.environment()...)
	text, err := cmd.CombinedOutput()
	c.out.text(string(text))
	return err
}

// ask gets JSON.
func ask(ctx context.Context, url, token string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %d %s", url, res.StatusCode, body)
	}
	return errors.Join(err, json.Unmarshal(body, into))
}

// soon bounds each wait for the cluster.
const soon = 15 * time.Second

// until asks for something, again and again, until it is as ok wants it.
func until[T any](ctx context.Context, url, token string, ok func(T) bool) (said T, err error) {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	for {
		var now T
		if err = ask(ctx, url, token, &now); err == nil && ok(now) {
			return now, nil
		}
		if pause(ctx, 10*time.Millisecond) != nil {
			return said, fmt.Errorf("%s: %w after %+v", url, errors.Join(ctx.Err(), err), now)
		}
	}
}

// place is where the router says that a tenant is.
type place struct{ Name, Node, Replica string }

// await waits until the router says of the tenant what ok wants to hear.
func (c *cluster) await(ctx context.Context, ok func(place) bool) (place, error) {
	list, err := until(ctx, "http://"+c.active.addr+"/_shard/tenants", c.tokens.shard, func(list []place) bool {
		return len(list) == 1 && ok(list[0])
	})
	if err != nil {
		return place{}, err
	}
	return list[0], nil
}

// awaitLease waits until a node has a lease, or has none.
func (c *cluster) awaitLease(ctx context.Context, node string, has bool) error {
	type lease struct {
		Left int64 `json:"left_ms"`
	}
	_, err := until(ctx, "http://"+c.nodes[node].addr+"/_admin/lease", c.tokens.admin, func(l lease) bool { return l.Left > 0 == has })
	return err
}

// awaitSecond waits until the second router has all changes of the directory on its disk.
func (c *cluster) awaitSecond(ctx context.Context) error {
	type status struct {
		Seq      int64
		Replicas []struct{ Held int64 }
	}
	_, err := until(ctx, "http://"+c.active.addr+"/_replication/status", c.tokens.replication, func(s status) bool {
		return len(s.Replicas) == 1 && s.Replicas[0].Held == s.Seq
	})
	return err
}

// pause waits, and returns early with ctx's error if that ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// digest is what a node's copy of the tenant holds, summed up.
type digest struct {
	Seq  int64
	Root string
}

// compare requires the copies on two nodes to be the same.
func (c *cluster) compare(ctx context.Context, a, b string) error {
	var stands struct{ Last int64 }
	if err := ask(ctx, c.admin(a), c.tokens.admin, &stands); err != nil {
		return err
	}
	var of [2]digest
	for i, node := range []string{a, b} {
		// at waits for a copy that is a moment behind.
		if err := ask(ctx, fmt.Sprintf("%s/digest?at=%d", c.admin(node), stands.Last), c.tokens.admin, &of[i]); err != nil {
			return err
		}
	}
	if of[0] != of[1] {
		return fmt.Errorf("%s has %+v, %s has %+v", a, of[0], b, of[1])
	}
	c.out.text(fmt.Sprintf("%s and %s hold the same: digest %s at change %d\n", a, b, of[0].Root, of[0].Seq))
	return nil
}

func (c *cluster) admin(node string) string {
	return "http://" + c.nodes[node].addr + "/_admin/tenants/" + tenant
}

// schema writes what the tenant is made with and returns the name of its file.
func (c *cluster) schema() (string, error) {
	const text = "create collection notes (n int required @unique)\n"
	return "notes.fql", os.WriteFile(filepath.Join(c.dir, "notes.fql"), []byte(text), 0o600)
}
