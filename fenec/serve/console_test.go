package serve_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// command is a command that a page shows after "$ ", with what it prints.
type command struct {
	line       int    // of the page
	text       string // as the page has it
	background bool   // it ends with "&"
	want       string // what it prints, without folds
}

var (
	consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```")
	fold         = regexp.MustCompile(`\n +`)
)

// commandsOf returns the commands of a page's console blocks in order. A line may be
// folded, of a command or of what it prints: what goes on with it is indented.
func commandsOf(page string) (list []command, err error) {
	for _, at := range consoleBlock.FindAllStringSubmatchIndex(page, -1) {
		line := 1 + strings.Count(page[:at[2]], "\n")
		for text := page[at[2]:at[3]]; text != ""; {
			if !strings.HasPrefix(text, "$ ") {
				return nil, fmt.Errorf("line %d: want a command", line)
			}
			end := commandEnd(text)
			next := len(text)
			if n := strings.Index(text[end:], "\n$ "); n >= 0 {
				next = end + n + len("\n")
			}
			c := command{line: line, text: strings.TrimSpace(text[len("$ "):end])}
			c.want = strings.Trim(fold.ReplaceAllString(text[end:next], ""), "\n")
			c.text, c.background = strings.CutSuffix(c.text, " &")
			list = append(list, c)
			line += strings.Count(text[:next], "\n")
			text = text[next:]
		}
	}
	return list, nil
}

// commandEnd returns where the command that text begins with ends: at the first end
// of a line that is not quoted.
func commandEnd(text string) int {
	quote := byte(0)
	for i := range len(text) {
		switch c := text[i]; {
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == '\n':
			return i
		}
	}
	return len(text)
}

// shellWords takes a command apart as a shell with these variables does.
func shellWords(text string, vars map[string]string) (words []string, err error) {
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		var word string
		if word, text, err = shellWord(text, vars); err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	return words, nil
}

var variable = regexp.MustCompile(`^[A-Z]*`)

// shellWord takes the first word off a command, with its quotes taken off and its
// variables put in.
func shellWord(text string, vars map[string]string) (word, rest string, err error) {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == ' ':
			return b.String(), text[i:], nil
		case c == '$' && quote != '\'':
			name := variable.FindString(text[i+1:])
			value, ok := vars[name]
			if !ok {
				return "", "", fmt.Errorf("no variable %q", name)
			}
			b.WriteString(value)
			i += len(name)
		default:
			b.WriteByte(c)
		}
	}
	if quote != 0 {
		return "", "", errors.New("a quote is not closed")
	}
	return b.String(), "", nil
}

func TestCommandsOf(t *testing.T) {
	list, err := commandsOf("text\n```console\n$ curl a -d '\n{x}\n$ y' &\nevent: a\ndata: {\n    \"b\"}\n\n$ fg\n```\n```sh\n$ no\n```\n```console\n$ last\n```\n")
	require.NoError(t, err)
	require.Equal(t, []command{
		{line: 3, text: "curl a -d '\n{x}\n$ y'", background: true, want: "event: a\ndata: {\"b\"}"},
		{line: 10, text: "fg"},
		{line: 16, text: "last"},
	}, list)
	_, err = commandsOf("```console\nanswer\n```\n")
	require.ErrorContains(t, err, "line 2")
}

func TestCurlOf(t *testing.T) {
	request := func(text string) (*http.Request, error) {
		words, err := shellWords(text, map[string]string{"ADA": "a.b.c"})
		require.NoError(t, err)
		c, err := curlOf(words)
		if err != nil {
			return nil, err
		}
		return c.request("http://x")
	}
	r, err := request(`curl -i -X PATCH 'localhost:8080/a?b=c' -H "Authorization: Bearer $ADA" -d '{"d": "$ADA"}'`)
	require.NoError(t, err)
	require.Equal(t, "PATCH http://x/a?b=c Bearer a.b.c", r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization"))
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, `{"d": "$ADA"}`, string(body))

	r, err = request(`curl -G localhost:8080/a --data-urlencode 'where=b > "c"' --data-urlencode 'd=e'`)
	require.NoError(t, err)
	require.Equal(t, "GET http://x/a?where=b+%3E+%22c%22&d=e", r.Method+" "+r.URL.String())

	for _, text := range []string{
		"wget localhost:8080/", "curl example.org/", "curl -X", "curl --fail localhost:8080/", "curl 'localhost:8080/a?where=b > c'",
	} {
		_, err := request(text)
		require.Error(t, err, text)
	}
	for _, text := range []string{"curl 'a", "curl $BOB"} {
		_, err := shellWords(text, nil)
		require.Error(t, err, text)
	}
}
