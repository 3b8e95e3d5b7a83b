package replication

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhomAWriteWaitsFor(t *testing.T) {
	var a Audience
	require.True(t, a.Reached(5), "nobody is there")

	a.Join(1, "n1")
	require.True(t, a.Reached(5), "who has just come lags")
	a.Sent(1, 3, false)
	require.True(t, a.Reached(5))
	a.Sent(1, 4, true)
	require.False(t, a.Reached(5))
	require.True(t, a.Reached(4))

	a.Join(2, "n2")
	a.Sent(2, 5, true)
	require.False(t, a.Reached(5))
	a.Missed(5)
	require.True(t, a.Reached(6-1))
	require.False(t, a.Reached(6), "the second keeps up")
	a.Sent(1, 9, false)
	require.False(t, a.Reached(6))
	a.Leave(2)
	require.True(t, a.Reached(10), "the first still lags")
	a.Sent(1, 9, true)
	require.False(t, a.Reached(10))
	a.Leave(1)
	a.Leave(1)
	require.True(t, a.Reached(10))
	a.Sent(1, 10, true) // of one that has left
	a.Held(1, 10)
	require.Zero(t, a.Copies(1))
}

func TestCopies(t *testing.T) {
	var a Audience
	a.Join(1, "n1")
	a.Join(2, "n2")
	a.Join(3, "")
	for stream := range uint64(4) {
		a.Sent(stream, 5, true)
		a.Held(stream, 5)
	}
	require.Equal(t, 2, a.Copies(5), "who has no name is no copy")
	require.Zero(t, a.Copies(6))
	a.Held(1, 8)
	require.Zero(t, a.Copies(6), "it was not sent")
	a.Sent(1, 7, true)
	require.Equal(t, 1, a.Copies(7))
	require.Zero(t, a.Copies(8))

	a.Join(4, "n1")
	require.Equal(t, 1, a.Copies(5), "the older stream of n1 does not count")
	a.Held(1, 9)
	a.Sent(4, 5, true)
	a.Held(4, 5)
	require.Equal(t, 2, a.Copies(5))
	require.Zero(t, a.Copies(6))
	a.Held(4, 2)
	require.Equal(t, 2, a.Copies(5), "what was on disk stays there")
}

// The audience against one that counts everything anew.
func TestAudienceAgainstCounting(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	type plain struct {
		name       string
		sent, held uint64
		lags, old  bool
	}
	for range 300 {
		var a Audience
		streams := map[uint64]*plain{}
		next := uint64(0)
		for range 60 {
			stream, seq := rnd.Uint64N(next+1), rnd.Uint64N(20)
			s := streams[stream]
			switch rnd.IntN(6) {
			case 0:
				next++
				name := fmt.Sprint(rnd.IntN(3))
				for _, other := range streams {
					other.old = other.old || other.name == name
				}
				a.Join(next, name)
				streams[next] = &plain{name: name, lags: true}
			case 1:
				a.Leave(stream)
				delete(streams, stream)
			case 2, 3:
				all := rnd.IntN(2) == 0
				a.Sent(stream, seq, all)
				if s != nil {
					s.sent = max(s.sent, seq)
					s.lags = s.lags && !all
				}
			case 4:
				a.Held(stream, seq)
				if s != nil {
					s.held = max(s.held, seq)
				}
			case 5:
				a.Missed(seq)
				for _, s := range streams {
					s.lags = s.lags || s.sent < seq
				}
			}
			for seq := range uint64(20) {
				reached, copies := true, 0
				for _, s := range streams {
					reached = reached && (s.lags || s.sent >= seq)
					if !s.old && s.held >= seq && s.sent >= seq {
						copies++
					}
				}
				require.Equal(t, reached, a.Reached(seq))
				require.Equal(t, copies, a.Copies(seq))
			}
		}
	}
}
