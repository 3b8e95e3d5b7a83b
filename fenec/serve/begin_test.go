package serve_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
)

// Pages of the allowed origin may read every answer, whatever it is, but those for
// whoever watches over the server.
func TestPagesMayReadEveryAnswer(t *testing.T) {
	const origin = "https://a.example"
	c := start(t, serve.Options{AllowOrigin: origin, Token: serve.NewSecret("t")}, tasks...)
	ofNode := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.server.Begin(w, r) {
			c.server.ServeNode(w, r, serve.Segments(r.URL), func() ([]serve.Figure, error) { return nil, nil })
		}
	})
	for surface, h := range map[string]http.Handler{"database": c.server.Handler(c.db), "node": ofNode} {
		for _, tc := range []struct {
			method, target string
			status         int
			pages          string // those that may read it
		}{
			{"GET", "/_health", 200, ""},
			{"HEAD", "/_health", 200, ""},
			{"GET", "/_metrics", 401, ""},
			{"GET", "/_stats/statements", 401, origin},
			{"PUT", "/_stats/statements", 405, origin},
			{"GET", "/_studio/", 404, origin},
			{"BREW", "/", 501, origin},
			{"OPTIONS", "/any/thing", 204, origin},
			{"OPTIONS", "/_metrics", 204, origin},
		} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(tc.method, tc.target, nil)
			r.Header.Set("Origin", origin)
			h.ServeHTTP(w, r)
			require.Equal(t, tc.status, w.Code, "%s: %+v", surface, tc)
			require.Equal(t, tc.pages, w.Header().Get("Access-Control-Allow-Origin"), "%s: %+v", surface, tc)
		}
	}
	for _, r := range []reply{
		c.do("GET", "/tasks", ""), c.do("GET", "/tasks/changes", ""), c.do("OPTIONS", "/tasks", "", "Origin: https://b.example"),
	} {
		require.Equal(t, 401, r.status)
		require.Equal(t, origin, r.header.Get("Access-Control-Allow-Origin"))
	}
	require.Equal(t, origin, c.server.CORSHeader().Get("Access-Control-Allow-Origin"))
	require.Nil(t, serve.New(serve.Options{}).CORSHeader())
}
