package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/rawconn"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/internal/daemon"
)

// httpRows is how many rows the tenant asked over HTTP holds.
const httpRows = 1_000

// cluster is a node behind a router with one tenant, as processes of their own.
type cluster struct {
	node, router *daemon.Process
	token        string
}

// measureHTTP compares a get by id sent to a node with the same node's constant
// answer, and with the same get sent through a router. One kept-alive connection
// each, one request at a time; the figure is the median latency.
func measureHTTP(ctx context.Context, e *env) error {
	for _, bin := range []string{e.server, e.shard} {
		if _, err := os.Stat(bin); err != nil {
			return fmt.Errorf("%w (make build makes it)", err)
		}
	}
	c, err := startCluster(ctx, e)
	if err == nil {
		err = c.compare(ctx, e)
	}
	return errors.Join(err, c.stop())
}

func startCluster(ctx context.Context, e *env) (*cluster, error) {
	const admin, shard = "bench-admin", "bench-shard"
	c := &cluster{token: "bench-data"}
	var err error
	c.node, err = daemon.Start(ctx, "node", e.server, "--dir", e.path("node"), "--http", "127.0.0.1:0",
		"--http-token", c.token, "--admin-token", admin)
	if err != nil {
		return c, err
	}
	c.router, err = daemon.Start(ctx, "router", e.shard, "--directory", e.path("shard.fenec"),
		"--listen", "127.0.0.1:0", "--token", shard)
	if err != nil {
		return c, err
	}
	node := fmt.Sprintf(`{"addr":%q,"token":%q}`, c.node.Addr(), admin)
	if err := send(ctx, "PUT", c.router.URL()+"/_shard/nodes/n1", shard, []byte(node)); err != nil {
		return c, err
	}
	if err := send(ctx, "PUT", c.router.URL()+"/_shard/tenants/bench", shard, nil); err != nil {
		return c, err
	}
	return c, send(ctx, "POST", c.router.URL()+"/t/bench/batch", c.token, loadLines(e.bodies()))
}

// loadLines is the body of the batch that makes the collection and its rows.
func loadLines(pool gen.Bodies) []byte {
	var b bytes.Buffer
	line := json.NewEncoder(&b)
	_ = line.Encode(map[string]any{"query": schemaText})
	for i := range int64(httpRows) {
		_ = line.Encode(map[string]any{"query": insertText, "params": []any{i + 1, i, pool.At(i)}})
	}
	return b.Bytes()
}

func (c *cluster) stop() error {
	var errs []error
	for _, p := range []*daemon.Process{c.router, c.node} {
		if p != nil {
			errs = append(errs, p.Stop())
		}
	}
	return errors.Join(errs...)
}

func (c *cluster) compare(ctx context.Context, e *env) error {
	query := rawconn.Request("POST", "/t/bench/query", []byte(`{"query":"get rows where id = $1","params":[500]}`),
		"Authorization: Bearer "+c.token)
	var cs []measure.Contender
	for _, target := range []struct {
		name, addr string
		request    []byte
	}{
		{"get at the node", c.node.Addr(), query},
		{"constant", c.node.Addr(), rawconn.Request("GET", "/_health", nil)},
		{"get through the router", c.router.Addr(), query},
	} {
		conn, err := rawconn.Dial(ctx, target.addr)
		if err != nil {
			return err
		}
		defer conn.Close()
		cs = append(cs, measure.Contender{Name: target.name, Slice: func() (float64, error) {
			took, err := measure.Latencies(e.Slice, func() error { return conn.Exchange(target.request) })
			return measure.Median(took), err
		}})
	}
	got, err := measure.Interleave(ctx, 2*e.Rounds, cs)
	if err != nil {
		return err
	}
	e.out.Line("get at a node, a constant of the same node", report.Duration, got[0], got[1], got[0]/got[1], report.AtMost(1.5))
	e.out.Line("get through a router, at the node", report.Duration, got[2], got[0], got[2]/got[0], report.AtMost(2.2))
	return nil
}

// send makes one request and wants a 2xx.
func send(ctx context.Context, method, url, token string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s: %s", method, url, res.Status, answer)
	}
	return err
}
