package mirror

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
)

// scripted is a primary that gives each of its streams what a test says, and the last of
// that again and again.
type scripted struct {
	dial *wire

	mu      sync.Mutex // guards the fields below
	answers []answerer
	asked   []string    // the queries
	at      []time.Time // when they came
}

type answerer func(w http.ResponseWriter, r *http.Request)

func newScripted(t testing.TB, answers ...answerer) *scripted {
	s := &scripted{dial: newWire(), answers: answers}
	server := &http.Server{Handler: s}
	go server.Serve(s.dial)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return s
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.RawQuery)
	s.at = append(s.at, time.Now())
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	s.mu.Unlock()
	answer(w, r)
}

// times returns when the first n requests came, since the first.
func (s *scripted) times(t testing.TB, n int) (since []time.Duration) {
	eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.at) >= n
	}, "fewer requests", func() []any { return nil })
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.at[:n] {
		since = append(since, at.Sub(s.at[0]).Round(10*time.Millisecond))
	}
	return since
}

// request returns the nth query.
func (s *scripted) request(t testing.TB, n int) string {
	s.times(t, n+1)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[n]
}

// messages answers with messages and then cuts the stream.
func messages(list ...replication.Message) answerer {
	return func(w http.ResponseWriter, _ *http.Request) {
		var b bytes.Buffer
		e := replication.NewEncoder(&b)
		for _, m := range list {
			if err := e.Encode(m); err != nil {
				panic(err)
			}
		}
		sendBytes(w, b.Bytes())
	}
}

// sent answers with bytes and then cuts the stream.
func sent(b []byte) answerer {
	return func(w http.ResponseWriter, _ *http.Request) { sendBytes(w, b) }
}

func sendBytes(w http.ResponseWriter, b []byte) {
	w.Header().Set("Content-Type", replication.ContentType)
	_, _ = w.Write(b)
	_ = http.NewResponseController(w).Flush()
}

// silent answers with the head of a stream and nothing more.
func silent(w http.ResponseWriter, r *http.Request) {
	sendBytes(w, nil)
	<-r.Context().Done()
}

func failing(status int, text string) answerer {
	return func(w http.ResponseWriter, _ *http.Request) { refuse(w, status, text) }
}

// followScript makes a place follow a script.
func (p *place) followScript(s *scripted, change ...func(*ReplicaOptions)) *Replica {
	return p.follow(&place{dial: s.dial}, change...)
}

// recording returns the bytes of a primary's stream to a replica that holds nothing, up to
// the last write, and where each message ends.
func recording(t testing.TB, p *place, query string) (b []byte, ends []int) {
	s := p.ask(http.MethodGet, "?"+query)
	require.Equal(t, http.StatusOK, s.res.StatusCode)
	var seen bytes.Buffer
	in := replication.NewDecoder(io.TeeReader(&byteReader{s.res.Body}, &seen))
	for last := p.last(); ; {
		m, err := in.Next()
		require.NoError(t, err)
		if image, ok := m.(replication.Image); ok {
			_, err := io.Copy(io.Discard, image.Reader)
			require.NoError(t, err)
			ends = append(ends, seen.Len())
			break
		}
		ends = append(ends, seen.Len())
		if w, ok := m.(replication.Writes); ok && w.First+uint64(len(w.Times)) > last {
			break
		}
	}
	return seen.Bytes(), ends
}

// byteReader gives a byte at a time, so that nothing is read ahead.
type byteReader struct{ r io.Reader }

func (b *byteReader) Read(p []byte) (int, error) { return b.r.Read(p[:min(1, len(p))]) }

