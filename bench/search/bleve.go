package main

import (
	"fmt"
	"io"
	"log"
	"strconv"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	index "github.com/blevesearch/bleve_index_api"
)

const bleveName = "bleve"

// plainAnalyzer is bleve's standard analyzer without its list of words to leave
// out, which would make a question of three words one of fewer.
const plainAnalyzer = "plain"

// bleveIndex is an index of bleve: BM25, and nothing kept but what searching needs.
type bleveIndex struct{ index bleve.Index }

// openBleve makes an index in the directory path, or in memory if it is empty,
// with an analyzer of bleve's or plainAnalyzer.
func openBleve(path, analyzer string) (*bleveIndex, error) {
	bleve.SetLog(log.New(io.Discard, "", 0))
	field := bleve.NewTextFieldMapping()
	field.Analyzer = analyzer
	field.Store, field.IncludeTermVectors, field.IncludeInAll, field.DocValues = false, false, false, false
	m := bleve.NewIndexMapping()
	err := m.AddCustomAnalyzer(plainAnalyzer, map[string]any{
		"type": custom.Name, "tokenizer": unicode.Name, "token_filters": []string{lowercase.Name},
	})
	if err != nil {
		return nil, err
	}
	m.ScoringModel = index.BM25Scoring
	m.DefaultMapping = bleve.NewDocumentStaticMapping()
	m.DefaultMapping.AddFieldMappingsAt("body", field)
	var x bleve.Index
	if path == "" {
		x, err = bleve.NewMemOnly(m)
	} else {
		x, err = bleve.New(path, m)
	}
	return &bleveIndex{x}, err
}

func (b *bleveIndex) fill(texts []string) error {
	for from := 0; from < len(texts); from += fillStep {
		batch := b.index.NewBatch()
		for i := from; i < min(from+fillStep, len(texts)); i++ {
			if err := batch.Index(strconv.Itoa(i), map[string]any{"body": texts[i]}); err != nil {
				return err
			}
		}
		if err := b.index.Batch(batch); err != nil {
			return err
		}
	}
	return nil
}

// ask returns the first page of the texts with any term of the question.
func (b *bleveIndex) ask(question string) ([]int32, error) {
	q := bleve.NewMatchQuery(question)
	q.SetField("body")
	res, err := b.index.Search(bleve.NewSearchRequestOptions(q, page, 0, false))
	if err != nil {
		return nil, err
	}
	ids := make([]int32, len(res.Hits))
	for i, h := range res.Hits {
		n, err := strconv.Atoi(h.ID)
		if err != nil {
			return nil, fmt.Errorf("bleve answers the id %q", h.ID)
		}
		ids[i] = int32(n)
	}
	return ids, nil
}

func (b *bleveIndex) close() error { return b.index.Close() }
