package mirror

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/secret"
	"github.com/fenec-go/fenecdb/replication"
)

// raw is a replica's side of a stream, read message by message.
type raw struct {
	t    testing.TB
	res  *http.Response
	in   *replication.Decoder
	stop context.CancelFunc
}

// ask makes a request of a place, below "/_replication".
func (p *place) ask(method, path string, header ...string) *raw {
	p.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, method, "http://primary:1/_replication"+path, nil)
	require.NoError(p.t, err)
	r.Header.Set("Authorization", "Bearer "+secret.Reveal(token))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := p.dial.transport().RoundTrip(r)
	require.NoError(p.t, err)
	p.t.Cleanup(func() { stop(); res.Body.Close() })
	return &raw{p.t, res, replication.NewDecoder(res.Body), stop}
}

// stream opens a stream and reads its hello.
func (p *place) stream(query string, header ...string) (*raw, replication.Hello) {
	p.t.Helper()
	s := p.ask(http.MethodGet, "?"+query, header...)
	require.Equal(p.t, http.StatusOK, s.res.StatusCode)
	require.Equal(p.t, replication.ContentType, s.res.Header.Get("Content-Type"))
	hello, ok := s.next().(replication.Hello)
	require.True(p.t, ok)
	return s, hello
}

func (s *raw) next() replication.Message {
	s.t.Helper()
	m, err := s.in.Next()
	require.NoError(s.t, err)
	return m
}

func (s *raw) writes() replication.Writes {
	s.t.Helper()
	w, ok := s.next().(replication.Writes)
	require.True(s.t, ok)
	return w
}

// image reads an image, and returns its length.
func (s *raw) image() int64 {
	s.t.Helper()
	m, ok := s.next().(replication.Image)
	require.True(s.t, ok)
	n, err := io.Copy(io.Discard, m.Reader)
	require.NoError(s.t, err)
	return n
}

// end reads to the end of the stream, and returns the reason.
func (s *raw) end() string {
	s.t.Helper()
	for {
		if e, ok := s.next().(replication.End); ok {
			return e.Reason
		}
	}
}

// body reads a JSON answer.
func (s *raw) body(status int) (out map[string]any) {
	s.t.Helper()
	require.Equal(s.t, status, s.res.StatusCode)
	require.NoError(s.t, json.NewDecoder(s.res.Body).Decode(&out))
	return out
}

func (s *raw) refused(status int, word string) {
	s.t.Helper()
	text, _ := s.body(status)["error"].(string)
	require.True(s.t, strings.Contains(text, word), "%q does not contain %q", text, word)
}
