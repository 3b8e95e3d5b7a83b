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
	var b bytes.Buffer
	Announce(&b, "fenec-http", "1.2.3", ln, Guard{Token: true})
	require.Equal(t, "fenec-http 1.2.3 listening on: http://"+ln.Addr().String()+"  [token]\n", b.String())
	b.Reset()
	Announce(&b, "fenec-http", "1.2.3", ln, Guard{})
	require.Contains(t, b.String(), "  [no auth]\n")
}
