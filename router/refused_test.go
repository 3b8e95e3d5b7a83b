package router_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/router"
)

// guarded is a node that lets in who carries "good", but asks nobody for health.
func guarded(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/_health") || r.Method == "OPTIONS":
	case r.Header.Get("Authorization") != "Bearer good":
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(401)
	}
	w.Write([]byte(`{}`))
}

// from dials from another address of the loopback network.
func (g *rig) from(ip string) *conn {
	g.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	c, err := d.Dial("tcp", g.addr)
	if err != nil {
		g.t.Skip("no second loopback address: ", err)
	}
	g.t.Cleanup(func() { c.Close() })
	require.NoError(g.t, c.SetDeadline(time.Now().Add(20*time.Second)))
	return newConn(g.t, c)
}

// R40, and that the router's own refusals count as well.
func TestRefusalsWait(t *testing.T) {
	const delay = 40 * time.Millisecond
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{RefusalDelay: delay, Token: router.NewToken("secret")})
		n := newNode(t)
		n.data = guarded
		g.place("n1", n.addr(), "acme")
		// waits asks on a connection from the address and reports how often the delay
		// has passed before the answer.
		waits := func(ip, method, target, token string, status int) int {
			t.Helper()
			c := g.from(ip)
			start := time.Now()
			c.send(method, target, "", "Authorization: Bearer "+token)
			resp, _ := c.answer(method)
			took := time.Since(start)
			require.Equal(t, status, resp.StatusCode)
			if status == 401 {
				require.Equal(t, "Bearer", resp.Header.Get("WWW-Authenticate"))
			}
			return int(took / delay)
		}
		for i, want := range []int{1, 2, 4} {
			require.GreaterOrEqual(t, waits("127.0.0.2", "GET", "/t/acme/notes", "bad", 401), want, "the %dth", i+1)
		}
		require.GreaterOrEqual(t, waits("127.0.0.3", "GET", "/t/acme/notes", "bad", 401), 1)
		waits("127.0.0.3", "GET", "/t/acme/notes", "good", 200)
		require.GreaterOrEqual(t, waits("127.0.0.2", "GET", "/_shard/nodes", "bad", 401), 8, "another's token clears nothing")

		// What is given to anybody clears nothing either.
		waits("127.0.0.2", "GET", "/t/acme/_health", "bad", 200)
		waits("127.0.0.2", "OPTIONS", "/t/acme/notes", "bad", 200)
		waits("127.0.0.2", "GET", "/_health", "bad", 200)
		require.GreaterOrEqual(t, waits("127.0.0.2", "GET", "/_metrics", "bad", 401), 16)

		waits("127.0.0.2", "GET", "/t/acme/notes", "good", 200)
		first := waits("127.0.0.2", "GET", "/t/acme/notes", "bad", 401)
		require.GreaterOrEqual(t, first, 1)
		require.Less(t, first, 16, "its own clears")
		waits("127.0.0.2", "GET", "/_shard/nodes", "secret", 200)
		require.Less(t, waits("127.0.0.2", "GET", "/t/acme/notes", "bad", 401), 16, "the router's clears as well")
	})
}

// While a refusal waits, the node's connection is free for others.
func TestRefusalsHoldNoConnection(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{RefusalDelay: time.Hour})
		var opened atomic.Int32
		g.place("n1", rawNode(t, func(c *rawConn, number int) {
			opened.Store(int32(number))
			for {
				head, _, err := c.request()
				switch {
				case err != nil:
					return
				case strings.Contains(head, "/bad "):
					c.reply("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}")
				default:
					c.reply(ok)
				}
			}
		}), "acme")
		waiting := g.dial()
		waiting.send("GET", "/t/acme/bad", "")
		for range 20 {
			status, _ := g.call("GET", "/t/acme/x", "")
			require.Equal(t, 200, status)
		}
		require.LessOrEqual(t, opened.Load(), int32(2))
		// A client that goes away is not waited for: the router's end would wait
		// otherwise.
		waiting.Close()
	})
}

