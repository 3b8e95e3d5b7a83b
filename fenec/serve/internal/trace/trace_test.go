package trace

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// collector takes what a tracer sends.
func collector(t *testing.T, status int) (url string, posts chan request) {
	t.Helper()
	posts = make(chan request, 100)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got request
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &got) != nil || r.URL.Path != "/v1/traces" || r.Header.Get("X-Key") != "k" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(status)
		posts <- got
	}))
	t.Cleanup(srv.Close)
	return srv.URL, posts
}

func open(t *testing.T, url string, sample float64) *Tracer {
	t.Helper()
	tr, err := New(Options{
		Endpoint: url, Headers: http.Header{"X-Key": {"k"}}, Sample: sample, Version: "1",
		ErrorLog: log.New(io.Discard, "", 0),
	})
	require.NoError(t, err)
	return tr
}

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestSpans(t *testing.T) {
	url, posts := collector(t, 200)
	tr := open(t, url, 0)
	at := time.Unix(1, 0)
	s := tr.Start("POST /query", parent, "a=b", at)
	s.Set("url.path", "/query")
	s.Set("http.response.status_code", 500)
	s.Child("execute", at.Add(1), at.Add(2))
	s.End(at.Add(3), true)
	require.NoError(t, tr.Close())

	got := <-posts
	spans := got.ResourceSpans[0].ScopeSpans[0].Spans
	require.Len(t, spans, 2)
	child, server := spans[0], spans[1]
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", server.TraceID)
	require.Equal(t, "b7ad6b7169203331", server.ParentID)
	require.Equal(t, "a=b", server.TraceState)
	require.Equal(t, "POST /query", server.Name)
	require.Equal(t, kindServer, server.Kind)
	require.Equal(t, "1000000000", server.Start)
	require.Equal(t, "1000000003", server.End)
	require.Equal(t, codeError, server.Status.Code)
	require.Equal(t, "/query", *server.Attributes[0].Value.String)
	require.Equal(t, "500", *server.Attributes[1].Value.Int)
	require.Equal(t, server.TraceID, child.TraceID)
	require.Equal(t, server.SpanID, child.ParentID)
	require.Equal(t, kindInternal, child.Kind)
	require.NotEqual(t, server.SpanID, child.SpanID)
	require.Nil(t, child.Status)
	exported, full, lost := tr.Counts()
	require.Equal(t, []uint64{2, 0, 0}, []uint64{exported, full, lost})
}

func TestSampling(t *testing.T) {
	url, _ := collector(t, 200)
	none, all := open(t, url, 0), open(t, url, 1)
	require.Nil(t, none.Start("a", "", "", time.Now()))
	require.Nil(t, all.Start("a", strings.TrimSuffix(parent, "1")+"0", "", time.Now()), "whoever began it does not record it")
	s := all.Start("a", "no parent", "", time.Now())
	require.NotNil(t, s)
	require.Zero(t, s.ids.parent)
	var off *Tracer
	off.Start("a", parent, "", time.Now()).Set("a", 1)
	off.Start("a", parent, "", time.Now()).End(time.Now(), false)
	for _, tr := range []*Tracer{none, all, off} {
		require.NoError(t, tr.Close())
	}
}

func TestSpansThatAreLost(t *testing.T) {
	url, _ := collector(t, 503)
	tr := open(t, url, 1)
	tr.Start("a", "", "", time.Now()).End(time.Now(), false)
	require.NoError(t, tr.Close())
	for range queueLength + 3 {
		tr.Start("a", "", "", time.Now()).End(time.Now(), false)
	}
	exported, full, lost := tr.Counts()
	require.Equal(t, []uint64{0, 3, 1}, []uint64{exported, full, lost})
}

func TestEndpoints(t *testing.T) {
	for _, bad := range []string{"https://a", "a:4317", "", "http://", "grpc://a"} {
		_, err := New(Options{Endpoint: bad})
		require.Error(t, err, bad)
	}
	tr, err := New(Options{Endpoint: "http://a/x", Exact: true})
	require.NoError(t, err)
	require.Equal(t, "http://a/x", tr.url)
	require.NoError(t, tr.Close())
}

func TestParents(t *testing.T) {
	id, ok := parseParent(parent)
	require.True(t, ok)
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", hex.EncodeToString(id.trace[:]))
	require.True(t, id.sampled)
	_, ok = parseParent("01" + parent[2:] + "-more")
	require.True(t, ok, "a later version may say more")
	for _, bad := range []string{
		"", "00", parent + "-x", "ff" + parent[2:], strings.ToUpper(parent), parent[:54] + "g",
		"00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
	} {
		_, ok := parseParent(bad)
		require.False(t, ok, bad)
	}
}

func FuzzParent(f *testing.F) {
	f.Add(parent)
	f.Fuzz(func(t *testing.T, text string) {
		if id, ok := parseParent(text); ok {
			require.NotZero(t, id.trace)
			require.NotZero(t, id.parent)
		}
	})
}
