package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The documents as they are stored. Ids are given, so that questions can name
// their paragraph.
type (
	article struct {
		ID         int    `json:"id"`
		Title      string `json:"title"`
		Lang       string `json:"lang"`
		Paragraphs int    `json:"paragraphs"`
	}
	paragraph struct {
		ID    int    `json:"id"`
		Title string `json:"title"`
		Lang  string `json:"lang"`
		Words int    `json:"words"`
		Body  string `json:"body"`
	}
	question struct {
		ID        int    `json:"id"`
		Paragraph int    `json:"paragraph"`
		Q         string `json:"q"`
		Answer    string `json:"answer"`
	}
)

// library is the documents of one tenant.
type library struct {
	articles   []article
	paragraphs []paragraph
	questions  []question
}

// xquad is the form of the published files.
type xquad struct {
	Data []struct {
		Title      string
		Paragraphs []struct {
			Context string
			Qas     []struct {
				Question string
				Answers  []struct{ Text string }
			}
		}
	}
}

// add reads the articles of one language into l, behind what it holds.
func (l *library) add(dir, lang string) error {
	path := filepath.Join(dir, "xquad."+lang+".json")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var x xquad
	if err := json.Unmarshal(text, &x); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, a := range x.Data {
		title := strings.ReplaceAll(a.Title, "_", " ")
		if lang != "en" {
			title += " (" + lang + ")"
		}
		l.articles = append(l.articles, article{len(l.articles) + 1, title, lang, len(a.Paragraphs)})
		for _, p := range a.Paragraphs {
			// Some of the files' texts begin with a byte order mark.
			body := strings.TrimPrefix(p.Context, "\ufeff")
			para := paragraph{len(l.paragraphs) + 1, title, lang, len(strings.Fields(body)), body}
			l.paragraphs = append(l.paragraphs, para)
			for _, q := range p.Qas {
				l.questions = append(l.questions, question{len(l.questions) + 1, para.ID, q.Question, q.Answers[0].Text})
			}
		}
	}
	return nil
}

func (l *library) documents() int {
	return len(l.articles) + len(l.paragraphs) + len(l.questions)
}

// schema is what each tenant's database looks like.
var schema = []string{
	"create collection articles (title text required @unique, lang text @hash, paragraphs int, starred bool)",
	"create collection paragraphs (title text @hash, lang text @hash, words int @sorted, body text)",
	"create collection questions (paragraph int @hash, q text, answer text)",
}

// batch is the body of POST /batch that makes the collections and puts all
// documents: one statement a line.
func (l *library) batch() string {
	var b strings.Builder
	lines := json.NewEncoder(&b)
	lines.SetEscapeHTML(false)
	for _, s := range schema {
		_ = lines.Encode(statement{Query: s}) // a Builder takes everything
	}
	for _, d := range l.articles {
		_ = lines.Encode(statement{"put articles $1", []any{d}})
	}
	for _, d := range l.paragraphs {
		_ = lines.Encode(statement{"put paragraphs $1", []any{d}})
	}
	for _, d := range l.questions {
		_ = lines.Encode(statement{"put questions $1", []any{d}})
	}
	return b.String()
}

// statement is the body of POST /query, and a line of POST /batch.
type statement struct {
	Query  string `json:"query"`
	Params []any  `json:"params,omitempty"`
}

func (s statement) String() string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}
