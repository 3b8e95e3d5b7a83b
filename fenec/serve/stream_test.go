package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
)

// stream is an open subscription.
type stream struct {
	t      *testing.T
	res    *http.Response
	events chan string // "name data", ": text" for comments; closed at the end
}

// follow opens a subscription.
func (c *client) follow(path string, headers ...string) *stream {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "GET", c.url+path, nil)
	require.NoError(c.t, err)
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(c.t, err)
	s := &stream{c.t, res, make(chan string, 1000)}
	go s.read()
	c.t.Cleanup(func() {
		cancel()
		res.Body.Close()
	})
	return s
}

func (s *stream) read() {
	defer close(s.events)
	name := ""
	lines := bufio.NewScanner(s.res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "event: "):
			name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			s.events <- name + " " + line[len("data: "):]
		case strings.HasPrefix(line, ":"):
			s.events <- line
		}
	}
}

// next returns the next event, "" at the end of the stream.
func (s *stream) next() string {
	s.t.Helper()
	select {
	case ev := <-s.events:
		return ev
	case <-time.After(10 * time.Second):
		s.t.Fatal("no event came")
		return ""
	}
}

// until passes events, of which several may have come as one, up to a sequence.
func (s *stream) until(seq int) {
	s.t.Helper()
	for !strings.Contains(s.next(), `{"seq":`+strconv.Itoa(seq)+`,`) {
	}
}

// want waits for the next event.
func (s *stream) want(event string) {
	s.t.Helper()
	require.Equal(s.t, event, s.next())
}

func (c *client) ok(method, path, body string) {
	c.t.Helper()
	r := c.do(method, path, body)
	require.Less(c.t, r.status, 300, r.body)
}

const (
	k1 = `{"id":1,"key":"k1","state":"open","n":1}`
	k2 = `{"id":2,"key":"k2","state":"done","n":2}`
)

func TestStreams(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	all := c.follow("/tasks/changes")
	require.Equal(t, "text/event-stream", all.res.Header.Get("Content-Type"))
	require.Equal(t, "no-cache, no-transform", all.res.Header.Get("Cache-Control"))
	require.Equal(t, "no", all.res.Header.Get("X-Accel-Buffering"))
	require.NotEmpty(t, all.res.Header.Get("X-Request-Id"))
	all.want(`seed {"seq":3,"rows":[` + k1 + `,` + k2 + `]}`)
	opened := c.follow("/tasks/changes?state=eq.open")
	opened.want(`seed {"seq":3,"rows":[` + k1 + `]}`)

	c.ok("POST", "/tasks", `{"key":"k3","state":"open"}`)
	k3 := `{"id":3,"key":"k3","state":"open","n":null}`
	all.want(`change {"seq":4,"puts":[` + k3 + `],"dels":[],"schema":false}`)
	opened.want(`change {"seq":4,"puts":[` + k3 + `],"dels":[],"schema":false}`)
	c.ok("PATCH", "/tasks?key=k1", `{"state":"done"}`)
	opened.want(`change {"seq":5,"puts":[],"dels":[1],"schema":false}`)
	c.ok("POST", "/tasks", `{"key":"k9","state":"done"}`)
	opened.want(`change {"seq":6,"puts":[],"dels":[4],"schema":false}`)
	all.until(6)
	c.query("create collection other (x int)")
	c.query("put other {x: 1}")
	c.ok("DELETE", "/tasks?key=k9", "")
	all.want(`change {"seq":9,"puts":[],"dels":[4],"schema":false}`)

	c.query("alter collection tasks add field z int")
	require.Contains(t, all.next(), `"schema":true`)
	c.query("drop collection tasks")
	require.Contains(t, all.next(), `error {"error":"`)
	require.Empty(t, all.next())
}

