package router_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/router"
)

// encrypted is the configuration of a server with a certificate of its own.
func encrypted(t *testing.T) *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		NextProtos:   []string{"h2", "http/1.1"},
	}
}

// startEncrypted starts a router behind TLS, which the test shuts down itself.
func startEncrypted(t *testing.T, opts router.Options) (g *rig, served chan error) {
	opts.Directory = openDirectory(t, "")
	g = &rig{t: t, log: &lines{}}
	rt, err := router.New(opts)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g.rt, g.addr = rt, l.Addr().String()
	served = make(chan error, 1)
	config := encrypted(t)
	go func() { served <- rt.ServeTLS(l, config) }()
	t.Cleanup(func() { rt.Shutdown(context.Background()) })
	return g, served
}

// shake dials and shakes hands, offering the protocols.
func (g *rig) shake(protocols ...string) (*tls.Conn, error) {
	c, err := tls.Dial("tcp", g.addr, &tls.Config{InsecureSkipVerify: true, NextProtos: protocols})
	if err == nil {
		g.t.Cleanup(func() { c.Close() })
		require.NoError(g.t, c.SetDeadline(time.Now().Add(20*time.Second)))
	}
	return c, err
}

// browser is a client that speaks HTTP/2.
func browser(t *testing.T) *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// HTTP/1.1 within TLS is the router's own: the order of header lines and the bytes of the
// target are kept.
func TestEncryptedHTTP1(t *testing.T) {
	for _, protocols := range [][]string{nil, {"http/1.1"}} {
		g, _ := startEncrypted(t, router.Options{})
		rec := &recorder{}
		g.place("n1", rawNode(t, rec.handle), "acme")
		raw, err := g.shake(protocols...)
		require.NoError(t, err)
		c := newConn(t, raw)
		for range 20 { // enough for the express lane, which is not for this
			c.send("POST", "/t/acme/n%6Ftes", "hello", "B: 2", "a: 1")
			resp, _ := c.answer("POST")
			require.Equal(t, 200, resp.StatusCode)
		}
		head, body := rec.last()
		require.Equal(t, "hello", body)
		require.Contains(t, head, "POST /t/acme/n%6Ftes HTTP/1.1\r\n")
		require.Contains(t, head, "\r\nB: 2\r\na: 1\r\n")
		require.Contains(t, head, "\r\nFenec-Router: 127.0.0.1 ")
	}
}

func TestEncryptedHTTP2(t *testing.T) {
	g, served := startEncrypted(t, router.Options{AllowOrigin: "*"})
	n := newNode(t)
	n.data = func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/changes") {
			echo(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, ": hello\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	g.place("n1", n.addr(), "acme")
	client := browser(t)
	url := "https://" + g.addr
	for range 3 {
		resp, err := client.Post(url+"/t/acme/n%6Ftes?a", "", strings.NewReader("hello"))
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, 2, resp.ProtoMajor)
		require.Equal(t, "5 hello", string(body))
		require.Equal(t, "POST /t/acme/n%6Ftes?a", resp.Header.Get("X-Got"))
		require.Equal(t, []string{"*"}, resp.Header.Values("Access-Control-Allow-Origin"))
	}
	require.Equal(t, 1, connections(g), "requests share a connection")

	stream, err := client.Get(url + "/t/acme/notes/changes")
	require.NoError(t, err)
	_, err = io.ReadFull(stream.Body, make([]byte, 8))
	require.NoError(t, err)
	require.NoError(t, g.rt.Shutdown(context.Background()), "streams end")
	io.Copy(io.Discard, stream.Body) // ends, or is cut off
	stream.Body.Close()
	require.ErrorIs(t, <-served, router.ErrClosed)
	require.Zero(t, connections(g))
}

// The limits hold behind TLS as well.
func TestEncryptedLimits(t *testing.T) {
	g, _ := startEncrypted(t, router.Options{MaxConnections: 1, IdleTimeout: 200 * time.Millisecond})
	silent, err := net.Dial("tcp", g.addr)
	require.NoError(t, err)
	defer silent.Close()
	require.Eventually(t, func() bool { return connections(g) == 1 }, eventually, tick)
	raw, err := g.shake("h2", "http/1.1")
	require.NoError(t, err)
	require.Equal(t, "http/1.1", raw.ConnectionState().NegotiatedProtocol, "it is only told something")
	c := newConn(t, raw)
	c.send("GET", "/_health", "")
	resp, body := c.answer("GET")
	require.Equal(t, 503, resp.StatusCode)
	require.Contains(t, body, `"retry_after":1`)

	_, err = io.ReadAll(silent)
	require.NoError(t, err, "who does not shake hands is dropped")
	require.Eventually(t, func() bool { return connections(g) == 0 }, eventually, tick)
	resp2, err := browser(t).Get("https://" + g.addr + "/_health")
	require.NoError(t, err)
	resp2.Body.Close()
	require.Equal(t, 200, resp2.StatusCode)
}

func TestEncryptedShutdown(t *testing.T) {
	arrived := make(chan struct{})
	g, _ := startEncrypted(t, router.Options{})
	g.place("n1", rawNode(t, func(c *rawConn, _ int) {
		c.request()
		close(arrived)
		io.Copy(io.Discard, c)
	}), "acme")
	handshaking, err := net.Dial("tcp", g.addr)
	require.NoError(t, err)
	defer handshaking.Close()
	failed := make(chan error, 1)
	go func() {
		resp, err := browser(t).Get("https://" + g.addr + "/t/acme/x")
		if err == nil {
			resp.Body.Close()
		}
		failed <- err
	}()
	<-arrived
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, g.rt.Shutdown(ctx), context.Canceled)
	<-failed
	io.Copy(io.Discard, handshaking) // ends

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.ErrorIs(t, g.rt.ServeTLS(l, encrypted(t)), router.ErrClosed)
	_, err = l.Accept()
	require.Error(t, err, "the listener is closed")
}
