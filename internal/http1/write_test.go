package http1_test

import (
	"testing"

	"github.com/fenec-go/fenecdb/internal/http1"
	"github.com/stretchr/testify/require"
)

func TestAppend(t *testing.T) {
	head := http1.AppendRequestLine(nil, http1.PATCH, []byte("/a%2Fb?c"))
	head = http1.AppendField(head, "Host", "x")
	head = http1.AppendField(head, []byte("A"), []byte("b"))
	head = http1.AppendLength(head, 12)
	head = http1.AppendEnd(head)
	require.Equal(t, "PATCH /a%2Fb?c HTTP/1.1\r\nHost: x\r\nA: b\r\nContent-Length: 12\r\n\r\n", string(head))

	require.Equal(t, "HTTP/1.1 404 Not Found\r\n", string(http1.AppendStatusLine(nil, 404, nil)))
	require.Equal(t, "HTTP/1.1 200 Fine\r\n", string(http1.AppendStatusLine(nil, 200, []byte("Fine"))))
	require.Equal(t, "HTTP/1.1 200 \r\n", string(http1.AppendStatusLine(nil, 200, []byte{})))
	require.Equal(t, "5\r\nhello\r\n", string(http1.AppendChunk(nil, []byte("hello"))))
	require.Equal(t, "0\r\n\r\n", string(http1.AppendChunk(nil, nil)))
}
