package main

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const data = "../../testdata/xquad"

func TestLibrary(t *testing.T) {
	for _, lang := range []string{"en", "tr"} {
		var l library
		require.NoError(t, l.add(data, lang))
		require.Len(t, l.articles, 48)
		require.Len(t, l.paragraphs, 240)
		require.Len(t, l.questions, 1190)
		require.Equal(t, len(schema)+l.documents(), strings.Count(l.batch(), "\n"))
		for _, p := range l.paragraphs {
			require.NotContains(t, p.Body, "\ufeff")
		}
	}
}

// Two languages in one library share no title, which is unique, and no id.
func TestLibraryOfTwoLanguages(t *testing.T) {
	var l library
	require.NoError(t, l.add(data, "en"))
	require.NoError(t, l.add(data, "tr"))
	titles, ids := map[string]bool{}, map[int]bool{}
	for _, a := range l.articles {
		titles[a.Title], ids[a.ID] = true, true
	}
	require.Len(t, titles, 96)
	require.Len(t, ids, 96)
	require.Equal(t, 240, l.questions[len(l.questions)-1].Paragraph-240)
}

// An expectation that finds nothing would show nothing.
func TestQuestionsExpectSomething(t *testing.T) {
	var en, tr library
	require.NoError(t, en.add(data, "en"))
	require.NoError(t, tr.add(data, "tr"))
	require.Len(t, en.longest("Oxygen", 3), 3)
	require.Len(t, en.between(200, 300, 4), 4)
	require.Len(t, en.asked("oxygen", 3), 3)
	require.NotZero(t, en.countAsked("how many"))
	require.NotEmpty(t, en.titled("university"))
	require.Zero(t, en.countAsked("oksijen"))
	require.NotZero(t, tr.countAsked("oksijen"))
}

// What curlLines prints is read back by a shell as the arguments it stands for.
func TestCurlLines(t *testing.T) {
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	c := call{path: "/t/acme/batch?a=1&b", token: "data-1", body: "{\"query\":\"it's $1\"}\n{\"query\":\"\\\"x\\\"\"}"}
	line := strings.Join(curlLines("http://127.0.0.1:1", c), "\n")
	out, err := exec.Command(sh, "-c", `curl() { printf '%s\0' "$@"; }; `+line).Output()
	require.NoError(t, err)
	require.Equal(t, []string{
		"-s", "http://127.0.0.1:1/t/acme/batch?a=1&b",
		"-H", "Authorization: Bearer data-1",
		"--data-binary", c.body, "",
	}, strings.Split(string(out), "\x00"))
}

func TestCurlLinesWithoutABody(t *testing.T) {
	require.Equal(t, []string{"curl -s http://h/x \\", "  -H 'Authorization: Bearer t'"},
		curlLines("http://h", call{path: "/x", token: "t"}))
}

func TestRowLines(t *testing.T) {
	for body, want := range map[string]string{
		`[{"a":1},{"a":2}]`: "[{\"a\":1},\n {\"a\":2}]",
		`[]`:                `[]`,
		`{"affected":2}`:    `{"affected":2}`,
	} {
		require.Equal(t, want, rowLines([]byte(body)))
	}
}

func TestChecks(t *testing.T) {
	require.NoError(t, count(3)(http.StatusOK, []byte(`[{"count":3}]`)))
	require.Error(t, count(3)(http.StatusOK, []byte(`[{"count":4}]`)))
	require.Error(t, count(3)(http.StatusNotFound, []byte(`[{"count":3}]`)))
	require.NoError(t, affected(2)(http.StatusOK, []byte(`{"affected":2}`)))
	require.Error(t, affected(2)(http.StatusOK, []byte(`no JSON`)))
	require.NoError(t, refused(409, `"at":1`)(409, []byte(`{"error":"x","completed":0,"at":1}`)))
	require.Error(t, refused(409, `"at":1`)(409, []byte(`{"error":"x","completed":0,"at":0}`)))
	require.NoError(t, explained("filter:")(200, []byte(`[{"plan":"filter: title"},{"plan":"rows: 1"}]`)))
	require.Error(t, explained("filter:")(200, []byte(`[]`)))
	one := []tenant{{name: "acme"}}
	require.NoError(t, placed(one)(200, []byte(`[{"name":"acme","node":"n1","state":"active","bytes":9}]`)))
	require.Error(t, placed(one)(200, []byte(`[{"name":"acme","node":"n1","state":"active"}]`)))
}
