package router

import (
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// wirePair returns a wire and the other side of its connection.
func wirePair(t *testing.T, limit time.Duration) (*wire, net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	other, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { other.Close() })
	conn, err := l.Accept()
	require.NoError(t, err)
	w := &wire{}
	w.init(conn, limit)
	t.Cleanup(w.close)
	return w, other
}

// bothWays runs a test on a wire that is held and on one that is not.
func bothWays(t *testing.T, limit time.Duration, test func(t *testing.T, w *wire, other net.Conn)) {
	t.Run("plain", func(t *testing.T) {
		w, other := wirePair(t, limit)
		test(t, w, other)
	})
	t.Run("held", func(t *testing.T) {
		w, other := wirePair(t, limit)
		if !w.hold(&spinner{}) {
			t.Skip("connections cannot be held here")
		}
		test(t, w, other)
	})
}

func TestWireCarriesBytes(t *testing.T) {
	bothWays(t, time.Minute, func(t *testing.T, w *wire, other net.Conn) {
		require.False(t, w.ready())
		io.WriteString(other, "hello")
		buf := make([]byte, 5)
		_, err := io.ReadFull(w, buf)
		require.NoError(t, err)
		require.Equal(t, "hello", string(buf))
		large := strings.Repeat("0123456789", 1<<20)
		go io.WriteString(w, large)
		got := make([]byte, len(large))
		_, err = io.ReadFull(other, got)
		require.NoError(t, err)
		require.True(t, string(got) == large)
		other.Close()
		n, err := w.Read(buf)
		require.Zero(t, n)
		require.Equal(t, io.EOF, err)
		require.True(t, w.ready())
	})
}

func TestWireTimesOut(t *testing.T) {
	bothWays(t, 30*time.Millisecond, func(t *testing.T, w *wire, other net.Conn) {
		start := time.Now()
		_, err := w.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.GreaterOrEqual(t, time.Since(start), 30*time.Millisecond)

		piece := make([]byte, 1<<20)
		for err = nil; err == nil; {
			_, err = w.Write(piece)
		}
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	})
}

func TestWireIsReleasedWithItsBytes(t *testing.T) {
	w, other := wirePair(t, time.Minute)
	if !w.hold(&spinner{}) {
		t.Skip("connections cannot be held here")
	}
	require.True(t, w.hold(&spinner{}), "again")
	io.WriteString(other, "ab")
	buf := make([]byte, 1)
	_, err := w.Read(buf)
	require.NoError(t, err)
	require.NoError(t, w.release())
	require.NoError(t, w.release(), "again")
	_, err = w.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "b", string(buf))
	require.True(t, w.hold(&spinner{}))
	io.WriteString(other, "c")
	_, err = w.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "c", string(buf))
}

func TestHeldWireGoesBack(t *testing.T) {
	w, other := wirePair(t, time.Minute)
	back := make(chan struct{})
	w.wentBack = func() { close(back) }
	if !w.hold(&spinner{}) {
		t.Skip("connections cannot be held here")
	}
	go func() {
		<-back
		io.WriteString(other, "x")
	}()
	_, err := w.Read(make([]byte, 1))
	require.NoError(t, err)
	require.Nil(t, w.held)
}

func TestWireInterrupt(t *testing.T) {
	bothWays(t, time.Minute, func(t *testing.T, w *wire, other net.Conn) {
		read := make(chan error)
		go func() {
			_, err := w.Read(make([]byte, 1))
			read <- err
		}()
		w.interrupt()
		require.ErrorIs(t, <-read, os.ErrDeadlineExceeded)
		_, err := w.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "until resume")
		w.resume()
		io.WriteString(other, "x")
		_, err = w.Read(make([]byte, 1))
		require.NoError(t, err)
	})
}

func TestWireAbort(t *testing.T) {
	bothWays(t, time.Minute, func(t *testing.T, w *wire, other net.Conn) {
		read := make(chan error)
		go func() {
			_, err := w.Read(make([]byte, 1))
			read <- err
		}()
		w.abort()
		require.Error(t, <-read)
		_, err := other.Read(make([]byte, 1))
		require.Error(t, err, "the other side sees the end")
		w.close()
		w.close()
		w.abort()
		require.False(t, w.hold(&spinner{}))
	})
}

func TestWireCloseGently(t *testing.T) {
	bothWays(t, time.Minute, func(t *testing.T, w *wire, other net.Conn) {
		io.WriteString(other, "never read")
		io.WriteString(w, "why")
		done := make(chan struct{})
		go func() {
			w.closeGently(time.Minute)
			close(done)
		}()
		got, err := io.ReadAll(other)
		require.NoError(t, err)
		require.Equal(t, "why", string(got))
		other.Close()
		<-done
	})
}