// Who closes half of the connection does not get the answer any sooner, but not at all.
func TestRefusalsCannotBeHurried(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{RefusalDelay: time.Hour, Token: router.NewToken("secret")})
		n := newNode(t)
		n.data = guarded
		g.place("n1", n.addr(), "acme")
		g.place("n2", rawNode(t, answering(map[string]string{
			"/t/long/x": "HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		})), "long")
		for _, target := range []string{"/t/acme/x", "/t/long/x", "/_shard/nodes", "/_metrics"} {
			c := g.dial()
			c.send("GET", target, "")
			require.NoError(t, c.Conn.(*net.TCPConn).CloseWrite())
			c.ended()
		}
	})
}

// A refusal in pieces, which no node sends, waits all the same.
func TestLongRefusalsWait(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{RefusalDelay: 30 * time.Millisecond})
		g.place("n1", rawNode(t, answering(map[string]string{
			"/t/acme/chunks": "HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		})), "acme")
		start := time.Now()
		status, body := g.call("GET", "/t/acme/chunks", "")
		require.Equal(t, 401, status)
		require.Equal(t, "{}", body)
		require.GreaterOrEqual(t, time.Since(start), 30*time.Millisecond)
	})
}

func TestShutdownEndsDelays(t *testing.T) {
	n := newNode(t)
	n.data = guarded
	dir := openDirectory(t, "")
	log := &lines{}
	rt, addr, _ := serveRouter(t, router.Options{Directory: dir, RefusalDelay: time.Hour, AuditLog: log})
	record := router.Node{Name: "n1", Addr: n.addr(), Token: router.NewToken("x")}
	require.NoError(t, dir.PutNode(record))
	require.NoError(t, dir.Place("acme", record))
	c := (&rig{t: t, rt: rt, addr: addr}).dial()
	c.send("GET", "/t/acme/x", "")
	require.Eventually(t, func() bool { return log.String() != "" }, eventually, tick, "it is being refused")
	require.NoError(t, rt.Shutdown(context.Background()))
	resp, _ := c.answer("GET")
	require.Equal(t, 401, resp.StatusCode)
}

// R37, R39: who was refused, and what was changed, with the id that the node has too.
func TestAudit(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		log := &lines{}
		g := startRouter(t, f, router.Options{AuditLog: log, Token: router.NewToken("secret")})
		n := newNode(t)
		n.data = guarded
		const auth = "Authorization: Bearer secret"
		for _, c := range []struct {
			method, target, body string
			header               []string
			status               int
		}{
			{"PUT", "/_shard/nodes/n1?x=y", `{"addr":"` + n.addr() + `","token":"admin-secret"}`, []string{auth, "X-Request-Id: order-17"}, 201},
			{"PUT", "/_shard/tenants/acme", "", []string{auth}, 201},
			{"GET", "/_shard/tenants", "", []string{auth}, 200},
			{"DELETE", "/_shard/tenants/nobody", "", []string{auth}, 404},
			{"POST", "/_shard/tenants/acme/move", `{"to":"n1"}`, []string{auth}, 409},
			{"POST", "/_shard/tenants/acme/move", `["n1"]`, []string{auth}, 400},
			{"DELETE", "/_shard/tenants/acme", "", []string{"Authorization: Bearer wrong", "X-Request-Id: probe-2"}, 401},
			{"GET", "/t/acme/n%6Ftes?token=x", "", []string{"X-Request-Id: probe-3"}, 401},
			{"GET", "/t/acme/notes", "", []string{"Authorization: Bearer good"}, 200},
			{"GET", "/t/nobody/notes", "", nil, 404},
			{"GET", "/_metrics", "", []string{"X-Request-Id: probe-4"}, 401},
		} {
			status, body := g.call(c.method, c.target, c.body, c.header...)
			require.Equal(t, c.status, status, "%s: %s", c.target, body)
		}
		type event struct {
			Event, Level, Proto, Method, Path, Tenant, To string
			Status                                        int    `json:"http_status"`
			ID                                            string `json:"request_id"`
		}
		var got []event
		for line := range strings.Lines(log.String()) {
			var all map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &all))
			require.Contains(t, all["peer"], "127.0.0.1:")
			_, err := time.Parse("2006-01-02T15:04:05.000Z", all["at"].(string))
			require.NoError(t, err)
			var e event
			require.NoError(t, json.Unmarshal([]byte(line), &e))
			if len(e.ID) == 16 {
				e.ID = "made"
			}
			got = append(got, e)
		}
		require.Equal(t, []event{
			{"admin", "info", "http", "PUT", "/_shard/nodes/n1", "", "", 201, "order-17"},
			{"admin", "info", "http", "PUT", "/_shard/tenants/acme", "acme", "", 201, "made"},
			{"admin", "info", "http", "DELETE", "/_shard/tenants/nobody", "nobody", "", 404, "made"},
			{"admin", "info", "http", "POST", "/_shard/tenants/acme/move", "acme", "n1", 409, "made"},
			{"admin", "info", "http", "POST", "/_shard/tenants/acme/move", "acme", "", 400, "made"},
			{"refused", "warn", "http", "DELETE", "/_shard/tenants/acme", "", "", 0, "probe-2"},
			{"refused", "warn", "http", "GET", "/t/acme/notes", "acme", "", 0, "probe-3"},
			{"refused", "warn", "http", "GET", "/_metrics", "", "", 0, "probe-4"},
		}, got)
	})
}
