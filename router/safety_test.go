package router_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/router"
)

// TestSmuggling tries to hide a second request where a lax reader would see one, or in
// what a lax reader would take for the body. Nothing of it may reach a node, and the
// connection ends with the refusal.
func TestSmuggling(t *testing.T) {
	const hidden = "GET /t/acme/smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	post := func(fields, body string) string {
		return "POST /t/acme/x HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n\r\n" + body
	}
	for name, text := range map[string]string{
		"length and chunks":              post("Content-Length: 4\r\nTransfer-Encoding: chunked", "0\r\n\r\n"+hidden),
		"chunks and length":              post("Transfer-Encoding: chunked\r\nContent-Length: 4", "0\r\n\r\n"+hidden),
		"blank before the colon":         post("Transfer-Encoding : chunked", "0\r\n\r\n"+hidden),
		"tab before the colon":           post("Content-Length\t: 100", hidden),
		"vertical tab in the coding":     post("Transfer-Encoding: \vchunked", "0\r\n\r\n"+hidden),
		"coding twice":                   post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n"+hidden),
		"coding twice in a list":         post("Transfer-Encoding: chunked, chunked", "0\r\n\r\n"+hidden),
		"identity":                       post("Transfer-Encoding: identity\r\nContent-Length: 0", hidden),
		"coding with something in front": post("Transfer-Encoding: xchunked", "0\r\n\r\n"+hidden),
		"quoted coding":                  post("Transfer-Encoding: \"chunked\"", "0\r\n\r\n"+hidden),
		"folded coding":                  post("Transfer-Encoding:\r\n chunked", "0\r\n\r\n"+hidden),
		"two lengths":                    post("Content-Length: 0\r\nContent-Length: 44", hidden),
		"lengths in a list":              post("Content-Length: 0, 44", hidden),
		"length with a sign":             post("Content-Length: +0", hidden),
		"negative length":                post("Content-Length: -1", hidden),
		"hexadecimal length":             post("Content-Length: 0x2c", hidden),
		"length beyond 64 bits":          post("Content-Length: 18446744073709551616", hidden),
		"length with blanks":             post("Content-Length: 1 0", hidden),
		"no digits":                      post("Content-Length: ", hidden),
		"bare line feed in a field":      post("X: y\nTransfer-Encoding: chunked", "0\r\n\r\n"+hidden),
		"bare carriage return":           post("X: y\rTransfer-Encoding: chunked", "0\r\n\r\n"+hidden),
		"null byte":                      post("X: \x00", hidden),
		"field without a colon":          post("Transfer-Encoding chunked", "0\r\n\r\n"+hidden),
		"empty field name":               post(": chunked", "0\r\n\r\n"+hidden),
		"two hosts":                      post("Host: y", hidden),
		"chunk size with a sign":         post("Transfer-Encoding: chunked", "+0\r\n\r\n"+hidden),
		"chunk size with a prefix":       post("Transfer-Encoding: chunked", "0x0\r\n\r\n"+hidden),
		"chunk size beyond 64 bits":      post("Transfer-Encoding: chunked", "10000000000000000\r\n\r\n"+hidden),
		"chunk size of blanks":           post("Transfer-Encoding: chunked", " \r\n\r\n"+hidden),
		"chunk line with a line feed":    post("Transfer-Encoding: chunked", "0\n\n"+hidden),
		"chunk without its end":          post("Transfer-Encoding: chunked", "1\r\naX0\r\n\r\n"+hidden),
		"trailer":                        post("Transfer-Encoding: chunked", "0\r\nContent-Length: 100\r\n\r\n"+hidden),
		"version":                        "GET /t/acme/x HTTP/2.0\r\nHost: x\r\n\r\n" + hidden,
		"lower-case version":             "GET /t/acme/x http/1.1\r\nHost: x\r\n\r\n" + hidden,
		"two blanks":                     "GET  /t/acme/x HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
		"tab for a blank":                "GET\t/t/acme/x HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
		"line break in the target":       "GET /t/acme/x\rHTTP/1.1 HTTP/1.1\r\nHost: x\r\n\r\n" + hidden,
	} {
		t.Run(name, func(t *testing.T) {
			g := startRouter(t, ownFace, router.Options{})
			rec := &recorder{}
			g.place("n1", rawNode(t, rec.handle), "acme")
			c := g.dial()
			c.write(text)
			resp, body := c.answer("POST")
			require.Contains(t, []int{400, 501}, resp.StatusCode, body)
			require.True(t, resp.Close)
			c.ended()
			rec.mu.Lock()
			defer rec.mu.Unlock()
			require.Empty(t, rec.heads)
		})
	}
}

