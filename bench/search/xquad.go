package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// languages are those that XQuAD is there in.
var languages = []string{"ar", "de", "en", "es", "hi", "ru", "tr", "zh"}

// judged is texts with questions of which each has one text that answers it.
type judged struct {
	texts     []string
	questions []string
	answer    []int32 // by question
}

// readXQuAD reads the paragraphs and questions of a language.
func readXQuAD(dir, language string) (*judged, error) {
	path := filepath.Join(dir, "xquad."+language+".json")
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Data []struct {
			Paragraphs []struct {
				Context string `json:"context"`
				QAs     []struct {
					Question string `json:"question"`
				} `json:"qas"`
			} `json:"paragraphs"`
		} `json:"data"`
	}
	if err := json.Unmarshal(content, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	j := &judged{}
	for _, article := range file.Data {
		for _, p := range article.Paragraphs {
			for _, q := range p.QAs {
				j.questions = append(j.questions, q.Question)
				j.answer = append(j.answer, int32(len(j.texts)))
			}
			j.texts = append(j.texts, p.Context)
		}
	}
	return j, nil
}

// quality asks every question and returns the mean nDCG@10 (Järvelin and
// Kekäläinen 2002), which with one right text is 1 over the logarithm of its place.
func (j *judged) quality(ask func(i int) ([]int32, error)) (float64, error) {
	sum := 0.0
	for i := range j.questions {
		ids, err := ask(i)
		if err != nil {
			return 0, fmt.Errorf("%q: %w", j.questions[i], err)
		}
		for place, id := range ids[:min(page, len(ids))] {
			if id == j.answer[i] {
				sum += 1 / math.Log2(float64(place+2))
				break
			}
		}
	}
	return sum / float64(len(j.questions)), nil
}
