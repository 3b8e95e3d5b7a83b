package exchange

import (
	"fmt"
	"strconv"
	"strings"
)

// Case is one case of a script.
type Case struct {
	Name    string
	Fixture string // "" for none
	Steps   []Step
}

// Step is a request and what its answer must be.
type Step struct {
	Line    int // of the script
	Method  string
	Target  string
	Headers []string // "Name: value"
	Body    string
	Status  int
	Want    []Want
}

// Want is something that an answer must have.
type Want struct {
	Kind byte // '=' the body is Text; '~', '!', '+' and '-' as in a script
	Text string
}

// Parse reads a script.
func Parse(text string) ([]Case, error) {
	var p parser
	for i, line := range strings.Split(text, "\n") {
		p.line = i + 1
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if err := p.read(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
	}
	return p.cases, nil
}

type parser struct {
	line  int
	cases []Case
}

func (p *parser) read(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case word == "case":
		p.cases = append(p.cases, newCase(rest))
		return nil
	case len(p.cases) == 0:
		return fmt.Errorf("%q before the first case", line)
	case word == "then":
		p.last().Name += "," + rest
		return nil
	case len(word) == 1 && strings.Contains("~!+-", word):
		return p.want(word[0], rest)
	case word[0] >= '0' && word[0] <= '9':
		return p.answer(word, rest)
	}
	p.last().Steps = append(p.last().Steps, p.request(word, rest))
	return nil
}

func (p *parser) last() *Case { return &p.cases[len(p.cases)-1] }

func newCase(rest string) Case {
	name, fixture, _ := strings.Cut(rest, " (")
	return Case{Name: name, Fixture: strings.TrimSuffix(fixture, ")")}
}

func (p *parser) step() (*Step, error) {
	c := p.last()
	if len(c.Steps) == 0 {
		return nil, fmt.Errorf("case %s has no request yet", c.Name)
	}
	return &c.Steps[len(c.Steps)-1], nil
}

func (p *parser) want(kind byte, text string) error {
	s, err := p.step()
	if err == nil {
		s.Want = append(s.Want, Want{kind, text})
	}
	return err
}

func (p *parser) answer(status, body string) error {
	s, err := p.step()
	if err != nil {
		return err
	}
	if s.Status, err = strconv.Atoi(status); err != nil {
		return err
	}
	if body != "" {
		return p.want('=', body)
	}
	return nil
}

// request reads a request line, whose first word is method.
func (p *parser) request(method, rest string) Step {
	s := Step{Line: p.line, Method: method}
	rest, s.Body, _ = strings.Cut(rest, " <- ")
	rest, headers, has := strings.Cut(rest, " ^ ")
	if has {
		s.Headers = strings.Split(headers, " ^ ")
	}
	s.Target = rest
	switch method {
	case "Q":
		s.Method, s.Target, s.Body = "POST", "/query", query(rest)
	case "B":
		var lines []string
		for _, one := range strings.Split(rest, " ;; ") {
			lines = append(lines, query(one))
		}
		s.Method, s.Target, s.Body = "POST", "/batch", strings.Join(lines, "\n")
	}
	return s
}

// query returns the body that asks for a statement.
func query(text string) string {
	text, params, has := strings.Cut(text, " ;; ")
	if !has {
		return `{"query":` + quote(text) + `}`
	}
	return `{"query":` + quote(text) + `,"params":` + params + `}`
}
