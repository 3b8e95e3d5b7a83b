package serve_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/exchange"
)

// shell runs the commands of a page: those of curl, with one in the background at
// a time, and the minting of tokens.
type shell struct {
	t    *testing.T
	base string // address of the server that is asked
	vars map[string]string
	mint func(claims string) (string, error)

	job *job
}

// job is a command in the background.
type job struct {
	coming  chan *printed // gives its answer once
	printed *printed      // nil until then
}

// runAll runs the commands of a page and returns how many there are.
func (s *shell) runAll(page string) int {
	s.t.Helper()
	commands, err := commandsOf(page)
	require.NoError(s.t, err)
	for _, c := range commands {
		s.run(c)
	}
	return len(commands)
}

var minting = regexp.MustCompile(`^([A-Z]+)=\$\(fenec-server --jwt-secret-file secret --mint-token '(.*)'\)$`)

// run runs a command and holds what it prints against what the page says.
func (s *shell) run(c command) {
	s.t.Helper()
	if m := minting.FindStringSubmatch(c.text); m != nil {
		token, err := s.mint(m[2])
		require.NoError(s.t, err, "line %d", c.line)
		s.vars[m[1]] = token
		return
	}
	if c.text == "fg" {
		s.resume(c)
		return
	}
	words, err := shellWords(c.text, s.vars)
	require.NoError(s.t, err, "line %d", c.line)
	ask, err := curlOf(words)
	require.NoError(s.t, err, "line %d", c.line)
	r, err := ask.request(s.base)
	require.NoError(s.t, err, "line %d", c.line)
	r = r.WithContext(s.t.Context())
	if !c.background {
		answerTo(r, ask.head).check(s.t, c)
		return
	}
	j := &job{coming: make(chan *printed, 1)}
	go func() { j.coming <- answerTo(r, ask.head) }()
	s.job = j
	if c.want != "" {
		s.resume(c)
	}
}

// resume checks what the command in the background has printed since.
func (s *shell) resume(c command) {
	s.t.Helper()
	require.NotNil(s.t, s.job, "line %d: nothing is in the background", c.line)
	if s.job.printed == nil {
		s.job.printed = <-s.job.coming
	}
	s.job.printed.check(s.t, c)
}

// printed is what a command prints.
type printed struct {
	*http.Response
	head bool          // the head is printed, too
	rest *bufio.Reader // of the body
	err  error
}

// plainClient asks for no compression, as curl does.
var plainClient = &http.Client{Transport: &http.Transport{DisableCompression: true}}

func answerTo(r *http.Request, head bool) *printed {
	res, err := plainClient.Do(r)
	if err != nil {
		return &printed{err: err}
	}
	return &printed{Response: res, head: head, rest: bufio.NewReader(res.Body)}
}

func (p *printed) check(t *testing.T, c command) {
	t.Helper()
	require.NoError(t, p.err, "line %d", c.line)
	want := c.want
	if p.head {
		want = p.checkHead(t, c)
	}
	got, err := p.body(strings.Count(want, "\n") + 1)
	require.NoError(t, err, "line %d", c.line)
	requireMatch(t, want, got, c.line)
}

// requireMatch requires got to be want, in which "…" stands for anything.
func requireMatch(t *testing.T, want, got string, line int) {
	t.Helper()
	if !exchange.Matches(want, got) {
		require.Equal(t, want, got, "line %d", line)
	}
}

// checkHead checks the status and the headers that are shown, which need not be
// all, and returns what follows them.
func (p *printed) checkHead(t *testing.T, c command) (body string) {
	t.Helper()
	head, body, _ := strings.Cut(c.want, "\n\n")
	lines := strings.Split(head, "\n")
	requireMatch(t, lines[0], "HTTP/1.1 "+p.Status, c.line)
	for _, line := range lines[1:] {
		name, _, _ := strings.Cut(line, ": ")
		requireMatch(t, line, name+": "+p.Header.Get(name), c.line)
	}
	return body
}

// body returns the body, or of a stream the next n lines.
func (p *printed) body(n int) (string, error) {
	if p.Header.Get("Content-Type") != "text/event-stream" {
		b, err := io.ReadAll(p.rest)
		return strings.TrimRight(string(b), "\n"), errors.Join(err, p.Body.Close())
	}
	var b strings.Builder
	for n > 0 {
		line, err := p.rest.ReadString('\n')
		if err != nil {
			return b.String(), err
		}
		if b.Len() == 0 && line == "\n" {
			continue // it ends the event before
		}
		b.WriteString(line)
		n--
	}
	return strings.TrimRight(b.String(), "\n"), nil
}
