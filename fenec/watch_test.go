package fenec

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/history"
)

// internalNumber is a collection of the server's own.
const internalNumber = 9

// watched is a watch over a sequence of which the last numbers may not be seen yet.
type watched struct {
	watch
	appended, visible uint64
}

func newWatched() *watched {
	w := new(watched)
	w.init(func() uint64 { return w.appended }, func() uint64 { return w.visible })
	return w
}

// begin writes up to seq, which nobody sees yet.
func (w *watched) begin(seq uint64, collections ...uint32) {
	w.appended = seq
	var n history.Notes
	for _, c := range collections {
		n.Add(history.Put, c, 1, c == internalNumber)
	}
	w.wrote(&n, seq)
}

// finish lets readers see what was written.
func (w *watched) finish() {
	w.visible = w.appended
	w.published()
}

// waits waits and returns the cursor it ended with.
func (w *watched) waits(tp *topic, cursor uint64) <-chan uint64 {
	out := make(chan uint64, 1)
	go func() {
		at, err := w.wait(context.Background(), tp, cursor, nil)
		if err == nil {
			out <- at
		}
		close(out)
	}()
	synctest.Wait()
	return out
}

func TestWatch(t *testing.T) {
	for name, run := range map[string]func(t *testing.T, w *watched){
		"a write wakes": func(t *testing.T, w *watched) {
			tp, err := w.join(1)
			require.NoError(t, err)
			defer w.leave(tp)
			out := w.waits(tp, 0)
			w.begin(3, 1)
			synctest.Wait()
			require.Empty(t, out, "nobody sees it yet")
			w.finish()
			require.EqualValues(t, 0, <-out)
			require.EqualValues(t, 2, <-w.waits(tp, 2), "what came in between is heard of at once")
		},
		"another collection's write does not": func(t *testing.T, w *watched) {
			tp, err := w.join(1)
			require.NoError(t, err)
			defer w.leave(tp)
			out := w.waits(tp, 0)
			w.begin(70, 2, 3)
			w.finish()
			synctest.Wait()
			require.Empty(t, out)
			w.begin(75, 2, 1)
			w.finish()
			require.EqualValues(t, 70, <-out, "nothing happened to it before")
		},
		"a write on its way when joining": func(t *testing.T, w *watched) {
			w.begin(9, 1)
			tp, err := w.join(1)
			require.NoError(t, err)
			defer w.leave(tp)
			out := w.waits(tp, 0)
			require.Empty(t, out)
			w.finish()
			require.EqualValues(t, 0, <-out)
		},
		"one seen, the next on its way": func(t *testing.T, w *watched) {
			tp, err := w.join(1)
			require.NoError(t, err)
			defer w.leave(tp)
			w.begin(4, 1)
			w.visible = 4
			w.begin(6, 1)
			w.tell()
			require.EqualValues(t, 3, <-w.waits(tp, 3))
			out := w.waits(tp, 4)
			require.Empty(t, out)
			w.finish()
			require.EqualValues(t, 4, <-out)
		},
		"close": func(t *testing.T, w *watched) {
			tp, err := w.join(1)
			require.NoError(t, err)
			out := w.waits(tp, 0)
			w.close()
			<-out
			_, err = w.wait(context.Background(), tp, 0, nil)
			require.ErrorIs(t, err, ErrClosed)
			_, err = w.join(1)
			require.ErrorIs(t, err, ErrClosed)
			w.leave(tp)
			w.close()
		},
		"leaving": func(t *testing.T, w *watched) {
			a, err := w.join(1)
			require.NoError(t, err)
			b, err := w.join(1)
			require.NoError(t, err)
			require.Same(t, a, b)
			w.leave(a)
			require.Len(t, w.topics, 1)
			w.leave(b)
			require.Empty(t, w.topics)
			w.begin(2, 1)
			w.finish()
			require.Empty(t, w.noted, "nobody is there")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { run(t, newWatched()) })
		})
	}
}
