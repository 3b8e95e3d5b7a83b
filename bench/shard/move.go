package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// What a move should reach.
const (
	moveRate  = 220e6 // bytes a second
	firstNear = float64(100 * time.Millisecond)
)

// measureMove moves a tenant with vectors to and fro.
func measureMove(ctx context.Context, e *env) error {
	return e.withCluster(ctx, "move", func(c *cluster) error {
		m := &moveBench{cluster: c, at: "n1", made: gen.NewClustered(e.dim)}
		ok, err := m.possible(ctx)
		if err != nil {
			return err
		}
		if !ok {
			e.note("this router moves no tenants: nothing to measure")
			return nil
		}
		for _, step := range []func(context.Context) error{m.fill, m.compare, m.interrupt} {
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// moveBench is a cluster whose tenant moves.
type moveBench struct {
	*cluster
	at    string         // the node that has the tenant
	made  *gen.Clustered // the vectors
	asked int            // searches

	moved         []moved
	first, second []float64 // what searches took after each move, in nanoseconds
}

// moved is the router's answer to a move.
type moved struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Bytes   int64  `json:"bytes"`
	Ms      int64  `json:"ms"`
	Removed bool   `json:"source_removed"`
}

// possible says whether the router has the route: a move to where the tenant is
// already is refused, and a route that is not there is not found.
func (m *moveBench) possible(ctx context.Context) (bool, error) {
	a, err := m.askMove(ctx, m.at)
	if err != nil {
		return false, err
	}
	switch a.Status {
	case http.StatusConflict:
		return true, nil
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return false, nil
	}
	return false, fmt.Errorf("a move to where the tenant is already was answered %d: %s", a.Status, a.Body)
}

func (m *moveBench) askMove(ctx context.Context, to string) (*answer, error) {
	body := fmt.Appendf(nil, `{"to":%q}`, to)
	return send(ctx, "POST", m.url+"/_shard/tenants/"+acme+"/move", shardToken, body)
}

// other returns the node that the tenant is not on.
func (m *moveBench) other() string {
	if m.at == "n1" {
		return "n2"
	}
	return "n1"
}

// move moves the tenant to the other node and returns how long it took.
func (m *moveBench) move(ctx context.Context) (time.Duration, moved, error) {
	var got moved
	start := time.Now()
	a, err := successful(m.askMove(ctx, m.other()))
	took := time.Since(start)
	if err != nil {
		return 0, got, fmt.Errorf("move to %s: %w", m.other(), err)
	}
	if err := json.Unmarshal(a.Body, &got); err != nil {
		return 0, got, err
	}
	if got.From != m.at || got.To != m.other() {
		return 0, got, fmt.Errorf("moved from %s to %s, not from %s to %s", got.From, got.To, m.at, m.other())
	}
	m.at = got.To
	return took, got, nil
}

// compare moves the tenant and copies its file in turns.
func (m *moveBench) compare(ctx context.Context) error {
	rates, err := measure.Interleave(ctx, m.moves, []measure.Contender{
		{Name: "move", Slice: func() (float64, error) { return m.moveAndSearch(ctx) }},
		{Name: "copy", Slice: m.copy},
	})
	if err != nil {
		return err
	}
	for _, x := range m.moved[1:] {
		m.note("%s to %s: %d bytes, %d ms, source removed: %v", x.From, x.To, x.Bytes, x.Ms, x.Removed)
	}
	m.out.Line("bytes a second, copying and syncing the file", megabytes, rates[0], rates[1], rates[0]/rates[1], report.AtLeast(0.5))
	goal := report.Goal{}
	if rates[1] >= moveRate {
		goal = report.AtLeast(1)
	}
	m.out.Line("  220 MB/s, where copying reaches that", megabytes, rates[0], moveRate, rates[0]/moveRate, goal)
	m.atMost("first search on the target, 100 ms", report.Duration, measure.Median(m.first[1:]), firstNear)
	m.note("second search: %s", report.Duration(measure.Median(m.second[1:])))
	return m.explain(ctx)
}

func megabytes(perSecond float64) string { return fmt.Sprintf("%.1f MB/s", perSecond/1e6) }

// moveAndSearch returns a move's bytes a second.
func (m *moveBench) moveAndSearch(ctx context.Context) (float64, error) {
	took, got, err := m.move(ctx)
	if err != nil {
		return 0, err
	}
	first, err := m.near(ctx)
	if err != nil {
		return 0, err
	}
	second, err := m.near(ctx)
	m.moved = append(m.moved, got)
	m.first, m.second = append(m.first, first), append(m.second, second)
	return float64(got.Bytes) / took.Seconds(), err
}

// explain tells how the target searches.
func (m *moveBench) explain(ctx context.Context) error {
	a, err := m.query(ctx, "explain get items near v $1 limit 10", m.vector(gen.QueryVector, 0))
	if err != nil {
		return err
	}
	var steps []struct {
		Plan string `json:"plan"`
	}
	if err := json.Unmarshal(a.Body, &steps); err != nil {
		return err
	}
	for _, s := range steps {
		if strings.HasPrefix(s.Plan, "near") {
			m.note("%s", s.Plan)
		}
	}
	return nil
}

// copy copies the tenant's file as it lies on its node, puts the copy on disk, and
// returns the bytes a second.
func (m *moveBench) copy() (float64, error) {
	to := filepath.Join(m.cluster.dir, "copy")
	start := time.Now()
	bytes, err := copySynced(filepath.Join(m.nodeDir(m.at), acme+".fenec"), to)
	took := time.Since(start)
	return float64(bytes) / took.Seconds(), errors.Join(err, os.Remove(to))
}

// copySynced reads and writes every byte: a file system that could share them with the
// copy is not asked to.
func copySynced(from, to string) (n int64, err error) {
	src, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	dst, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	n, err = io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, make([]byte, 1<<20))
	return n, errors.Join(err, dst.Sync())
}
