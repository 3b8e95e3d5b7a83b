package main

import (
	"context"
	"errors"
	"runtime"
	"strconv"

	chromem "github.com/philippgille/chromem-go"
)

const chromemName = "chromem-go"

// newChromem fills a collection in memory with the vectors of s, which have the
// length 1. It scans them all, so ef means nothing to it.
func newChromem(ctx context.Context, s *vectorSet) (*local, error) {
	never := func(context.Context, string) ([]float32, error) { return nil, errors.New("a vector is missing") }
	c, err := chromem.NewDB().CreateCollection("v", nil, never)
	if err != nil {
		return nil, err
	}
	docs := make([]chromem.Document, s.len())
	for i := range docs {
		docs[i] = chromem.Document{ID: strconv.Itoa(i), Embedding: s.at(i)}
	}
	if err := c.AddDocuments(ctx, docs, runtime.NumCPU()); err != nil {
		return nil, err
	}
	find := func(ctx context.Context, q []float32) ([]int32, error) {
		found, err := c.QueryEmbedding(ctx, q, min(page, s.len()), nil, nil)
		if err != nil {
			return nil, err
		}
		ids := make([]int32, len(found))
		for i, r := range found {
			n, err := strconv.Atoi(r.ID)
			if err != nil {
				return nil, err
			}
			ids[i] = int32(n)
		}
		return ids, nil
	}
	return &local{title: chromemName, set: s, with: func(int) (ask, error) { return find, nil }}, nil
}
