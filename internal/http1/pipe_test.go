package http1_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// pipes is a listener whose connections are pipes, for tests in a bubble whose
// time is not the world's.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// served is a server in a bubble.
type served struct {
	*http1.Server
	pipes *pipes
	log   *strings.Builder
}

// bubble runs a test against a server of h in a bubble of its own.
func bubble(t *testing.T, opts http1.ServerOptions, h http.HandlerFunc, test func(t *testing.T, s *served)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &served{pipes: newPipes(), log: &strings.Builder{}}
		opts.ErrorLog = log.New(s.log, "", 0)
		s.Server = http1.NewServer(h, opts)
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(s.pipes) }()
		defer func() {
			require.NoError(t, s.Close())
			require.ErrorIs(t, <-ended, http.ErrServerClosed)
			require.Zero(t, s.ConnCount())
		}()
		test(t, s)
	})
}

// talk sends raw in one piece and returns all that comes until the server ends
// the connection, or until nothing happens any more.
func (s *served) talk(raw string) string { return s.talkOn(s.pipes.dial(), raw) }

func (s *served) talkOn(conn net.Conn, raw string) string {
	go io.WriteString(conn, raw)
	var got strings.Builder
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(&got, conn)
	}()
	synctest.Wait()
	conn.Close()
	<-done
	return got.String()
}

// reply is a parsed answer.
type reply struct {
	status int
	header http.Header
	close  bool // it says that the connection ends
	body   string
}

// replies parses answers to requests that are no HEADs.
func replies(t *testing.T, raw string) []reply {
	t.Helper()
	var out []reply
	for r := bufio.NewReader(strings.NewReader(raw)); ; {
		if _, err := r.Peek(1); errors.Is(err, io.EOF) {
			return out
		}
		res, err := http.ReadResponse(r, nil)
		require.NoError(t, err, "%q", raw)
		if res.StatusCode == http.StatusContinue {
			continue
		}
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err, "%q", raw)
		out = append(out, reply{res.StatusCode, res.Header, res.Close, string(body)})
	}
}

func statuses(rs []reply) string {
	var out []string
	for _, r := range rs {
		out = append(out, fmt.Sprint(r.status))
	}
	return strings.Join(out, " ")
}

// echo answers with the method, the target and the body, or with why there is
// none.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "%s %s %s", r.Method, r.RequestURI, body)
}

// after waits in a bubble's time.
func after(d time.Duration) { <-time.After(d) }
