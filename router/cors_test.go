package router_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/router"
)

const appOrigin = "https://app.example"

// allows asserts that an answer lets pages of the origin in, and says so once.
func allows(t *testing.T, h http.Header, origin string) {
	t.Helper()
	require.Equal(t, []string{origin}, h.Values("Access-Control-Allow-Origin"))
	require.Len(t, h.Values("Access-Control-Allow-Methods"), 1)
	require.Len(t, h.Values("Access-Control-Expose-Headers"), 1)
	require.Contains(t, h.Values("Vary"), "Origin")
}

func allowsNobody(t *testing.T, h http.Header) {
	t.Helper()
	for name := range h {
		require.False(t, strings.HasPrefix(name, "Access-Control-"), name)
	}
}

// R44, R48
func TestPreflight(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{AllowOrigin: appOrigin, Token: router.NewToken("secret")})
		rec := &recorder{}
		g.place("n1", rawNode(t, rec.handle), "acme")
		for _, target := range []string{"/t/acme/notes", "/t/nobody/notes", "/t/Bad/x", "/_shard/nodes", "/elsewhere", "/_health"} {
			status, head, body := g.callHead("OPTIONS", target, "", "Origin: "+appOrigin)
			require.Equal(t, 204, status, target)
			require.Empty(t, body)
			allows(t, head, appOrigin)
			require.Len(t, head.Values("X-Request-Id"), 1)
		}
		require.Empty(t, rec.heads, "the node is not asked")

		status, head, _ := g.callHead("OPTIONS", "/t/acme/notes", "", "Origin: https://other.example")
		require.Equal(t, 200, status, "the node's answer")
		require.Len(t, rec.heads, 1)
		allows(t, head, appOrigin)
		status, head, _ = g.callHead("OPTIONS", "/_shard/nodes", "", "Origin: https://other.example")
		require.Equal(t, 401, status)
		allows(t, head, appOrigin)

		c := g.dial()
		c.send("OPTIONS", "/t/acme/notes", strings.Repeat("x", 10), "Origin: "+appOrigin)
		resp, _ := c.answer("OPTIONS")
		require.Equal(t, 204, resp.StatusCode)
		c.send("GET", "/_health", "")
		resp, _ = c.answer("GET")
		require.Equal(t, 200, resp.StatusCode, "the connection is kept")
	})
}

// R45: every answer of the router's own carries the headers.
func TestOwnAnswersLetPagesIn(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{AllowOrigin: "*", Token: router.NewToken("secret"), MaxBody: 100})
		g.place("n1", newNode(t).addr(), "acme")
		g.place("n2", deadAddr(t), "lost")
		for _, c := range []struct {
			method, target, body string
			status               int
		}{
			{"GET", "/t/acme/notes", "", 200},
			{"GET", "/t/nobody/notes", "", 404},
			{"GET", "/t/Bad/notes", "", 400},
			{"GET", "/t/lost/notes", "", 502},
			{"GET", "/elsewhere", "", 404},
			{"GET", "/_shard/nodes", "", 401},
			{"POST", "/t/acme/notes", strings.Repeat("x", 101), 413},
			{"BREW", "/t/acme/notes", "", 501},
		} {
			status, head, _ := g.callHead(c.method, c.target, c.body)
			require.Equal(t, c.status, status, c.target)
			allows(t, head, "*")
			if c.status == 401 {
				require.Equal(t, "Bearer", head.Get("WWW-Authenticate"))
			}
		}
		for _, target := range []string{"/_health", "/_ready", "/_metrics"} {
			_, head, _ := g.callHead("GET", target, "")
			allowsNobody(t, head)
			require.Empty(t, head.Values("Vary"))
		}
	})
}

