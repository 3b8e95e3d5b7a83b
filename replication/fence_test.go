package replication

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// at is a moment at which both clocks say the same.
func at(d time.Duration) Instant { return Instant{Boot: d, Wall: d} }

const ms = time.Millisecond

func grant(t *testing.T, text string) Grant {
	t.Helper()
	g, err := ParseGrant([]byte(text))
	require.NoError(t, err)
	return g
}

func TestFence(t *testing.T) {
	const e1 = `{"ms":60000,"epoch":"e1","primaries":["a"]}`
	type step struct {
		at    time.Duration
		grant string // given if not empty
		err   error  // of the grant
		a, b  error  // of writes to the tenants a and b, afterwards
	}
	for name, steps := range map[string][]step{
		"no grant yet": {{a: ErrNoLease, b: ErrNoLease}},
		"a list": {
			{grant: e1, b: ErrElsewhere},
			{at: 59999 * ms, b: ErrElsewhere},
			{at: 60000 * ms, a: ErrLapsed, b: ErrLapsed},
		},
		"renewed": {
			{grant: e1, b: ErrElsewhere},
			{at: 50000 * ms, grant: `{"ms":60000,"epoch":"e1"}`, b: ErrElsewhere},
			{at: 109999 * ms, b: ErrElsewhere},
			{at: 110000 * ms, a: ErrLapsed, b: ErrLapsed},
		},
		"renewed after it lapsed": {
			{grant: `{"ms":1,"epoch":"e1","primaries":["a"]}`, b: ErrElsewhere},
			{at: 20 * ms, a: ErrLapsed, b: ErrLapsed},
			{at: 30 * ms, grant: `{"ms":1,"epoch":"e1"}`, b: ErrElsewhere},
		},
		"a list it does not hold": {
			{grant: `{"ms":60000,"epoch":"e1"}`, err: ErrMismatch, a: ErrNoLease, b: ErrNoLease},
			{grant: e1, b: ErrElsewhere},
			{grant: `{"ms":60000,"epoch":"e2"}`, err: ErrMismatch, b: ErrElsewhere},
			{grant: `{"ms":60000,"epoch":"e2","primaries":["b"]}`, a: ErrElsewhere},
			{grant: `{"ms":60000,"epoch":"e3","primaries":[]}`, a: ErrElsewhere, b: ErrElsewhere},
		},
		"a list of null is none": {
			{grant: `{"ms":60000,"epoch":"e1","primaries":null}`, err: ErrMismatch, a: ErrNoLease, b: ErrNoLease},
		},
		"a nonce it did not give": {
			{grant: `{"ms":60000,"epoch":"e1","primaries":["a"],"nonce":"0"}`, err: ErrMismatch, a: ErrNoLease, b: ErrNoLease},
		},
		"a directory with fewer forks": {
			{grant: `{"ms":60000,"epoch":"e1","primaries":["a"],"history":"000000000000000a","forks":2}`, b: ErrElsewhere},
			{grant: `{"ms":60000,"epoch":"e2","primaries":["b"],"history":"000000000000000b","forks":1}`, err: ErrSuperseded, b: ErrElsewhere},
			{grant: `{"ms":60000,"epoch":"e2","primaries":["b"]}`, err: ErrSuperseded, b: ErrElsewhere},
			{grant: `{"ms":60000,"epoch":"e2","primaries":["b"],"history":"000000000000000b","forks":2}`, err: ErrSuperseded, b: ErrElsewhere},
			{grant: `{"ms":60000,"epoch":"e2","primaries":["b"],"history":"000000000000000b","forks":3}`, a: ErrElsewhere},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := NewFence(0, Authority{})
			for i, s := range steps {
				if s.grant != "" {
					_, err := f.Grant(at(s.at), grant(t, s.grant))
					require.ErrorIs(t, err, s.err, "step %d", i)
				}
				require.ErrorIs(t, f.Admits(at(s.at), "a"), s.a, "step %d, a", i)
				require.ErrorIs(t, f.Admits(at(s.at), "b"), s.b, "step %d, b", i)
			}
		})
	}
}

