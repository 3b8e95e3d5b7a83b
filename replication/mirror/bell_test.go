package mirror

import (
	"fmt"
	"log"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// tower is a bell behind an address, and an ear that listens to it.
type tower struct {
	t    *testing.T
	bell *Bell
	dial *wire
	ear  *Ear
	log  *logged

	mu    sync.Mutex // guards the fields below
	heard []string
	all   int
}

func newTower(t *testing.T, opts BellOptions) *tower {
	w := &tower{t: t, bell: NewBell(opts), dial: newWire(), log: &logged{}}
	server := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.bell.ServeHTTP(rw, r) })}
	go server.Serve(w.dial)
	t.Cleanup(func() {
		if w.ear != nil {
			w.ear.Stop()
		}
		require.NoError(t, server.Close())
	})
	return w
}

func (w *tower) listen() {
	var err error
	w.ear, err = StartEar(EarOptions{
		Primary: "http://primary:1", Token: token, Transport: w.dial.transport(), ErrorLog: log.New(w.log, "", 0),
		Heard: func(names []string, all bool) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.heard = append(w.heard, names...)
			if all {
				w.all++
			}
		},
	})
	require.NoError(w.t, err)
	synctest.Wait()
}

// told returns what was heard since it was last asked.
func (w *tower) told() (names []string, all int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	names, all = w.heard, w.all
	w.heard, w.all = nil, 0
	return names, all
}

func (w *tower) hears(all int, names ...string) {
	w.t.Helper()
	rest(w.t.Context(), bellPause)
	synctest.Wait()
	got, gotAll := w.told()
	require.Equal(w.t, names, got)
	require.Equal(w.t, all, gotAll)
}

func TestBellTellsEachNameOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTower(t, BellOptions{})
		w.bell.Ring("early")
		w.listen()
		w.hears(1) // whoever listens first does not know what was
		for range 100 {
			w.bell.Ring("acme")
			w.bell.Ring("beta")
		}
		w.hears(0, "beta", "acme")
		w.bell.Ring("acme")
		w.hears(0, "acme")
		rest(t.Context(), time.Minute)
		w.hears(0)
	})
}

// An ear that was cut off hears what it missed, and that everything may have been written
// where that is not known any more.
func TestBreaksAreBridged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTower(t, BellOptions{Names: 2})
		w.listen()
		w.hears(1)
		w.bell.Ring("acme")
		w.hears(0, "acme")

		w.dial.part(true)
		w.bell.Ring("beta")
		w.bell.Ring("acme")
		w.dial.part(false)
		rest(t.Context(), 10*time.Second)
		w.hears(0, "acme", "beta")

		w.dial.part(true)
		for _, name := range []string{"a", "b", "c"} {
			w.bell.Ring(name)
		}
		w.dial.part(false)
		rest(t.Context(), 10*time.Second)
		w.hears(1)

		old := w.bell
		w.bell = NewBell(BellOptions{}) // as of another process
		old.Close()
		rest(t.Context(), 10*time.Second)
		w.hears(1)
		w.bell.Ring("acme")
		w.hears(0, "acme")
	})
}

func TestForgottenNamesAreNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTower(t, BellOptions{})
		w.listen()
		w.hears(1)
		w.bell.Ring("acme")
		w.bell.Ring("beta")
		w.bell.Forget("acme")
		w.bell.Forget("nobody")
		w.hears(0, "beta")
	})
}

func TestManyNamesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTower(t, BellOptions{})
		w.listen()
		w.hears(1)
		var want []string
		for i := range 2*bellLine + 5 {
			name := fmt.Sprintf("t%05d", i)
			want = append(want, name)
			w.bell.Ring(name)
		}
		slices.Reverse(want)
		w.hears(0, want...)
	})
}

// A cursor moves only with the last line of what it stands for.
func TestLinesOfOneCursor(t *testing.T) {
	b := NewBell(BellOptions{})
	for i := range bellLine + 1 {
		b.Ring(fmt.Sprint(i))
	}
	lines, next := b.lines(0, true)
	require.Len(t, lines, 2)
	require.Zero(t, lines[0].Cursor)
	require.EqualValues(t, bellLine+1, lines[1].Cursor)
	require.Equal(t, lines[1].Cursor, next)
}

func TestClosedBell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTower(t, BellOptions{})
		w.bell.Close()
		w.bell.Close()
		w.listen()
		require.Contains(t, w.log.String(), "503: the node is being closed")
	})
}

func TestLinesThatAreRefused(t *testing.T) {
	for line, word := range map[string]string{
		`{"cursor":1}`:                           "no boot",
		`{`:                                      "a line of it",
		`{"boot":"b","cursor":4}`:                "goes on from boot",
		`"` + strings.Repeat("x", earLine) + `"`: "too long",
	} {
		synctest.Test(t, func(t *testing.T) {
			logs := &logged{}
			s := newScripted(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", bellType)
				_, _ = w.Write([]byte(line + "\n"))
			})
			e, err := StartEar(EarOptions{
				Primary: "http://primary:1", Transport: s.dial.transport(), ErrorLog: log.New(logs, "", 0),
				Heard: func([]string, bool) { panic("nothing was to be heard") },
			})
			require.NoError(t, err)
			defer e.Stop()
			require.Equal(t, []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond}, s.times(t, 3))
			require.Contains(t, logs.String(), word)
		})
	}
}

func BenchmarkRing(b *testing.B) {
	bell := NewBell(BellOptions{})
	for i := 0; b.Loop(); i++ {
		bell.Ring([]string{"acme", "beta", "gamma"}[i%3])
	}
}