// However a stream is cut, nothing is lost or doubled.
func TestCutStreams(t *testing.T) {
	primary := newPrimary(t)
	primary.write(2)
	whole, ends := recording(t, primary, "")
	require.Len(t, ends, 2)
	image, _ := recording(t, primary, "image=1")
	for name, script := range map[string][]byte{
		"nothing":        nil,
		"in the hello":   whole[:ends[0]-1],
		"before writes":  whole[:ends[0]],
		"in writes":      whole[:ends[1]-1],
		"after writes":   whole,
		"in the image":   image[:len(image)/2],
		"near its end":   image[:len(image)-1],
		"after an image": image,
	} {
		t.Run(name, func(t *testing.T) {
			replica := newReplica(t)
			first := newScripted(t, sent(script), silent)
			replica.followScript(first)
			first.request(t, 1)
			replica.unfollow()
			replica.follow(primary)
			replica.caughtUp(primary)
			requireSame(t, primary, replica)
		})
	}
}

// What does not follow or cannot be applied makes the replica ask for an image.
func TestWhatMakesAReplicaAskForAnImage(t *testing.T) {
	primary := newPrimary(t)
	primary.write(2)
	h := primary.history()
	hello := replication.Hello{Seq: 3, Durable: 3, History: h}
	var blocks []fenec.FeedBlock
	primary.use(func(db *fenec.DB) {
		var err error
		blocks, err = db.FeedBlocks(context.Background(), 0, 1<<20)
		require.NoError(t, err)
	})
	block := func(i int) replication.Writes {
		w := replication.Writes{First: blocks[i].First}
		w.Add(blocks[i].Record, blocks[i].At)
		return w
	}
	again := block(0)
	again.First = 2 // the record still says 1
	unfit := block(1)
	unfit.Records = append([]byte{}, block(1).Records...)
	for i := range unfit.Records[4:] {
		unfit.Records[4+i] ^= 0xff
	}
	for name, script := range map[string][]replication.Message{
		"a record that was applied":      {hello, block(0), again},
		"a record is missing":            {hello, block(0), block(2)},
		"a record that cannot be":        {hello, block(0), unfit},
		"a record of a lost collection":  {hello, block(1)},
		"a digest that is another":       {hello, replication.Digest{Seq: 0, Root: 7}},
		"a primary that is elsewhere":    {replication.Hello{Seq: 0, History: h}, block(0), replication.Digest{Seq: 1, Root: 7}},
		"no image though one was wanted": {hello, block(0), again},
	} {
		t.Run(name, func(t *testing.T) {
			replica := newReplica(t)
			s := newScripted(t, messages(script...), silent)
			r := replica.followScript(s)
			require.NotContains(t, s.request(t, 0), "image=1")
			require.Contains(t, s.request(t, 1), "image=1", "%s", replica.log)
			require.Zero(t, r.Status().Images)
			replica.unfollow()
		})
	}
}

// A primary that does not give the image it was asked for, or whose history is another,
// is asked again.
func TestGreetingsThatAreRefused(t *testing.T) {
	primary, replica := newPrimary(t), newReplica(t)
	replica.follow(primary)
	replica.caughtUp(primary)
	replica.unfollow()
	other := replication.History{Lineage: replication.Lineage{{ID: 77, From: 0}}}
	s := newScripted(t, messages(replication.Hello{Seq: 9, History: other}), silent)
	replica.followScript(s)
	require.Contains(t, s.request(t, 1), "image=1")
	replica.unfollow()

	s = newScripted(t, messages(replication.Hello{Seq: 9, History: other}), messages(replication.Hello{Seq: 1, History: primary.history()}), silent)
	replica.followScript(s)
	require.Contains(t, s.request(t, 2), "image=1")
	require.Equal(t, primary.history().Lineage, replica.history().Lineage, "a refused lineage is not taken over")
}