func TestFenceTexts(t *testing.T) {
	require.ErrorContains(t, ErrNoLease, "no lease")
	require.ErrorContains(t, ErrLapsed, "lapsed")
	require.ErrorContains(t, ErrElsewhere, "another node")
}

func TestParseGrant(t *testing.T) {
	require.Equal(t,
		Grant{MS: 5, Epoch: "e", Nonce: "n", Primaries: []string{"a"}, History: 10, Forks: 1},
		grant(t, `{"ms":5,"epoch":"e","nonce":"n","primaries":["a"],"history":"000000000000000a","forks":1}`))
	for _, text := range []string{
		``, `[]`, `{"ms":0,"epoch":"e"}`, `{"ms":-1,"epoch":"e"}`, `{"epoch":"e"}`, `{"ms":1}`, `{"ms":1,"epoch":""}`,
		`{"ms":1.5,"epoch":"e"}`, `{"ms":9223372036854775807,"epoch":"e"}`, `{"ms":1,"epoch":7}`,
		`{"ms":1,"epoch":"e","primaries":[1]}`, `{"ms":1,"epoch":"e","primaries":"a"}`, `{"ms":1,"epoch":"e","history":"a"}`,
	} {
		_, err := ParseGrant([]byte(text))
		require.ErrorIs(t, err, ErrCorrupt, text)
	}
}

func FuzzParseGrant(f *testing.F) {
	f.Add(`{"ms":5,"epoch":"e","nonce":"n","primaries":["a"],"history":"000000000000000a","forks":1}`)
	f.Add(`{"ms":5,"epoch":"e","primaries":[]}`)
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseGrant([]byte(text))
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		again, err := json.Marshal(g)
		require.NoError(t, err)
		parsed, err := ParseGrant(again)
		require.NoError(t, err)
		require.Equal(t, g, parsed)
		_, err = NewFence(1, Authority{}).Grant(at(0), g)
		require.NotErrorIs(t, err, ErrCorrupt)
	})
}

func TestFenceState(t *testing.T) {
	f := NewFence(1, Authority{})
	text := func(now time.Duration) string {
		st, err := f.State(at(now))
		require.NoError(t, err)
		b, err := json.Marshal(st)
		require.NoError(t, err)
		return string(b)
	}
	require.JSONEq(t, `{"epoch":null,"primaries":0,"left_ms":null}`, text(0))
	st, err := f.Grant(at(0), grant(t, `{"ms":5000,"epoch":"e1","primaries":["a","b"]}`))
	require.NoError(t, err)
	require.NotEmpty(t, st.Nonce, "an answer has a nonce, which a look does not")
	require.JSONEq(t, `{"epoch":"e1","primaries":2,"left_ms":4000}`, text(1000*ms))
	require.JSONEq(t, `{"epoch":"e1","primaries":2,"left_ms":0}`, text(7000*ms))
}

func TestNodeWithoutLeases(t *testing.T) {
	var f *Fence
	_, err := f.Grant(at(0), Grant{MS: 1, Epoch: "e"})
	require.ErrorIs(t, err, ErrUnfenced)
	_, err = f.State(at(0))
	require.ErrorIs(t, err, ErrUnfenced)
	require.NoError(t, f.Admits(at(0), "a"))
}

// A grant of a program's, not of a text that was parsed.
func TestFenceRefusesBadGrants(t *testing.T) {
	_, err := NewFence(0, Authority{}).Grant(at(0), Grant{Epoch: "e", Primaries: []string{}})
	require.ErrorIs(t, err, ErrCorrupt)
}

// leased returns a fence that was granted the tenant a for a second with a nonce
// it gave at 0, and its next nonce, given at 100 ms.
func leased(t *testing.T) (*Fence, string) {
	t.Helper()
	f := NewFence(7, Authority{})
	st, err := f.Grant(at(0), Grant{MS: 1000, Epoch: "e", Nonce: unknownNonce, Primaries: []string{"a"}})
	require.ErrorIs(t, err, ErrMismatch)
	st, err = f.Grant(at(100*ms), Grant{MS: 1000, Epoch: "e", Nonce: st.Nonce, Primaries: []string{"a"}})
	require.NoError(t, err)
	return f, st.Nonce
}

