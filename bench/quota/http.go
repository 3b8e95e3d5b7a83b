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

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/rawconn"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/internal/daemon"
)

// The tenants of a server: two without limits, and one that has all of them.
const (
	free    = "free"
	another = "another"
	limited = "limited"
)

// The server's tokens.
const (
	dataToken  = "bench-data"
	adminToken = "bench-admin"
)

// measureHTTP asks one server for each of its tenants in turns.
func measureHTTP(ctx context.Context, e *env) error {
	if _, err := os.Stat(e.server); err != nil {
		return fmt.Errorf("%w (make build makes it)", err)
	}
	server, err := daemon.Start(ctx, "server", e.server, "--dir", e.path("tenants"), "--http", "127.0.0.1:0",
		"--http-token", dataToken, "--admin-token", adminToken)
	if err != nil {
		return err
	}
	h := &httpBench{env: e, server: server}
	return errors.Join(h.measure(ctx), server.Stop())
}

type httpBench struct {
	*env
	server *daemon.Process
}

func (h *httpBench) measure(ctx context.Context) error {
	for _, name := range []string{free, another, limited} {
		if err := h.make(ctx, name); err != nil {
			return err
		}
	}
	limits, err := json.Marshal(everyLimit)
	if err != nil {
		return err
	}
	if err := h.send(ctx, "PUT", "/_admin/tenants/"+limited+"/quota", adminToken, limits); err != nil {
		return err
	}
	return errors.Join(h.compare(ctx, "get by id", getText, 500), h.compare(ctx, "put", putText, 500, 1))
}

// make makes a tenant and its rows.
func (h *httpBench) make(ctx context.Context, name string) error {
	if err := h.send(ctx, "PUT", "/_admin/tenants/"+name, adminToken, nil); err != nil {
		return err
	}
	var lines bytes.Buffer
	lines.Write(statement(schemaText))
	for id := range rows {
		lines.WriteByte('\n')
		lines.Write(statement(putText, id+1, id))
	}
	return h.send(ctx, "POST", "/t/"+name+"/batch", dataToken, lines.Bytes())
}

// statement writes a statement as JSON, which ints cannot fail.
func statement(text string, params ...int) []byte {
	b, err := json.Marshal(map[string]any{"query": text, "params": append([]int{}, params...)})
	if err != nil {
		panic(err)
	}
	return b
}

// compare asks each tenant for the same as the one without limits.
func (h *httpBench) compare(ctx context.Context, what, text string, params ...int) error {
	for _, c := range []struct {
		name, tenant string
		goal         report.Goal
	}{
		{what + ": every limit", limited, report.AtMost(1.01)},
		{"  another tenant without limits", another, report.Goal{}},
	} {
		got, err := h.pair(ctx, [2]string{c.tenant, free}, statement(text, params...))
		if err != nil {
			return err
		}
		h.out.Line(c.name, report.Duration, got[0], got[1], got[0]/got[1], c.goal)
	}
	return nil
}

// pair asks two tenants in turns, over a connection for each, and returns the median
// times until they answered.
func (h *httpBench) pair(ctx context.Context, tenants [2]string, body []byte) ([]float64, error) {
	var cs []measure.Contender
	for _, name := range tenants {
		conn, err := rawconn.Dial(ctx, h.server.Addr())
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		request := rawconn.Request("POST", "/t/"+name+"/query", body, "Authorization: Bearer "+dataToken)
		cs = append(cs, measure.Contender{Name: name, Slice: func() (float64, error) {
			took, err := measure.Latencies(h.Slice, func() error { return conn.Exchange(request) })
			return measure.Median(took), err
		}})
	}
	return measure.Interleave(ctx, h.Rounds, cs)
}

// send makes one request and wants a 2xx.
func (h *httpBench) send(ctx context.Context, method, path, token string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, h.server.URL()+path, bytes.NewReader(body))
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
		err = fmt.Errorf("%s %s: %s: %s", method, path, res.Status, answer)
	}
	return err
}