// What is within a body stays there, however it came.
func TestRequestsWithinBodies(t *testing.T) {
	const hidden = "GET /t/acme/smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	g := startRouter(t, ownFace, router.Options{})
	rec := &recorder{}
	g.place("n1", rawNode(t, rec.handle), "acme")
	c := g.dial()
	for i, text := range []string{
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(hidden), hidden),
		fmt.Sprintf("Content-Length: 00%d\r\n\r\n%s", len(hidden), hidden),
		fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(hidden), hidden),
		fmt.Sprintf("transfer-encoding: CHUNKED\r\n\r\n%x;a=\"b\"\r\n%s\r\n0;last\r\n\r\n", len(hidden), hidden),
	} {
		c.write("POST /t/acme/x HTTP/1.1\r\nHost: x\r\n" + text)
		resp, body := c.answer("POST")
		require.Equal(t, 200, resp.StatusCode, body)
		require.Len(t, rec.heads, i+1)
		head, got := rec.last()
		require.Equal(t, hidden, got)
		require.Contains(t, head, fmt.Sprintf("\r\nContent-Length: %d\r\n", len(hidden)))
		require.NotContains(t, strings.ToLower(head), "transfer-encoding")
	}
}

// Every byte by itself, in both directions.
func TestByteByByte(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	answers := []string{
		"HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
	}
	var got []string
	g.place("n1", rawNode(t, func(c *rawConn, _ int) {
		for {
			head, body, err := c.request()
			if err != nil {
				return
			}
			got = append(got, head[:strings.Index(head, "\r\n")]+" "+body)
			for _, b := range []byte(answers[len(got)%len(answers)]) {
				c.Write([]byte{b})
			}
		}
	}), "acme")
	c := g.dial()
	for i, text := range []string{
		"GET /t/acme/1 HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /t/acme/2 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
		"POST /t/acme/3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
		"GET /t/acme/4 HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		for _, b := range []byte(text) {
			c.write(string(b))
		}
		resp, body := c.answer("GET")
		require.Equal(t, 200, resp.StatusCode)
		require.Equal(t, "hello", body)
		require.Len(t, got, i+1)
	}
	require.Equal(t, []string{
		"GET /t/acme/1 HTTP/1.1 ", "POST /t/acme/2 HTTP/1.1 hello", "POST /t/acme/3 HTTP/1.1 hello", "GET /t/acme/4 HTTP/1.1 ",
	}, got)
}

// Many requests in one write, and their answers in order.
func TestDeepPipeline(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	g.place("n1", newNode(t).addr(), "acme")
	c := g.dial()
	const n = 200
	var all strings.Builder
	for i := range n {
		body := strings.Repeat("x", i*7%300)
		fmt.Fprintf(&all, "POST /t/acme/%d HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", i, len(body), body)
	}
	go io.WriteString(c.Conn, all.String())
	for i := range n {
		resp, body := c.answer("POST")
		require.Equal(t, fmt.Sprintf("POST /t/acme/%d", i), resp.Header.Get("X-Got"))
		require.True(t, strings.HasPrefix(body, fmt.Sprintf("%d ", i*7%300)))
	}
}

// mirror answers with the body and its SHA-256, in chunks if asked to.
func mirror(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	sum := sha256.Sum256(body)
	w.Header().Set("X-Sum", hex.EncodeToString(sum[:]))
	if r.URL.RawQuery != "chunks" {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	}
	w.WriteHeader(200)
	if r.URL.RawQuery == "chunks" {
		w.(http.Flusher).Flush()
	}
	w.Write(body)
}

