package replication

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAsk(t *testing.T) {
	at := Position{Last: 5, Lineage: Lineage{{ID: 7, From: 1}, {ID: 9, From: 3}}}
	var f Follower
	require.Equal(t, Request{Since: 5, History: 9}, f.Ask(at))
	f.Lost(Broken)
	require.Equal(t, Request{Since: 5, History: 9}, f.Ask(at))
	f.Lost(Unfit)
	require.Equal(t, Request{Since: 5, History: 9, Image: true}, f.Ask(at))
	f.Lost(Broken)
	require.True(t, f.Ask(at).Image, "until there was one")
	f.Stored()
	f.Lost(Broken)
	require.False(t, f.Ask(at).Image)
	require.Equal(t, Request{}, f.Ask(Position{Lineage: at.Lineage}), "nothing is a part of everything")
}

func TestGreet(t *testing.T) {
	old := Lineage{{ID: 7, From: 0}}
	forked := Lineage{{ID: 7, From: 0}, {ID: 9, From: 20}}
	at := func(last uint64, l Lineage) Position { return Position{last, l} }
	hello := func(seq uint64, l Lineage) Hello { return Hello{Seq: seq, History: History{Lineage: l}} }
	image := func(seq uint64) Hello { return Hello{Image: true, Seq: seq, History: History{Lineage: forked}} }
	for name, c := range map[string]struct {
		asked, now Position
		image      bool // was asked for
		hello      Hello
		want       Greeting
		unfit      bool
	}{
		"the same lineage":             {at(18, old), at(18, old), false, hello(18, old), Greeting{}, false},
		"a new one":                    {at(18, old), at(18, old), false, hello(25, forked), Greeting{Lineage: forked}, false},
		"at the fork":                  {at(20, old), at(20, old), false, hello(25, forked), Greeting{Lineage: forked}, false},
		"past the fork":                {at(21, old), at(21, old), false, hello(25, forked), Greeting{}, true},
		"the fork on this side":        {at(21, forked), at(21, forked), false, hello(25, old), Greeting{}, true},
		"nothing here":                 {at(0, nil), at(0, nil), false, hello(25, forked), Greeting{Lineage: forked}, false},
		"nothing here but a history":   {at(0, old), at(0, old), false, hello(25, forked[1:]), Greeting{Lineage: forked[1:]}, false},
		"the primary is behind":        {at(18, old), at(18, old), false, hello(17, old), Greeting{}, true},
		"an image was wanted":          {at(18, old), at(18, old), true, hello(18, old), Greeting{}, true},
		"written to meanwhile":         {at(18, old), at(19, old), false, hello(25, old), Greeting{}, true},
		"of another history meanwhile": {at(18, old), at(18, forked), false, hello(25, forked), Greeting{}, true},
		"an image":                     {at(18, old), at(18, old), true, image(18), Greeting{Image: true}, false},
		"an image nobody wanted":       {at(18, old), at(18, old), false, image(30), Greeting{Image: true}, false},
		"an image that is behind":      {at(18, old), at(18, old), false, image(11), Greeting{Image: true, Own: true}, false},
		"an image without the fork":    {at(21, old), at(21, old), false, image(30), Greeting{Image: true, Own: true}, false},
		"an image of a stranger":       {at(18, nil), at(18, nil), false, image(30), Greeting{Image: true, Own: true}, false},
	} {
		f := Follower{image: c.image}
		f.Ask(c.asked)
		got, err := f.Greet(c.now, c.hello)
		require.Equal(t, c.want, got, name)
		if c.unfit {
			require.ErrorIs(t, err, ErrUnfit, name)
		} else {
			require.NoError(t, err, name)
		}
	}
}

func TestPauses(t *testing.T) {
	const second = time.Second
	var b Backoff
	for i, want := range []time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 5 * second, 5 * second} {
		require.Equal(t, want, b.Lost(Broken), "failure %d", i)
	}
	require.Equal(t, 30*second, b.Lost(Unstored))
	require.Equal(t, 5*second, b.Lost(Unfit))
	require.Equal(t, 100*ms, b.Lost(Ended))
	require.Equal(t, 100*ms, b.Lost(Broken))
	require.Equal(t, 200*ms, b.Lost(Broken))
	b.Came()
	require.Equal(t, 100*ms, b.Lost(Unfit))
	b.Came()
	require.Equal(t, 30*second, b.Lost(Unstored))
}

// An image that does not help is not asked for again and again.
func TestDiffers(t *testing.T) {
	var f Follower
	require.True(t, f.Differs(time.Hour))
	require.True(t, f.Ask(Position{}).Image)
	f.Stored()
	require.False(t, f.Differs(time.Hour+divergedPause-1))
	require.False(t, f.Ask(Position{}).Image)
	require.True(t, f.Differs(time.Hour+divergedPause))
	require.True(t, f.Ask(Position{}).Image)
}
