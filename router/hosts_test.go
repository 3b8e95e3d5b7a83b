package router

import (
	"bytes"
	"context"
	"log"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant"
)

func TestParseHosts(t *testing.T) {
	for _, c := range []struct {
		name, text, says string
		want             map[string]string
	}{
		{"empty", "", "", map[string]string{}},
		{"lines", "# ours\n\nAcme.Example acme\n  www.beta.example.\tbeta \r\nacme.example acme", "",
			map[string]string{"acme.example": "acme", "www.beta.example": "beta"}},
		{"one word", "a.example acme\nb.example", "line 2", nil},
		{"three words", "a.example acme beta", "line 1", nil},
		{"name", "a.example Acme", "line 1", nil},
		{"port", "a.example:80 acme", "line 1", nil},
		{"URL", "http://a.example acme", "line 1", nil},
		{"nothing but a dot", ". acme", "line 1", nil},
		{"two tenants", "a.example acme\nA.example beta", "line 2", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseHosts([]byte(c.text))
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func FuzzParseHosts(f *testing.F) {
	f.Add([]byte("# x\na.example acme\n\nb.example. beta\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		hosts, err := parseHosts(text)
		if err != nil {
			return
		}
		for host, name := range hosts {
			require.NoError(t, tenant.CheckName(name))
			require.NotEmpty(t, host)
		}
	})
}

func TestHostsFollowTheirFile(t *testing.T) {
	d, err := OpenDirectory("")
	require.NoError(t, err)
	defer d.Close()
	n := Node{Name: "n1", Addr: "a:1", Token: NewToken("x")}
	require.NoError(t, d.PutNode(n))
	require.NoError(t, d.Place("acme", n))
	file := filepath.Join(t.TempDir(), "hosts")
	var logged bytes.Buffer
	opts := HostOptions{Registry: d, Domain: "example.com", File: file, ErrorLog: log.New(&logged, "", 0)}
	_, err = OpenHosts(opts)
	require.ErrorIs(t, err, os.ErrNotExist)

	// Two writes may fall into one tick of the file system.
	touched := time.Now()
	write := func(text string) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		touched = touched.Add(time.Hour)
		require.NoError(t, os.Chtimes(file, touched, touched))
	}
	write("shop.acme.example acme\n")
	h, err := OpenHosts(opts)
	require.NoError(t, err)
	outcome := func(host string) tenant.Outcome {
		res, err := h.Resolve(context.Background(), tenant.Request{Host: host, Path: "/notes"})
		require.NoError(t, err)
		return res.Outcome
	}
	later := func() { h.looked -= lookAtHosts }
	require.Equal(t, tenant.Found, outcome("SHOP.acme.example:443"))
	require.Equal(t, tenant.Found, outcome("acme.example.com"))
	require.Equal(t, tenant.Unknown, outcome("beta.example.com"))
	require.Equal(t, tenant.NotServed, outcome("www.acme.example"))

	write("www.acme.example acme\n")
	require.Equal(t, tenant.NotServed, outcome("www.acme.example"), "it is not looked at again so soon")
	later()
	require.Equal(t, tenant.Found, outcome("www.acme.example"))
	require.Equal(t, tenant.NotServed, outcome("shop.acme.example"))

	write("nonsense\n")
	for range 3 {
		later()
		require.Equal(t, tenant.Found, outcome("www.acme.example"), "what it said last stays")
	}
	require.Equal(t, 1, bytes.Count(logged.Bytes(), []byte("line 1")), "it is told once: %s", &logged)
	require.NoError(t, os.Remove(file))
	for range 3 {
		later()
		require.Equal(t, tenant.Found, outcome("www.acme.example"))
	}
	require.Equal(t, 2, bytes.Count(logged.Bytes(), []byte("\n")))
	write("shop.acme.example acme\n")
	later()
	require.Equal(t, tenant.Found, outcome("shop.acme.example"))
}
