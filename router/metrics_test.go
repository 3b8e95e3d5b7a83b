package router_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/router"
)

// scrape reads the router's metrics, without going through its listener.
func scrape(g *rig) map[string]float64 {
	g.t.Helper()
	status, body := g.direct("GET", "/_metrics")
	require.Equal(g.t, 200, status, body)
	samples := map[string]float64{}
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		require.True(g.t, ok, line)
		n, err := strconv.ParseFloat(value, 64)
		require.NoError(g.t, err, line)
		samples[name] = n
	}
	return samples
}

// connections returns how many clients the router's own server has.
func connections(g *rig) int { return int(scrape(g)["fenec_router_connections"]) }

func requests(route, code string) string {
	return fmt.Sprintf("fenec_router_requests_total{route=%q,code=%q}", route, code)
}

func TestMetrics(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		g.place("n1", newNode(t).addr(), "acme", "beta")
		g.place("n2", deadAddr(t), "lost")
		g.place("n3", rawNode(t, answering(map[string]string{
			"/t/gamma/moved":  "HTTP/1.1 304 Not Modified\r\n\r\n",
			"/t/gamma/stream": "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n",
		})), "gamma")
		for range 3 {
			g.call("GET", "/t/acme/notes", "")
		}
		for target, method := range map[string]string{
			"/t/nobody/x": "GET", "/t/lost/x": "GET", "/t/gamma/moved": "GET", "/t/gamma/stream": "GET",
			"/_shard/nodes": "GET", "/_shard/x": "PUT", "/elsewhere": "GET", "/_health": "HEAD", "/_metrics": "POST",
		} {
			g.call(method, target, "")
		}
		require.Eventually(t, func() bool { return connections(g) == 0 }, eventually, tick, "all are counted")
		got := scrape(g)
		for name, want := range map[string]float64{
			requests("tenant", "2xx"):                                     4,
			requests("tenant", "3xx"):                                     1,
			requests("tenant", "4xx"):                                     1,
			requests("tenant", "5xx"):                                     1,
			requests("shard", "2xx"):                                      1,
			requests("shard", "4xx"):                                      1,
			requests("other", "2xx"):                                      1,
			requests("other", "4xx"):                                      1,
			requests("metrics", "4xx"):                                    1,
			requests("replication", "2xx"):                                0,
			`fenec_router_request_duration_seconds_count{route="tenant"}`: 7,
			`fenec_router_request_duration_seconds_bucket{route="tenant",le="+Inf"}`: 7,
			`fenec_router_upstream_duration_seconds_count`:                           5,
			`fenec_router_upstream_errors_total{node="n2"}`:                          1,
			`fenec_router_nodes`:                                   3,
			`fenec_router_tenants{node="n1"}`:                      2,
			`fenec_router_tenants{node="n2"}`:                      1,
			`fenec_router_tenants_moving`:                          0,
			`fenec_router_moves_total{outcome="done"}`:             0,
			`fenec_router_move_duration_seconds_bucket{le="0.01"}`: 0,
			`fenec_router_move_duration_seconds_bucket{le="1000"}`: 0,
		} {
			value, ok := got[name]
			require.True(t, ok, name)
			require.Equal(t, want, value, name)
		}
		require.NotContains(t, got, `fenec_router_request_duration_seconds_count{route="replication"}`)
		require.NotContains(t, got, `fenec_router_upstream_errors_total{node="n1"}`)
		for name := range got {
			require.NotRegexp(t, "acme|beta|gamma|lost|nobody", name, "no label names a tenant")
		}
	})
}

// Each family has its help and type, and comes once.
func TestMetricsPage(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{Token: router.NewToken("secret")})
	for _, c := range []struct {
		method, token string
		status        int
	}{
		{"GET", "", 401}, {"GET", "wrong", 401}, {"POST", "", 401},
		{"GET", "secret", 200}, {"HEAD", "secret", 200}, {"POST", "secret", 405}, {"DELETE", "secret", 405},
	} {
		status, head, body := g.callHead(c.method, "/_metrics", "", "Authorization: Bearer "+c.token)
		require.Equal(t, c.status, status, "%+v", c)
		switch {
		case status == 405:
			require.Equal(t, "GET, HEAD", head.Get("Allow"))
		case status == 200:
			require.Equal(t, "text/plain; version=0.0.4; charset=utf-8", head.Get("Content-Type"))
		}
		if c.method == "GET" && status == 200 {
			for _, family := range regexp.MustCompile(`(?m)^([a-z_]+)`).FindAllString(body, -1) {
				family = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(family, "_bucket"), "_sum"), "_count")
				require.Equal(t, 1, strings.Count(body, "# HELP "+family+" "), family)
				require.Equal(t, 1, strings.Count(body, "# TYPE "+family+" "), family)
			}
		}
	}
}

func TestConnectionsAreCounted(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	var open []*conn
	for n := range 3 {
		require.Equal(t, n, connections(g))
		c := g.dial()
		c.send("GET", "/_health", "")
		c.answer("GET")
		open = append(open, c)
	}
	for _, c := range open {
		c.Close()
	}
	require.Eventually(t, func() bool { return connections(g) == 0 }, eventually, tick)
}

// What is refused before it is a request counts as well.
func TestRefusedHeadsAreCounted(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	c := g.dial()
	c.write("GARBAGE\r\n\r\n")
	c.answer("GET")
	require.Eventually(t, func() bool { return scrape(g)[requests("other", "4xx")] == 1 }, eventually, tick)
}
