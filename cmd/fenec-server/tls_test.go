package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// encrypted returns a client with connections of its own, of either version of HTTP.
func encrypted(t *testing.T, http2 bool) *http.Client {
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: http2,
	}}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// certify writes a certificate for localhost and its key, and returns the flags
// that name them.
func certify(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), 0o600))
	return []string{"--tls-cert", certFile, "--tls-key", keyFile}
}

func TestTLS(t *testing.T) {
	unset(t)
	files := certify(t)
	addr, stop := serving(t, append(files, "--max-connections", "2", "--http-cors", "*")...)
	defer stop()
	require.Zero(t, run(append(files, "--ping", "--http", addr), io.Discard))
	for _, http2 := range []bool{true, false} {
		// get asks over a connection of its own.
		get := func() (*http.Response, string) {
			client := encrypted(t, http2)
			client.Transport.(*http.Transport).DisableKeepAlives = true
			res, err := client.Get("https://" + addr + "/_health")
			require.NoError(t, err)
			defer res.Body.Close()
			b, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			return res, string(b)
		}
		// Connections before may not have left yet.
		getUntil := func(status int, meanwhile func()) (*http.Response, string) {
			for range 50 {
				if res, body := get(); res.StatusCode == status {
					return res, body
				}
				meanwhile()
			}
			require.Fail(t, "never", "%d", status)
			return nil, ""
		}
		res, body := getUntil(200, runtime.Gosched)
		require.Equal(t, `{"ok":true}`, body)
		require.Equal(t, http2, res.ProtoMajor == 2)
		var kept []net.Conn
		res, body = getUntil(503, func() { kept = append(kept, connect(t, addr)) })
		require.NotEmpty(t, kept)
		require.Equal(t, `{"error":"too many connections","retry_after":1}`, body)
		require.NotEmpty(t, res.Header.Get("X-Request-Id"))
		require.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"))
		for _, c := range kept {
			c.Close()
		}
		getUntil(200, runtime.Gosched)
	}
}

// A head that our own server refuses is refused behind TLS, too; what is larger by
// far is net/http's to refuse.
func TestTLSRefusesLargeHeads(t *testing.T) {
	unset(t)
	addr, stop := serving(t, append(certify(t), "--http-cors", "*")...)
	defer stop()
	for _, http2 := range []bool{true, false} {
		client := encrypted(t, http2)
		for kib, want := range map[int]int{63: 200, 70: 431, 120: 431} {
			req, err := http.NewRequest("GET", "https://"+addr+"/", nil)
			require.NoError(t, err)
			for range kib {
				req.Header.Add("A", strings.Repeat("b", 1024-len("A: \r\n")))
			}
			res, err := client.Do(req)
			require.NoError(t, err)
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, want, res.StatusCode, "%d KiB", kib)
			require.Equal(t, http2, res.ProtoMajor == 2)
			require.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"))
			if want != 200 {
				require.Equal(t, `{"error":"header block over 64 KiB"}`, string(body))
			}
		}
	}
}

// A stream takes no place of a connection, and a connection that goes on behind its
// streams takes one again.
func TestStreamsAreNoConnections(t *testing.T) {
	unset(t)
	for name, flags := range map[string][]string{"clear": nil, "TLS": certify(t)} {
		for _, http2 := range []bool{false, true} {
			if http2 && flags == nil {
				continue
			}
			t.Run(name, func(t *testing.T) {
				addr, stop := serving(t, append(flags, "--max-connections", "1")...)
				defer stop()
				url := "http://" + addr
				if flags != nil {
					url = "https://" + addr
				}
				client := encrypted(t, http2)
				res, err := client.Post(url+"/query", "", strings.NewReader(`{"query":"create collection t (a int)"}`))
				require.NoError(t, err)
				_, err = io.Copy(io.Discard, res.Body)
				require.NoError(t, err)
				require.NoError(t, res.Body.Close())
				var streams []*stream
				for range 3 {
					streams = append(streams, follow(t, client, url+"/t/changes"))
				}
				require.Equal(t, http2, streams[0].res.ProtoMajor == 2)
				other := encrypted(t, http2)
				other.Transport.(*http.Transport).DisableKeepAlives = true
				answers := func(status int) func() bool {
					return func() bool {
						res, err := other.Get(url + "/t")
						return err == nil && res.Body.Close() == nil && res.StatusCode == status
					}
				}
				// The connection before has to leave.
				require.Eventually(t, answers(200), 10*time.Second, time.Millisecond)
				if !http2 {
					return
				}
				for _, s := range streams {
					s.cancel()
				}
				require.Eventually(t, answers(503), 10*time.Second, time.Millisecond, "the first is counted again")
				client.CloseIdleConnections()
				require.Eventually(t, answers(200), 10*time.Second, time.Millisecond)
			})
		}
	}
}

// stream is an open subscription.
type stream struct {
	res    *http.Response
	cancel context.CancelFunc
}

// follow opens a subscription and reads its first event.
func follow(t *testing.T, client *http.Client, url string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	require.NoError(t, err)
	res, err := client.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { res.Body.Close() })
	require.Equal(t, 200, res.StatusCode)
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "event: seed\n", line)
	return &stream{res, cancel}
}