// What the router's own server refuses before there is a request carries them, too.
func TestRefusedHeadsLetPagesIn(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{AllowOrigin: "*", MaxConnections: 1, IdleTimeout: 200 * time.Millisecond})
	for text, status := range map[string]int{
		"GARBAGE\r\n\r\n": 400,
		"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 70<<10) + "\r\n\r\n": 431,
		"GET / HT": 408,
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n": 400,
	} {
		require.Eventually(t, func() bool { return connections(g) == 0 }, eventually, tick)
		c := g.dial()
		go c.Conn.Write([]byte(text))
		resp, _ := c.answer("GET")
		require.Equal(t, status, resp.StatusCode)
		allows(t, resp.Header, "*")
	}
	require.Eventually(t, func() bool { return connections(g) == 0 }, eventually, tick)
	first := g.dial()
	first.send("GET", "/_health", "")
	first.answer("GET")
	c := g.dial()
	c.send("GET", "/_health", "")
	resp, _ := c.answer("GET")
	require.Equal(t, 503, resp.StatusCode)
	allows(t, resp.Header, "*")
}

// corsAnswer begins an answer of a node that has an origin of its own.
const corsAnswer = "HTTP/1.1 200 OK\r\naccess-control-allow-origin: https://node.example\r\nAccess-Control-Allow-Credentials: true\r\n" +
	"Access-Control-Expose-Headers: x-node\r\nVary: origin\r\nVary: Accept-Encoding\r\nEtag: \"1\"\r\n"

// R46
func TestForwardedAnswersLetPagesIn(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{AllowOrigin: appOrigin})
		g.place("n1", rawNode(t, answering(map[string]string{
			"/t/acme/whole":   corsAnswer + "Content-Length: 2\r\n\r\n{}",
			"/t/acme/missing": strings.Replace(corsAnswer, "200 OK", "404 Not Found", 1) + "Content-Length: 2\r\n\r\n{}",
			"/t/acme/chunks":  corsAnswer + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
			"/t/acme/stream":  corsAnswer + "Content-Type: text/event-stream\r\n\r\n: hello\n",
		})), "acme")
		for _, target := range []string{"/t/acme/whole", "/t/acme/missing", "/t/acme/chunks"} {
			_, head, body := g.callHead("GET", target, "")
			require.Equal(t, "{}", body)
			allows(t, head, appOrigin)
			require.Empty(t, head.Get("Access-Control-Allow-Credentials"))
			require.ElementsMatch(t, []string{"Origin", "Accept-Encoding"}, head.Values("Vary"))
			require.Equal(t, `"1"`, head.Get("Etag"))
		}
		_, head, _ := g.callHead("GET", "/t/acme/stream", "")
		require.Equal(t, []string{appOrigin}, head.Values("Access-Control-Allow-Origin"))
		require.Empty(t, head.Values("Access-Control-Allow-Methods"), "a stream's head is short")
		require.Empty(t, head.Values("Access-Control-Expose-Headers"))
	})
}

// R47
func TestWithoutAnOriginNodesDecide(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		g.place("n1", rawNode(t, answering(map[string]string{
			"/t/acme/whole": corsAnswer + "Content-Length: 2\r\n\r\n{}",
			"/t/acme/x":     strings.Replace(corsAnswer, "200 OK", "204 No Content", 1) + "\r\n",
		})), "acme")
		_, head, _ := g.callHead("GET", "/t/acme/whole", "")
		require.Equal(t, []string{"https://node.example"}, head.Values("Access-Control-Allow-Origin"))
		require.Equal(t, "true", head.Get("Access-Control-Allow-Credentials"))
		require.Equal(t, []string{"origin", "Accept-Encoding"}, head.Values("Vary"))
		status, head, _ := g.callHead("OPTIONS", "/t/acme/x", "", "Origin: https://node.example")
		require.Equal(t, 204, status, "it is the node's")
		require.Equal(t, "https://node.example", head.Get("Access-Control-Allow-Origin"))
		_, head, _ = g.callHead("GET", "/t/nobody/x", "")
		allowsNobody(t, head)
	})
}

// answering is a node that answers each target with a text, and ends the connection
// behind a stream.
func answering(answers map[string]string) func(*rawConn, int) {
	return func(c *rawConn, _ int) {
		for {
			head, _, err := c.request()
			if err != nil {
				return
			}
			text := answers[strings.Fields(head)[1]]
			c.reply(text)
			if strings.Contains(text, "event-stream") {
				return
			}
		}
	}
}
