package exchange

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScript(t *testing.T) {
	cases, err := Parse(`
# a comment
case one (F)
GET /a b?x="y" ^ X-A: 1 ^ X-B: 2
200 GET /a%20b?x=%22y%22 1 2 …
~ y%22
! zzz
+ X-Got: y…
- X-None
then two
POST /p <- {"a": 1}
200 POST /p   {"a": 1}
case three
Q get x where a < $1 ;; [1]
200 POST /query   {"query":"get x where a < $1","params":[1]}
B put x {a:1} ;; get x
200 …
~ {"query":"put x {a:1}"}
~ {"query":"get x"}
`)
	require.NoError(t, err)
	require.Len(t, cases, 2)
	require.Equal(t, "one,two", cases[0].Name)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Got", "yes")
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.Method+" "+r.RequestURI+" "+r.Header.Get("X-A")+" "+r.Header.Get("X-B")+" "+string(body))
	}))
	defer srv.Close()
	var fixtures []string
	Run(t, cases, func(_ *testing.T, fixture string) string {
		fixtures = append(fixtures, fixture)
		return srv.URL
	})
	require.Equal(t, []string{"F", ""}, fixtures)
}

func TestScriptsThatAreNone(t *testing.T) {
	for _, text := range []string{"GET /", "case a\n200", "case a\n~ x", "case a\nGET /\n2x0"} {
		_, err := Parse(text)
		require.Error(t, err, text)
	}
}
