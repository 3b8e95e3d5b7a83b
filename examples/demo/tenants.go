package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// tenant is a customer: a database of its own, somewhere in the cluster.
type tenant struct {
	name  string
	langs []string
	lib   library
}

// prepare creates the tenants and loads each one's documents as a single batch.
func prepare(ctx context.Context, p *printer, cl *cluster, data string) ([]tenant, error) {
	tenants := []tenant{
		{name: "acme", langs: []string{"en"}},
		{name: "bosphorus", langs: []string{"tr"}},
		{name: "globe", langs: []string{"en", "tr"}},
	}
	for i := range tenants {
		t := &tenants[i]
		for _, lang := range t.langs {
			if err := t.lib.add(data, lang); err != nil {
				return nil, err
			}
		}
		node, err := t.create(ctx, cl)
		if err != nil {
			return nil, err
		}
		took, err := t.load(ctx, cl)
		if err != nil {
			return nil, err
		}
		p.loaded(t, node, took)
	}
	return tenants, nil
}

// create has the router place the tenant and returns the node it chose.
func (t *tenant) create(ctx context.Context, cl *cluster) (string, error) {
	body, err := cl.expect(ctx, http.StatusCreated, call{
		method: "PUT", path: "/_shard/tenants/" + t.name, token: cl.tokens.shard,
	})
	if err != nil {
		return "", err
	}
	var placed struct{ Node string }
	err = json.Unmarshal(body, &placed)
	return placed.Node, err
}

// load sends the collections and all documents as one batch, which lands as a
// whole.
func (t *tenant) load(ctx context.Context, cl *cluster) (time.Duration, error) {
	batch, start := t.lib.batch(), time.Now()
	body, err := cl.expect(ctx, http.StatusOK, call{
		method: "POST", path: "/t/" + t.name + "/batch", token: cl.tokens.data, body: batch,
	})
	took := time.Since(start)
	if err != nil {
		return took, err
	}
	var answer struct{ OK int }
	if err := json.Unmarshal(body, &answer); err != nil {
		return took, err
	}
	if want := len(schema) + t.lib.documents(); answer.OK != want {
		return took, fmt.Errorf("%s: the batch ran %d statements, want %d", t.name, answer.OK, want)
	}
	return took, nil
}
