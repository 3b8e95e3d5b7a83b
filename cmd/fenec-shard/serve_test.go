package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// certify writes a certificate of localhost and its key.
func certify(t *testing.T, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: der},
		keyFile:  {Type: "PRIVATE KEY", Bytes: raw},
	} {
		require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(block), 0o600))
	}
}

var secureLine = regexp.MustCompile(`^fenec-shard \S+ listening on: https://(\S+)  \[token\]\n$`)

// TestEverythingOn starts the command with a certificate, hosts and an audit log.
func TestEverythingOn(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	certify(t, in("cert"), in("key"))
	require.NoError(t, os.WriteFile(in("hosts"), []byte("shop.acme.example acme\n"), 0o600))
	cmd := exec.Command(os.Args[0], "-d", in("shard.fenec"), "-l", "127.0.0.1:0", "--token", "secret",
		"--tls-cert", in("cert"), "--tls-key", in("key"), "--host-suffix", "example.com", "--hosts", in("hosts"),
		"--audit", in("audit"), "--auth-delay", "1", "--http-cors", "https://a.example")
	cmd.Env = append(os.Environ(), playing+"=1", "FENEC_SHARD_TOKEN=")
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer cmd.Process.Kill()
	out := bufio.NewReader(stderr)
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	m := secureLine.FindStringSubmatch(line)
	require.NotNil(t, m, line)

	node := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "PUT" {
			w.WriteHeader(201)
		}
		io.WriteString(w, `{"disk":0,"path":"`+r.URL.Path+`"}`)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go node.Serve(l)
	defer node.Close()

	client := http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		ForceAttemptHTTP2: true,
	}}
	ask := func(method, host, path, body, token string) (*http.Response, string) {
		t.Helper()
		req, err := http.NewRequest(method, "https://"+m[1]+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Host = host
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := client.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, 2, resp.ProtoMajor)
		return resp, string(text)
	}
	status := func(resp *http.Response, _ string) int { return resp.StatusCode }
	require.Equal(t, 401, status(ask("PUT", "", "/_shard/nodes/n1", "{}", "wrong")))
	require.Equal(t, 201, status(ask("PUT", "", "/_shard/nodes/n1", `{"addr":"`+l.Addr().String()+`","token":"x"}`, "secret")))
	require.Equal(t, 201, status(ask("PUT", "", "/_shard/tenants/acme", "", "secret")))
	for _, host := range []string{"acme.example.com", "shop.acme.example"} {
		resp, body := ask("GET", host, "/notes", "", "")
		require.Equal(t, 200, resp.StatusCode)
		require.Contains(t, body, `"path":"/t/acme/notes"`)
		require.Equal(t, "https://a.example", resp.Header.Get("Access-Control-Allow-Origin"))
	}
	require.Equal(t, 421, status(ask("GET", "elsewhere.example", "/notes", "", "")))
	_, page := ask("GET", "", "/_metrics", "", "secret")
	require.Contains(t, page, `fenec_router_requests_total{route="tenant",code="2xx"} 2`)
	client.CloseIdleConnections()

	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
	audit, err := os.ReadFile(in("audit"))
	require.NoError(t, err)
	var events []string
	for text := range strings.Lines(string(audit)) {
		var e struct{ Event, Path string }
		require.NoError(t, json.Unmarshal([]byte(text), &e))
		events = append(events, e.Event+" "+e.Path)
	}
	require.Equal(t, []string{"refused /_shard/nodes/n1", "admin /_shard/nodes/n1", "admin /_shard/tenants/acme"}, events)
}