func TestStreamsContinue(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	since2 := c.follow("/tasks/changes?since=2&select=n")
	since2.want(`change {"seq":3,"puts":[{"id":2,"n":2}],"dels":[],"schema":false}`)
	since3 := c.follow("/tasks/changes?since=3")
	c.ok("POST", "/tasks", `{"key":"k3"}`)
	require.Contains(t, since3.next(), `change {"seq":4,"puts":[{"id":3`)
	require.Contains(t, c.follow("/tasks/changes?since=999").next(), `seed {"seq":4`)

	counting := c.follow("/tasks/changes?select=id&where=false")
	counting.want(`seed {"seq":4,"rows":[]}`)
	c.ok("POST", "/tasks", `{"key":"k4"}`)
	counting.want(`change {"seq":5,"puts":[],"dels":[4],"schema":false}`)
	statements := []string{}
	for i := range 5 {
		statements = append(statements, `set tasks {n: `+strconv.Itoa(i)+`} where id = 1`)
	}
	require.Equal(t, 200, c.batch(statements...).status)
	counting.want(`change {"seq":10,"puts":[],"dels":[1],"schema":false}`)
}

func TestStreamsRefused(t *testing.T) {
	c := start(t, serve.Options{Token: serve.NewSecret("t"), MaxStreams: 1}, tasks...)
	for path, status := range map[string]int{
		"/tasks/changes?limit=1": 400, "/tasks/changes?order=n": 400, "/tasks/changes?offset=1": 400,
		"/tasks/changes?count": 400, "/tasks/changes?since=x": 400, "/nope/changes": 404, "/tasks/changes?zz=1": 404,
	} {
		r := c.do("GET", path, "", "Authorization: Bearer t")
		require.Equal(t, status, r.status, "%s: %s", path, r.body)
	}
	require.Equal(t, 404, c.do("HEAD", "/tasks/changes", "", "Authorization: Bearer t").status)
	require.Equal(t, 401, c.do("GET", "/tasks/changes", "").status)

	one := c.follow("/tasks/changes", "Authorization: Bearer t")
	one.next()
	r := c.do("GET", "/tasks/changes", "", "Authorization: Bearer t")
	require.Equal(t, 503, r.status)
	require.Equal(t, "1", r.header.Get("Retry-After"))
	require.Equal(t, 200, c.do("GET", "/tasks", "", "Authorization: Bearer t").status)
	one.res.Body.Close()
	require.Eventually(t, func() bool {
		req, err := http.NewRequest("GET", c.url+"/tasks/changes", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer t")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		res.Body.Close()
		return res.StatusCode == 200
	}, 10*time.Second, 10*time.Millisecond)
}

func TestStreamsKeepAliveAndCORS(t *testing.T) {
	c := start(t, serve.Options{KeepAlive: 20 * time.Millisecond, AllowOrigin: "*"}, tasks...)
	s := c.follow("/tasks/changes")
	require.Equal(t, "*", s.res.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "Origin", s.res.Header.Get("Vary"))
	require.Empty(t, s.res.Header.Get("Access-Control-Max-Age"))
	s.next()
	s.want(": keepalive")
	s.want(": keepalive")
}

// A batch is told of whole, or in parts that are whole rows.
func TestStreamsOfBatches(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	s := c.follow("/tasks/changes?select=key")
	s.next()
	require.Equal(t, 200, c.batch(`put tasks {key: "a"}`, `put tasks {key: "b"}`).status)
	var got []string
	for len(got) < 2 {
		_, data, _ := strings.Cut(s.next(), " ")
		var ev struct{ Puts []struct{ Key string } }
		require.NoError(t, json.Unmarshal([]byte(data), &ev))
		for _, p := range ev.Puts {
			got = append(got, p.Key)
		}
	}
	require.Equal(t, []string{"a", "b"}, got)
}

func TestStreamsEndWithTheServer(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	s := c.follow("/tasks/changes")
	s.next()
	require.NoError(t, c.server.Close())
	require.Empty(t, s.next())
}
