package jwt_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve/internal/jwt"
)

// octFile returns a key file of secrets, each 32 times its letter, which is its
// kid too.
func octFile(letters string) string {
	var keys []string
	for _, c := range letters {
		keys = append(keys, fmt.Sprintf(`{"kty":"oct","kid":"%c","k":"%s"}`, c, encode(strings.Repeat(string(c), 32))))
	}
	return `{"keys":[` + strings.Join(keys, ",") + `]}`
}

func octToken(t testing.TB, letter string) string {
	return signer{"HS256", []byte(strings.Repeat(letter, 32))}.sign(t, `{"kid":"`+letter+`"}`, inAnHour)
}

func TestTheKeyFileIsReadAgain(t *testing.T) {
	at := newClock()
	path := keyFile(t, octFile("a"))
	v, _, logged := open(t, jwt.Options{KeyFile: path, Now: at.now})
	a, b := octToken(t, "a"), octToken(t, "b")
	expect := func(taken, refused string) {
		t.Helper()
		_, err := v.Verify(taken)
		require.NoError(t, err)
		_, err = v.Verify(refused)
		require.ErrorIs(t, err, jwt.ErrSignature)
	}
	expect(a, b)

	replace(t, path, octFile("b"), start.Add(-30*time.Minute))
	at.pass(time.Second - 1)
	expect(a, b) // it is not looked at yet
	at.pass(1)
	expect(b, a) // what was remembered is gone with its keys

	at.pass(time.Second)
	replace(t, path, octFile("a")[:40], start.Add(-29*time.Minute))
	expect(b, a)
	require.Equal(t, 1, strings.Count(logged.String(), "the last keys stay"))
	at.pass(time.Second)
	expect(b, a)
	require.Equal(t, 1, strings.Count(logged.String(), "\n"), "the same is not said again")

	require.NoError(t, os.Remove(path))
	at.pass(time.Second)
	expect(b, a)
	require.Equal(t, 2, strings.Count(logged.String(), "\n"))

	replace(t, path, octFile("a"), start.Add(-30*time.Minute))
	at.pass(time.Second)
	expect(a, b)

	replace(t, path, `{"keys":[]}`, start.Add(-28*time.Minute))
	at.pass(time.Second)
	_, err := v.Verify(a)
	require.ErrorIs(t, err, jwt.ErrSignature, "no keys, no tokens")
	require.Contains(t, logged.String(), "all tokens are refused")

	at.pass(-time.Hour) // a clock that is set back does not stop the looks
	replace(t, path, octFile("a"), start.Add(-3*time.Hour))
	expect(a, b)
}

// A file that was written a moment ago may be written again within the tick of its
// file system's clock, and be no longer than before.
func TestAFileThatWasJustWritten(t *testing.T) {
	at := newClock()
	path := keyFile(t, octFile("a"))
	v, _, _ := open(t, jwt.Options{KeyFile: path, Now: at.now})
	at.pass(time.Second)
	replace(t, path, octFile("b"), at.now())
	_, err := v.Verify(octToken(t, "b"))
	require.NoError(t, err)
	replace(t, path, octFile("c"), at.now())
	at.pass(time.Second)
	_, err = v.Verify(octToken(t, "c"))
	require.NoError(t, err)
}

// Touching the file changes no keys, and what was verified stays so.
func TestTheSameKeysAgain(t *testing.T) {
	at := newClock()
	path := keyFile(t, octFile("a"))
	k, err := jwt.Open(jwt.Options{KeyFile: path, Now: at.now})
	require.NoError(t, err)
	calls := 0
	v := jwt.NewVerifier(k, func(*jwt.Claims) (int, error) { calls++; return 0, nil })
	for _, text := range []string{octFile("a"), octFile("a"), octFile("ab"), octFile("ab")} {
		replace(t, path, text, at.now().Add(-time.Minute))
		at.pass(time.Second)
		for range 2 {
			_, err = v.Verify(octToken(t, "a"))
			require.NoError(t, err)
		}
	}
	require.Equal(t, 2, calls)
}

// Keys are replaced while many verify: a token is refused only while its key is
// not there, and never taken after it went and a second passed.
func TestKeysRotateUnderLoad(t *testing.T) {
	at := newClock()
	path := keyFile(t, octFile("a"))
	v, _, _ := open(t, jwt.Options{KeyFile: path, Now: at.now, ErrorLog: quiet})
	always := signer{"HS256", []byte(strings.Repeat("z", 32))}.sign(t, `{"kid":"z"}`, inAnHour)
	replace(t, path, octFile("az"), start.Add(-50*time.Minute))
	at.pass(time.Second)
	_, err := v.Verify(always)
	require.NoError(t, err)

	var stop atomic.Bool
	errs := make([]error, 3)
	var wg sync.WaitGroup
	for g := range errs {
		wg.Go(func() {
			for !stop.Load() {
				if _, err := v.Verify(always); err != nil {
					errs[g] = err
					return
				}
			}
		})
	}
	for i := range 60 {
		letter := string(rune('a' + i%20))
		replace(t, path, octFile(letter+"z"), start.Add(time.Duration(i-2000)*time.Second))
		at.pass(time.Second)
		// Another may be the one that looks, and not be through yet.
		require.Eventually(t, func() bool { _, err := v.Verify(octToken(t, letter)); return err == nil }, time.Minute, time.Microsecond)
		gone := string(rune('a' + (i+19)%20))
		_, err := v.Verify(octToken(t, gone))
		require.ErrorIs(t, err, jwt.ErrSignature)
	}
	stop.Store(true)
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
}
