package process

import (
	"bytes"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOpenRefusesToBeExposed(t *testing.T) {
	open := Guard{TokenFlag: "--http-token"}
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0"} {
		_, err := Open(addr, open)
		require.ErrorIs(t, err, ErrExposed, addr)
		require.ErrorContains(t, err, "--http-token")
	}
	for _, g := range []Guard{{Token: true}, {Insecure: true}} {
		ln, err := Open("0.0.0.0:0", g)
		require.NoError(t, err)
		require.NoError(t, ln.Close())
	}
	ln, err := Open("localhost:0", open)
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	_, err = Open("nonsense", open)
	require.Error(t, err)
}

func TestAnnounce(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	for _, tc := range []struct {
		guard        Guard
		scheme, ends string
	}{
		{Guard{}, "http", "[no auth]"},
		{Guard{Token: true}, "http", "[token]"},
		{Guard{Token: true, ReadOnly: true}, "http", "[token, read only]"},
		{Guard{ReadOnly: true, TLS: true}, "https", "[no auth, read only]"},
	} {
		var b bytes.Buffer
		url := tc.scheme + "://" + ln.Addr().String()
		Announce(&b, "fenec-http", "1.2.3", ln, tc.guard)
		require.Equal(t, "fenec-http 1.2.3 listening on: "+url+"  "+tc.ends+"\n", b.String())
		b.Reset()
		AnnounceMetrics(&b, ln, tc.guard)
		require.Equal(t, "metrics on: "+url+"/_metrics  "+tc.ends+"\n", b.String())
	}
}