func TestPausesBetweenStreams(t *testing.T) {
	ms := time.Millisecond
	for name, c := range map[string]struct {
		answer answerer
		want   []time.Duration
	}{
		"after failures": {failing(500, "no"), []time.Duration{0, 100 * ms, 300 * ms, 700 * ms, 1500 * ms, 3100 * ms, 6300 * ms, 11300 * ms, 16300 * ms}},
		"after an end": {messages(replication.Hello{}, replication.End{Reason: "moved"}),
			[]time.Duration{0, 100 * ms, 200 * ms, 300 * ms, 400 * ms}},
		"after silence": {silent, []time.Duration{0, 10100 * ms, 20300 * ms}},
		"after something came": {messages(replication.Hello{}, replication.Alive{}),
			[]time.Duration{0, 100 * ms, 200 * ms, 300 * ms}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				replica := newReplica(t)
				s := newScripted(t, c.answer)
				replica.followScript(s)
				require.Equal(t, c.want, s.times(t, len(c.want)))
			})
		})
	}
}

func TestStatusTellsWhy(t *testing.T) {
	for word, answer := range map[string]answerer{
		"refuses the replication token": failing(http.StatusUnauthorized, "a token is needed"),
		"409: no feed":                  failing(http.StatusConflict, "no feed"),
		"500: Internal Server Error":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		`answers with "text/plain"`: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusOK)
		},
		"the primary ended the stream: moved": messages(replication.Hello{}, replication.End{Reason: "moved"}),
		"unexpected EOF":                      messages(replication.Hello{}),
	} {
		t.Run(word, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				replica := newReplica(t)
				s := newScripted(t, answer)
				r := replica.followScript(s)
				s.request(t, 0)
				synctest.Wait()
				status := r.Status()
				require.Contains(t, status.Error, word)
				require.False(t, status.Connected)
				require.EqualValues(t, 1, status.Reconnects)
			})
		})
	}
}

// Followers are stopped wherever they are, soon.
func TestStopAnywhere(t *testing.T) {
	for name, answer := range map[string]answerer{
		"before the answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"in a stream":       silent,
		"in a pause":        failing(500, "no"),
		"in an image": func(w http.ResponseWriter, r *http.Request) {
			messages(replication.Hello{Image: true, Seq: 5})(w, r)
			sendBytes(w, []byte{'I', 0, 0, 1, 0, 0, 0, 0, 0, 'x'})
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				replica := newReplica(t)
				s := newScripted(t, answer)
				r := replica.followScript(s)
				s.request(t, 0)
				synctest.Wait()
				began := time.Now()
				r.Stop()
				r.Stop()
				require.Less(t, time.Since(began), 100*time.Millisecond)
				require.NoError(t, r.Err())
				<-r.Done()
			})
		})
	}
}

// hurtCopy is a copy of which something fails.
type hurtCopy struct {
	*Single
	use, replace error
}

func (c *hurtCopy) Use(ctx context.Context) (*fenec.DB, func(), error) {
	if c.use != nil {
		return nil, nil, c.use
	}
	return c.Single.Use(ctx)
}

func (c *hurtCopy) Replace(_ context.Context, a *fenec.Arrival, _ bool) (string, error) {
	return "", errors.Join(c.replace, a.Close())
}

// quiet returns the options of a follower that leads nowhere.
func (p *place) quiet() ReplicaOptions {
	return ReplicaOptions{Primary: "http://primary:1", Transport: newWire().transport(), ErrorLog: log.New(p.log, "", 0)}
}

func TestFailedDiskEndsFollowing(t *testing.T) {
	replica := newReplica(t)
	r, err := StartReplica(&hurtCopy{Single: replica.single, use: fenec.ErrFailed}, replica.quiet())
	require.NoError(t, err)
	<-r.Done()
	require.ErrorIs(t, r.Err(), fenec.ErrFailed)
	r.Stop()
}

func TestPrimaryDoesNotFollow(t *testing.T) {
	primary := newPrimary(t)
	r, err := StartReplica(primary.single, primary.quiet())
	require.NoError(t, err)
	<-r.Done()
	require.ErrorIs(t, r.Err(), fenec.ErrNotReplica)
}

