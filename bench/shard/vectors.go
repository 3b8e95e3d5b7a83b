package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
)

// fillStep is how many vectors one request loads.
const fillStep = 500

const createIndex = "create index on items (v) @hnsw(cosine)"

// fill loads the vectors through the router, asks for the graph, and waits until
// nothing more is linked into it.
func (m *moveBench) fill(ctx context.Context) error {
	schema := []string{
		fmt.Sprintf("create collection items (v vector<%d>)", m.dim), "create collection beats (n int)",
	}
	if !m.built {
		schema = append(schema, createIndex)
	}
	for _, text := range schema {
		if _, err := m.query(ctx, text); err != nil {
			return err
		}
	}
	start := time.Now()
	for from := 0; from < m.vectors; from += fillStep {
		if err := m.load(ctx, from, min(from+fillStep, m.vectors)); err != nil {
			return err
		}
	}
	took := time.Since(start)
	if m.built {
		if err := m.build(ctx); err != nil {
			return err
		}
	}
	if _, err := m.near(ctx); err != nil {
		return err
	}
	linked, err := m.nodes[m.at].quiet(ctx)
	if err != nil {
		return err
	}
	m.note("%d vectors of %d loaded in %v, all is quiet after %v", m.vectors, m.dim,
		took.Round(time.Millisecond), linked.Sub(start).Round(time.Millisecond))
	return nil
}

// build creates the index. It asks the node itself: that may take longer than the
// router waits for an answer.
func (m *moveBench) build(ctx context.Context) error {
	body, err := statement(createIndex)
	if err != nil {
		return err
	}
	_, err = successful(send(ctx, "POST", m.nodes[m.at].URL()+"/t/"+acme+"/query", dataToken, body))
	return err
}

// query runs a statement through the router.
func (m *moveBench) query(ctx context.Context, text string, params ...any) (*answer, error) {
	body, err := statement(text, params...)
	if err != nil {
		return nil, err
	}
	return m.ask(ctx, "POST", "/query", body)
}

// statement writes a statement as JSON.
func statement(text string, params ...any) ([]byte, error) {
	return json.Marshal(map[string]any{"query": text, "params": append([]any{}, params...)})
}

// item is a document with a vector.
type item struct {
	V []float32 `json:"v"`
}

func (m *moveBench) load(ctx context.Context, from, to int) error {
	items := make([]item, to-from)
	for i := range items {
		items[i].V = m.vector(gen.StoredVector, from+i)
	}
	body, err := json.Marshal(items)
	if err != nil {
		return err
	}
	_, err = m.ask(ctx, "POST", "/items", body)
	return err
}

func (m *moveBench) vector(k gen.Kind, i int) []float32 {
	v := make([]float32, m.dim)
	m.made.Fill(v, k, i)
	return v
}

// nearLimit is how many items a search asks for.
const nearLimit = 10

// near searches by a vector that was not asked before and returns how long that took,
// in nanoseconds.
func (m *moveBench) near(ctx context.Context) (float64, error) {
	m.asked++
	body, err := json.Marshal(map[string]any{
		"vector": m.vector(gen.QueryVector, m.asked), "limit": nearLimit, "select": "id",
	})
	if err != nil {
		return 0, err
	}
	start := time.Now()
	a, err := m.ask(ctx, "POST", "/items/near", body)
	took := time.Since(start)
	if err != nil {
		return 0, err
	}
	var found []json.RawMessage
	if err := json.Unmarshal(a.Body, &found); err != nil {
		return 0, err
	}
	if want := min(nearLimit, m.vectors); len(found) != want {
		return 0, fmt.Errorf("a search found %d items, not %d", len(found), want)
	}
	return float64(took), nil
}
