package http1_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
)

func TestHost(t *testing.T) {
	for value, valid := range map[string]bool{
		"Host: a\r\n": true, "Host: a.example.com.:8080\r\n": true, "Host: 127.0.0.1:1\r\n": true, "Host: a:65535\r\n": true,
		"Host: [::1]\r\n": true, "Host: [::1]:80\r\n": true, "Host: a:\r\n": true, "Host:\r\n": true, "host: a\r\n": true,
		"": false, "Host: a:b\r\n": false, "Host: a:65536\r\n": false, "Host: a:99999999999999999999\r\n": false,
		"Host: a:-1\r\n": false, "Host: a:+1\r\n": false, "Host: a:1:2\r\n": false, "Host: ::1\r\n": false,
		"Host: [::1\r\n": false, "Host: [::1]x\r\n": false, "Host: [::1]:x\r\n": false,
		"Host: a b\r\n": false, "Host: a/b\r\n": false, "Host: u@a\r\n": false, "Host: a, b\r\n": false,
	} {
		var q http1.Request
		err := q.Parse([]byte("GET / HTTP/1.1\r\n" + value + "\r\n"))
		if valid {
			require.NoError(t, err, value)
			continue
		}
		var refused *http1.Error
		require.ErrorAs(t, err, &refused, value)
		require.Equal(t, 400, refused.Status, value)
	}
	var q http1.Request
	require.NoError(t, q.Parse([]byte("GET / HTTP/1.0\r\n\r\n")), "HTTP/1.0 has no hosts")
}