// The bytes of bodies are the same on both sides, in both directions, whatever they are
// and however they are framed.
func TestByteEquality(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		n := newNode(t)
		n.data = mirror
		g.place("n1", n.addr(), "acme")
		client := &http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		sizes := []int{0, 1, 2, 4095, 16 << 10, 16<<10 + 1, 64 << 10, 256<<10 - 1, 1 << 20, 1<<20 + 1, 5 << 20}
		if !testing.Short() {
			sizes = append(sizes, 64<<20)
		}
		for _, size := range sizes {
			body := make([]byte, size)
			for i := 0; i < size; i += 8 {
				b := random.Uint64()
				for k := i; k < min(i+8, size); k++ {
					body[k] = byte(b >> (8 * (k - i)))
				}
			}
			for _, query := range []string{"", "?chunks"} {
				for _, chunked := range []bool{false, true} {
					if size > 5<<20 && (query == "") == chunked {
						continue // two of the four will do
					}
					var from io.Reader = bytes.NewReader(body)
					if chunked {
						from = struct{ io.Reader }{from} // of unknown length
					}
					resp, err := client.Post("http://"+g.addr+"/t/acme/x"+query, "", from)
					require.NoError(t, err)
					got, err := io.ReadAll(resp.Body)
					require.NoError(t, err)
					resp.Body.Close()
					sum := sha256.Sum256(body)
					require.Equal(t, hex.EncodeToString(sum[:]), resp.Header.Get("X-Sum"), "%d bytes to the node", size)
					require.True(t, bytes.Equal(body, got), "%d bytes from the node, %q", size, query)
				}
			}
		}
		resp, err := client.Post("http://"+g.addr+"/t/acme/x", "", bytes.NewReader(make([]byte, 64<<20+1)))
		if err == nil { // the answer may come before the body is sent, and the connection end
			resp.Body.Close()
			require.Equal(t, 413, resp.StatusCode)
		}
	})
}

// A client that has said all that it has to say still gets its answer.
func TestHalfClosedClient(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	n := newNode(t)
	n.data = mirror
	g.place("n1", n.addr(), "acme")
	for _, target := range []string{"/t/acme/x", "/t/acme/x?chunks", "/t/nobody/x", "/_health"} {
		c := g.dial()
		c.send("POST", target, "hello")
		require.NoError(t, c.Conn.(*net.TCPConn).CloseWrite())
		resp, body := c.answer("POST")
		require.NotZero(t, resp.StatusCode)
		if strings.HasPrefix(target, "/t/acme") {
			require.Equal(t, "hello", body)
		}
		c.ended()
	}
}

// A node that says all that it has to say behind its answer is not asked again on that
// connection.
func TestHalfClosedNode(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		closed := make(chan struct{}, 10)
		g.place("n1", rawNode(t, func(c *rawConn, _ int) {
			c.request()
			c.reply(ok)
			c.Conn.(*net.TCPConn).CloseWrite()
			closed <- struct{}{}
			_, _, err := c.request()
			if err == nil {
				panic("asked again")
			}
		}), "acme")
		for range 5 {
			status, _ := g.call("POST", "/t/acme/x", "{}")
			require.Equal(t, 200, status)
			<-closed
		}
	})
}

// A slow reader gets everything, and holds up nobody.
func TestSlowReader(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		n := newNode(t)
		n.data = mirror
		g.place("n1", n.addr(), "acme")
		text := strings.Repeat("0123456789abcdef", 3<<16)
		slow := g.dial()
		slow.Conn.(*net.TCPConn).SetReadBuffer(32 << 10)
		go slow.Conn.Write([]byte(fmt.Sprintf("POST /t/acme/x HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(text), text)))
		resp, err := http.ReadResponse(slow.r, nil)
		require.NoError(t, err)
		var got bytes.Buffer
		for range 20 {
			_, err := io.CopyN(&got, resp.Body, 1000)
			require.NoError(t, err)
			status, _ := g.call("GET", "/t/acme/x", "")
			require.Equal(t, 200, status)
		}
		_, err = io.Copy(&got, resp.Body)
		require.NoError(t, err)
		require.True(t, got.String() == text)
	})
}

// A head that comes piece by piece, each within the bound of silence, is one head.
func TestSlowWriter(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{IdleTimeout: 500 * time.Millisecond})
	g.place("n1", newNode(t).addr(), "acme")
	c := g.dial()
	for _, piece := range []string{"POST /t/ac", "me/x HTTP/1.1\r", "\nHost: x\r\nContent-Le", "ngth: 6\r\n\r", "\nhel", "lo", "!"} {
		c.write(piece)
		<-time.After(100 * time.Millisecond)
	}
	resp, body := c.answer("POST")
	require.Equal(t, 200, resp.StatusCode)
	require.Equal(t, "6 hello!", body)
}

// R51: the router does not trace, so what others trace passes.
func TestTracesPass(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		rec := &recorder{}
		g.place("n1", rawNode(t, rec.handle), "acme")
		g.call("GET", "/t/acme/x", "", "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate: a=b")
		head, _ := rec.last()
		head = strings.ToLower(head)
		require.Contains(t, head, "\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n")
		require.Contains(t, head, "\r\ntracestate: a=b\r\n")
	})
}
