package router

import (
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// idlePeer returns a peer with n connections that can be used, and the other
// sides of those.
func idlePeer(t *testing.T, n int) (*peer, []*upstream, []net.Conn) {
	p := &peer{}
	var ups []*upstream
	var others []net.Conn
	for range n {
		w, other := wirePair(t, time.Minute)
		u := newUpstream(w.conn, p, time.Minute)
		p.give(u)
		ups, others = append(ups, u), append(others, other)
	}
	return p, ups, others
}

func TestPeerTakesTheNewest(t *testing.T) {
	p, ups, others := idlePeer(t, 3)
	require.Same(t, ups[2], p.take())
	others[1].Close()
	ups[1].wire.conn.Read(make([]byte, 1)) // the end has arrived
	require.Same(t, ups[0], p.take(), "one that has ended is passed over")
	require.True(t, ups[1].closed)
	require.Nil(t, p.take())
}

func TestPeerPassesOverOldConnections(t *testing.T) {
	p, ups, _ := idlePeer(t, 2)
	ups[0].since -= idleLimit + time.Second
	ups[1].since -= idleLimit + time.Second
	require.Nil(t, p.take())
	require.True(t, ups[0].closed)
	require.True(t, ups[1].closed)
}

func TestPeerKeepsAtMost(t *testing.T) {
	p, ups, _ := idlePeer(t, maxIdle+2)
	require.Len(t, p.idle, maxIdle)
	require.True(t, ups[0].closed)
	require.True(t, ups[1].closed)
	require.False(t, ups[2].closed)

	used := p.take()
	p.retire()
	require.Empty(t, p.idle)
	require.True(t, ups[2].closed)
	require.False(t, used.closed)
	p.give(used)
	require.True(t, used.closed, "it is closed when it comes back")
}

// Connections that nobody uses are closed without a request that would look at them, and
// nothing runs when none is left.
func TestPeerClosesOldConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, ups, _ := idlePeer(t, 2)
		idle := func() ([]*upstream, *time.Timer) {
			p.mu.Lock()
			defer p.mu.Unlock()
			return slices.Clone(p.idle), p.aging
		}
		time.Sleep(idleLimit / 2)
		synctest.Wait()
		used := p.take()
		require.Same(t, ups[1], used)
		p.give(used)
		time.Sleep(idleLimit/2 + time.Millisecond)
		synctest.Wait()
		require.True(t, ups[0].closed)
		left, _ := idle()
		require.Equal(t, []*upstream{used}, left)
		time.Sleep(idleLimit / 2)
		synctest.Wait()
		require.True(t, used.closed)
		left, aging := idle()
		require.Empty(t, left)
		require.Nil(t, aging)

		again := newUpstream(nil, p, time.Minute)
		p.give(again)
		_, aging = idle()
		require.NotNil(t, aging)
		require.Same(t, again, p.pop())
		time.Sleep(idleLimit + time.Millisecond)
		synctest.Wait()
		_, aging = idle()
		require.Nil(t, aging)
	})
}