func TestTermBeginsWithTheNonce(t *testing.T) {
	f, nonce := leased(t)
	require.NoError(t, f.Admits(at(999*ms), "a"))
	require.ErrorIs(t, f.Admits(at(1000*ms), "a"), ErrLapsed)

	// However late a grant by the next nonce comes, even past its term.
	st, err := f.Grant(at(1090*ms), Grant{MS: 1000, Epoch: "e", Nonce: nonce})
	require.NoError(t, err)
	require.Equal(t, int64(10), *st.LeftMS)
	require.ErrorIs(t, f.Admits(at(1100*ms), "a"), ErrLapsed)
	st, err = f.Grant(at(5000*ms), Grant{MS: 1000, Epoch: "e", Nonce: st.Nonce})
	require.NoError(t, err)
	require.Zero(t, *st.LeftMS)
	require.ErrorIs(t, f.Admits(at(5000*ms), "a"), ErrLapsed)
}

// A grant that comes twice, or after the one that was sent after it.
func TestNonceIsTakenOnce(t *testing.T) {
	f, nonce := leased(t)
	earlier := Grant{MS: 1000, Epoch: "with", Nonce: nonce, Primaries: []string{"a", "b"}}
	later := Grant{MS: 1000, Epoch: "without", Nonce: nonce, Primaries: []string{"a"}}
	_, err := f.Grant(at(200*ms), later)
	require.NoError(t, err)
	for _, late := range []Grant{earlier, later} {
		_, err = f.Grant(at(300*ms), late)
		require.ErrorIs(t, err, ErrMismatch)
	}
	require.ErrorIs(t, f.Admits(at(300*ms), "b"), ErrElsewhere)
	require.ErrorIs(t, f.Admits(at(1100*ms), "a"), ErrLapsed)
}

func TestRestartedNodeKnowsNoOldNonce(t *testing.T) {
	_, nonce := leased(t)
	f := NewFence(1<<40, Authority{})
	_, err := f.Grant(at(200*ms), Grant{MS: 1000, Epoch: "e", Nonce: nonce, Primaries: []string{"a"}})
	require.ErrorIs(t, err, ErrMismatch)
	require.ErrorIs(t, f.Admits(at(200*ms), "a"), ErrNoLease)
}

func TestNoncePassesOverTheUnknownOne(t *testing.T) {
	f := NewFence(1<<64-1, Authority{})
	st, err := f.Grant(at(0), Grant{MS: 1, Epoch: "e"})
	require.ErrorIs(t, err, ErrMismatch)
	require.NotEqual(t, unknownNonce, st.Nonce)
}

// A lease is over as soon as one clock says so.
func TestEitherClockEndsALease(t *testing.T) {
	for name, c := range map[string]struct {
		now  Instant
		want error
	}{
		"both go on":               {at(600 * ms), nil},
		"wall clock set back":      {Instant{Boot: 600 * ms, Wall: -time.Hour}, nil},
		"set back, and it is over": {Instant{Boot: 1000 * ms, Wall: -time.Hour}, ErrLapsed},
		"wall clock set forward":   {Instant{Boot: 600 * ms, Wall: time.Hour}, ErrLapsed},
		"suspended, first stops":   {Instant{Boot: 150 * ms, Wall: 2 * time.Second}, ErrLapsed},
		"suspended, first counts":  {Instant{Boot: 2 * time.Second, Wall: 2 * time.Second}, ErrLapsed},
	} {
		f, _ := leased(t)
		require.ErrorIs(t, f.Admits(c.now, "a"), c.want, name)
	}
}

func BenchmarkAdmits(b *testing.B) {
	f := NewFence(1, Authority{})
	g := Grant{MS: 60000, Epoch: "e"}
	for i := range 10_000 {
		g.Primaries = append(g.Primaries, fmt.Sprintf("tenant%d", i))
	}
	if _, err := f.Grant(at(0), g); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := f.Admits(at(1), "tenant77"); err != nil {
			b.Fatal(err)
		}
	}
}
