package jwt_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve/internal/jwt"
)

// Each line's times are relative to 2026-03-01T12:00:00Z, 1772366400.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		claims string
		after  time.Duration // that the clock shows past the start
		maxAge time.Duration
		noEnd  bool
		want   error
	}{
		{claims: `{"exp":1772366401}`},
		{claims: `{"exp":1772366400}`, want: jwt.ErrExpired},
		{claims: `{"exp":1772366399}`, want: jwt.ErrExpired},
		{claims: `{"exp":1772366401}`, after: time.Second - 1},
		{claims: `{"exp":1772366401}`, after: time.Second, want: jwt.ErrExpired},
		{claims: `{"exp":1772366400.5}`, after: time.Second/2 - 1},
		{claims: `{"exp":1772366400.5}`, after: time.Second / 2, want: jwt.ErrExpired},
		{claims: `{"exp":1772366400.1}`, after: 99_999_904}, // the nearest float is 1772366400.0999999046…
		{claims: `{"exp":1772366400.1}`, after: 99_999_905, want: jwt.ErrExpired},
		{claims: `{"exp":1.7723664e9}`, want: jwt.ErrExpired},
		{claims: `{"exp":17723664010e-1}`},
		{claims: `{"exp":0}`, want: jwt.ErrExpired},
		{claims: `{"exp":-1}`, want: jwt.ErrExpired},
		{claims: `{"exp":9223372036854775807}`},
		{claims: `{"exp":9223372036854775808}`},
		{claims: `{"exp":18446744073709551616}`}, // 2^64, that wraps to 0
		{claims: `{"exp":18446744075481918016}`}, // 2^64 + 1772366400
		{claims: `{"exp":-18446744071937185215}`, want: jwt.ErrExpired},
		{claims: `{"exp":9223372037}`}, // past what nanoseconds reach
		{claims: `{"exp":1e300}`},
		{claims: `{"exp":-1e300}`, want: jwt.ErrExpired},
		{claims: `{"exp":1e400}`, want: jwt.ErrMalformed},
		{claims: `{"exp":1e-400}`, want: jwt.ErrExpired},
		{claims: `{"exp":"1772370000"}`, want: jwt.ErrMalformed},
		{claims: `{"exp":null}`, want: jwt.ErrMalformed},
		{claims: `{"exp":[1772370000]}`, want: jwt.ErrMalformed},
		{claims: `{"exp":true}`, want: jwt.ErrMalformed},
		{claims: `{"EXP":1772370000}`, want: jwt.ErrNoEnd},
		{claims: `{}`, want: jwt.ErrNoEnd},
		{claims: `{}`, noEnd: true},
		{claims: `{"exp":1}`, noEnd: true, want: jwt.ErrExpired},
		{claims: `{"exp":1772370000,"nbf":1772366400}`},
		{claims: `{"exp":1772370000,"nbf":1772366400}`, after: -1, want: jwt.ErrEarly},
		{claims: `{"exp":1772370000,"nbf":1772366401}`, want: jwt.ErrEarly},
		{claims: `{"exp":1772370000,"nbf":1772366400.000000001}`, want: nil}, // the nearest float is 1772366400
		{claims: `{"exp":1772370000,"nbf":1772366400.25}`, after: time.Second/4 - 1, want: jwt.ErrEarly},
		{claims: `{"exp":1772370000,"nbf":1772366400.25}`, after: time.Second / 4},
		{claims: `{"exp":1772370000,"nbf":1e300}`, want: jwt.ErrEarly},
		{claims: `{"exp":1772370000,"nbf":-1e300}`},
		{claims: `{"exp":1772370000,"nbf":"now"}`, want: jwt.ErrMalformed},
		{claims: `{"exp":1772367000}`, maxAge: 10 * time.Minute},
		{claims: `{"exp":1772367000}`, maxAge: 10 * time.Minute, after: -1, want: jwt.ErrTooLong},
		{claims: `{"exp":1772367001}`, maxAge: 10 * time.Minute, want: jwt.ErrTooLong},
		{claims: `{"exp":1772367000.25}`, maxAge: 10 * time.Minute, want: jwt.ErrTooLong},
		{claims: `{"exp":1e300}`, maxAge: 10 * time.Minute, want: jwt.ErrTooLong},
		{claims: `{"exp":1e300}`, maxAge: 1<<63 - 1},
		{claims: `{}`, maxAge: 10 * time.Minute, noEnd: true, want: jwt.ErrNoEnd},
	} {
		at := newClock()
		o := secretOptions(t, at)
		o.NoEnd, o.MaxAge = c.noEnd, c.maxAge
		v, _, _ := open(t, o)
		at.pass(c.after)
		_, err := v.Verify(raw(t, hs256Header, c.claims))
		if c.want == nil {
			require.NoError(t, err, c.claims)
			continue
		}
		require.ErrorIs(t, err, c.want, c.claims)
	}
}

// A token that was taken once is refused when its time has passed, and a clock
// that was set back makes it valid again.
func TestTimesAreLookedAtEveryTime(t *testing.T) {
	at := newClock()
	v, _, _ := open(t, secretOptions(t, at))
	token := raw(t, hs256Header, `{"exp":1772366460,"nbf":1772366400}`)
	for _, step := range []struct {
		pass time.Duration
		want error
	}{
		{0, nil},
		{time.Minute - 1, nil},
		{1, jwt.ErrExpired},
		{time.Hour, jwt.ErrExpired},
		{-time.Hour - 1, nil},
		{-time.Minute, jwt.ErrEarly},
	} {
		at.pass(step.pass)
		_, err := v.Verify(token)
		require.ErrorIs(t, err, step.want)
	}
	require.ErrorContains(t, jwt.ErrExpired, "has expired")
}

func TestClaims(t *testing.T) {
	v, _, _ := open(t, secretOptions(t, newClock()))
	read := func(claims string) *jwt.Claims {
		a, err := v.Verify(raw(t, hs256Header, claims))
		require.NoError(t, err)
		return a.Claims
	}
	c := read(`{"sub":"ada","exp":1772370000.5,"role":["x","app"],"n":9007199254740993,"rooms":["r1"],"mixed":["a",1],"z":null}`)
	require.Equal(t, "ada", c.Subject())
	require.True(t, c.HasRole("app"))
	require.True(t, c.HasRole("x"))
	require.False(t, c.HasRole("a"))
	require.False(t, c.HasRole(""))
	ends, ok := c.Expires()
	require.True(t, ok)
	require.Equal(t, start.Add(time.Hour+time.Second/2).UnixNano(), ends.UnixNano())
	n, ok := c.Get("n")
	require.True(t, ok)
	require.EqualValues(t, 9007199254740993, n.AsInt(), "exact")
	z, ok := c.Get("z")
	require.True(t, ok && z.IsNull())
	_, ok = c.Get("N")
	require.False(t, ok)
	rooms, ok := c.Texts("rooms")
	require.True(t, ok)
	require.Equal(t, []string{"r1"}, rooms)
	for _, other := range []string{"mixed", "n", "none", "z"} {
		_, ok = c.Texts(other)
		require.False(t, ok, other)
	}

	c = read(`{"sub":7,"exp":1772370000,"role":"app"}`)
	require.Empty(t, c.Subject())
	require.True(t, c.HasRole("app"))
	require.False(t, read(inAnHour).HasRole("app"))
}