// Promoted while it follows: the stream brings nothing more.
func TestPromotedBesideItsFollower(t *testing.T) {
	primary, replica := newPrimary(t), newReplica(t)
	r := replica.follow(primary)
	replica.caughtUp(primary)
	replica.use(func(db *fenec.DB) {
		_, err := db.Promote(context.Background(), true)
		require.NoError(t, err)
	})
	primary.write(1)
	<-r.Done()
	require.ErrorIs(t, r.Err(), fenec.ErrNotReplica)
	require.EqualValues(t, 1, replica.last())
}

// An image that cannot be kept is not asked for again at once.
func TestUnstoredImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		primary, replica := newPrimary(t), newReplica(t)
		image, _ := recording(t, primary, "image=1")
		s := newScripted(t, sent(image))
		hurt := &hurtCopy{Single: replica.single, replace: errors.New("the disk is full")}
		opts := replica.quiet()
		opts.Transport = s.dial.transport()
		r, err := StartReplica(hurt, opts)
		require.NoError(t, err)
		defer r.Stop()
		require.Equal(t, []time.Duration{0, 30 * time.Second, 60 * time.Second}, s.times(t, 3))
		require.Contains(t, r.Status().Error, "the disk is full")
		require.ErrorContains(t, r.Refused(), "the disk is full")
		require.Zero(t, r.Status().Images)
	})
}

// A copy that differs from its primary takes an image, and says so.
func TestDivergedCopyTakesAnImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
		still := with(func(o *fenec.Options) { o.Clock = func() time.Time { return noon } })
		primary, replica := newPrimary(t, still), newReplica(t)
		primary.write(3)
		replica.follow(primary)
		replica.caughtUp(primary)
		replica.unfollow()
		// The same numbers at the same time, and other rows.
		stranger := newPrimary(t, still)
		for range 3 {
			stranger.exec(`put notes {title: 'other'}`)
		}
		replica.use(func(db *fenec.DB) {
			var image bytes.Buffer
			stranger.use(func(other *fenec.DB) { require.NoError(t, other.Image(context.Background(), &image)) })
			a, err := fenec.ReceiveReplica(replica.path(), &image, primary.history())
			require.NoError(t, err)
			go func() { _ = replace(context.Background(), replica.single, a) }()
		})
		synctest.Wait()
		r := replica.follow(primary)
		eventually(t, func() bool { return r.Status().Images == 1 }, "%s", func() []any { return []any{replica.log} })
		replica.caughtUp(primary)
		requireSame(t, primary, replica)
		require.EqualValues(t, 1, r.Status().Diverged)
		require.Contains(t, replica.log.String(), "DIFFERS from its primary's database at change 4: notes")
		rest(context.Background(), 4*aliveAfter)
		require.EqualValues(t, 1, r.Status().Diverged)
	})
}

func TestPrimaryURLs(t *testing.T) {
	for text, want := range map[string]string{
		"http://n1:8080":        "http://n1:8080",
		"http://n1:8080/":       "http://n1:8080",
		"http://[::1]:8080":     "http://[::1]:8080",
		"https://n1:8080":       "",
		"n1:8080":               "",
		"http://n1":             "",
		"http://:8080":          "",
		"http://n1:8080/t/acme": "",
		"http://u:p@n1:8080":    "",
		"http://n1:8080?a=b":    "",
		"http://n1:8080#x":      "",
		"http://n1:port":        "",
		"":                      "",
	} {
		got, err := ParsePrimary(text)
		require.Equal(t, want, got, text)
		require.Equal(t, want == "", err != nil, text)
		if err != nil {
			require.NotContains(t, err.Error(), "u:p")
		}
	}
	_, err := StartReplica(nil, ReplicaOptions{Primary: "https://n1:8080/t/acme"})
	require.Error(t, err)
	_, err = StartEar(EarOptions{Primary: "n1"})
	require.Error(t, err)
}
