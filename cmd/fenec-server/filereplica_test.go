package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/replication/mirror"
)

// served is a file that is served, at an address that stays its own when it is started again.
type served struct {
	t    *testing.T
	file string
	args []string
	addr string
	base string
	stop func()
}

// serveFile serves a new file with the replication token r, whose writes are on disk when
// they are answered.
func serveFile(t *testing.T, args ...string) *served {
	t.Helper()
	s := &served{t: t, file: filepath.Join(t.TempDir(), "x.fenec"), args: args, addr: "127.0.0.1:0"}
	s.start()
	t.Cleanup(func() { s.end() })
	return s
}

func (s *served) start() {
	s.t.Helper()
	args := append([]string{"--file", s.file, "--replication-token", "r", "--sync", "always", "--auth-delay", "0"}, s.args...)
	s.addr, s.stop = servingAt(s.t, s.addr, args...)
	s.base = "http://" + s.addr
}

func (s *served) end() {
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// again starts the server anew with other flags.
func (s *served) again(args ...string) {
	s.t.Helper()
	s.end()
	s.args = args
	s.start()
}

// try sends a request whose headers are given as "Name: value".
func (s *served) try(method, path, body string, headers ...string) (status int, answer string, err error) {
	req, err := http.NewRequest(method, s.base+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for _, h := range headers {
		if name, value, ok := strings.Cut(h, ": "); ok {
			req.Header.Set(name, value)
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

// ask is try, of which an answer has to come.
func (s *served) ask(method, path, body string, headers ...string) (status int, answer string) {
	s.t.Helper()
	status, answer, err := s.try(method, path, body, headers...)
	require.NoError(s.t, err)
	return status, answer
}

// later asks for the number of notes, and gives what comes when it comes.
func (s *served) later(headers ...string) <-chan string {
	answers := make(chan string, 1)
	go func() {
		status, answer, err := s.try("GET", "/notes?count", "", headers...)
		if err != nil {
			answer = err.Error()
		}
		answers <- fmt.Sprint(status, " ", answer)
	}()
	return answers
}

// want is ask, of which the answer has the status and holds the text.
func (s *served) want(status int, text, method, path, body string, headers ...string) {
	s.t.Helper()
	got, answer := s.ask(method, path, body, headers...)
	require.Equal(s.t, status, got, answer)
	require.Contains(s.t, answer, text)
}

func (s *served) create() {
	s.t.Helper()
	s.want(200, "", "POST", "/query", `{"query":"create collection notes (n int, body text)"}`)
}

func (s *served) put(n int) {
	s.t.Helper()
	s.want(201, "", "POST", "/notes", fmt.Sprintf(`{"n":%d}`, n))
}

// has waits until there are so many notes.
func (s *served) has(notes int) {
	s.t.Helper()
	want := fmt.Sprintf(`{"count":%d}`, notes)
	require.Eventually(s.t, func() bool {
		status, answer := s.ask("GET", "/notes?count", "")
		return status == 200 && answer == want
	}, 20*time.Second, 5*time.Millisecond, want)
}

// level waits until a replica has what its primary has.
func (s *served) level(primary *served) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		a, b := standingOf(s.t, primary.base), standingOf(s.t, s.base)
		return b.Role == "replica" && a.Seq == b.Seq && a.History == b.History && b.Behind == 0
	}, 20*time.Second, 5*time.Millisecond)
}

const asReplica = "Authorization: Bearer r"

// F1: who has another token is told nothing, and with no token there is none that is right.
func TestFileReplicationTokens(t *testing.T) {
	unset(t)
	s := serveFile(t, "--http-token", "d", "--admin-token", "a")
	addr, stop := serving(t, "--auth-delay", "0")
	defer stop()
	off := &served{t: t, base: "http://" + addr}
	for _, token := range []string{"", "Authorization: Bearer a", "Authorization: Bearer d", "Authorization: Bearer "} {
		for _, path := range []string{"/_replication", "/_replication/status", "/_replication/nothing"} {
			s.want(401, "token", "GET", path, "", token)
			off.want(401, "token", "GET", path, "", token)
		}
		s.want(401, "token", "POST", "/_replication/promote", "", token)
	}
	off.want(401, "token", "GET", "/_replication", "", asReplica)
	s.want(401, "token", "GET", "/", "", asReplica)
	s.want(200, `"role":"primary"`, "GET", "/_replication/status", "", asReplica)
	s.want(409, "not a replica", "POST", "/_replication/promote", "", asReplica)
	s.want(404, "", "GET", "/_replication/nothing", "", asReplica)
}

// F18, F21: both sides tell how they stand. The replica answers reads, a wait for a write
// too, and refuses writes as a node does.
func TestFileReplica(t *testing.T) {
	unset(t)
	primary := serveFile(t)
	primary.create()
	primary.put(1)
	replica := serveFile(t, "--replica-of", primary.base)
	replica.has(1)
	replica.level(primary)

	st := standingOf(t, primary.base)
	require.Equal(t, "primary", st.Role)
	require.NotNil(t, st.Durable)
	require.Len(t, st.Replicas, 1)
	require.Empty(t, st.Primary)
	require.Nil(t, st.LastContact)
	at := standingOf(t, replica.base)
	require.Equal(t, primary.base, at.Primary)
	require.True(t, at.Connected)
	require.Zero(t, at.Behind)
	require.Equal(t, st.Seq, at.PrimaryDurable)
	require.NotNil(t, at.LastContact)
	require.Zero(t, at.Images)

	refused := `"code":"tenant-replica"`
	replica.want(403, refused, "POST", "/notes", `{"n":2}`)
	replica.want(403, refused, "POST", "/query", `{"query":"del notes"}`)
	replica.want(403, refused, "POST", "/query", `{"query":"create collection more (n int)"}`)
	replica.want(403, refused, "POST", "/batch", `{"query":"put notes {n: 2}"}`)
	replica.want(403, refused, "POST", "/notes", `{"n":2}`, "Idempotency-Key: k")
	replica.want(404, "", "GET", "/_studio/", "")
	replica.want(200, "", "GET", "/_ready", "")
	primary.want(200, "", "GET", "/_ready", "")
	primary.want(200, "\nfenec_replicas 1\n", "GET", "/_metrics", "")
	replica.want(200, "\nfenec_replica_connected 1\n", "GET", "/_metrics", "")
	replica.want(200, "\nfenec_replica_behind 0\n", "GET", "/_metrics", "")

	after := fmt.Sprintf("Fenec-After: %d", at.Seq+5)
	replica.want(504, fmt.Sprintf(`"seq":%d`, at.Seq), "GET", "/notes?count", "", after, "Fenec-Wait: 20")
	replica.want(400, "", "GET", "/notes?count", "", "Fenec-After: soon")
	waited := replica.later(after, "Fenec-Wait: 20000")
	for n := range 5 {
		primary.put(2 + n)
	}
	require.Equal(t, `200 {"count":6}`, <-waited)

	// F11: it goes on where it was.
	replica.end()
	primary.put(7)
	replica.start()
	replica.has(7)
	require.Zero(t, standingOf(t, replica.base).Images)
}

// Writes wait for disks where that is asked for, and are refused where no disk is told of.
func TestFileReplicasHeld(t *testing.T) {
	unset(t)
	primary := serveFile(t, "--replicas-held", "0")
	primary.create()
	replica := serveFile(t, "--replica-of", primary.base)
	replica.level(primary)
	primary.want(201, "", "POST", "/notes", `{"n":1}`, "Fenec-Replicas: 1")
	primary.want(504, `"code":"not-replicated"`, "POST", "/notes", `{"n":2}`, "Fenec-Replicas: 2")
	primary.want(400, "Fenec-Replicas", "POST", "/notes", `{"n":2}`, "Fenec-Replicas: many")
	replica.has(2)

	primary.again()
	primary.want(409, "disks", "POST", "/notes", `{"n":3}`, "Fenec-Replicas: 1")
	primary.want(200, `{"count":2}`, "GET", "/notes?count", "", "Fenec-Replicas: 1")
	primary.want(201, "", "POST", "/notes", `{"n":3}`, "Fenec-Replicas: 0")
	addr, stop := serving(t)
	defer stop()
	alone := &served{t: t, base: "http://" + addr}
	alone.create()
	alone.want(409, "disks", "POST", "/notes", `{"n":1}`, "Fenec-Replicas: 1")
	alone.put(1)
}

// F20: a replica's file opens where it goes on, or is promoted.
func TestReplicasFile(t *testing.T) {
	unset(t)
	primary := serveFile(t)
	primary.create()
	primary.put(1)
	replica := serveFile(t, "--replica-of", primary.base)
	replica.level(primary)
	replica.end()
	for _, args := range []string{"", " --replication-token r"} {
		var out strings.Builder
		require.Equal(t, 1, run(strings.Fields("--http 127.0.0.1:0 --file "+replica.file+args), &out))
		require.Contains(t, out.String(), "replica's file")
	}
	addr, stop := serving(t, "--file", replica.file, "--promote")
	alone := &served{t: t, base: "http://" + addr}
	alone.put(2)
	alone.has(2)
	stop()
	replica.again("--promote")
	replica.put(3)
	require.Equal(t, "primary", standingOf(t, replica.base).Role)
	primary.has(1)
}

// A file that was never replicated is not given up.
func TestOwnFileDoesNotFollow(t *testing.T) {
	unset(t)
	file := filepath.Join(t.TempDir(), "x.fenec")
	addr, stop := serving(t, "--file", file)
	(&served{t: t, base: "http://" + addr}).create()
	stop()
	var out strings.Builder
	require.Equal(t, 1, run(strings.Fields("--http 127.0.0.1:0 --replication-token r --replica-of http://127.0.0.1:1 --file "+file), &out))
	require.Contains(t, out.String(), "never replicated")
	addr, stop = serving(t, "--file", file)
	defer stop()
	(&served{t: t, base: "http://" + addr}).put(1)
}

// F13: a promoted replica stays a primary when it is started as before, and the old primary
// gives up what only it has.
func TestPromotedFile(t *testing.T) {
	unset(t)
	primary := serveFile(t)
	primary.create()
	primary.put(1)
	audit := filepath.Join(t.TempDir(), "audit")
	flags := []string{"--replica-of", primary.base, "--audit", audit, "--admin-token", "a"}
	replica := serveFile(t, flags...)
	replica.level(primary)
	history := standingOf(t, primary.base).History
	replica.want(200, `"promoted":true`, "POST", "/_replication/promote", "", asReplica)
	replica.want(409, "not a replica", "POST", "/_replication/promote", "", asReplica)
	replica.put(2)
	replica.put(3)
	primary.put(4)
	st := standingOf(t, replica.base)
	require.Equal(t, "primary", st.Role)
	require.NotEqual(t, history, st.History)
	require.Empty(t, st.Primary)
	replica.want(200, "\nfenec_replica_connected 0\n", "GET", "/_metrics", "", "Authorization: Bearer a")
	lines, err := os.ReadFile(audit)
	require.NoError(t, err)
	require.Contains(t, string(lines), `"event":"admin"`)
	require.Contains(t, string(lines), `"path":"/_replication/promote","http_status":200}`)
	require.Contains(t, string(lines), `"path":"/_replication/promote","http_status":409}`)

	replica.again(flags...)
	replica.has(3)
	replica.put(5)
	primary.again("--replica-of", replica.base)
	primary.level(replica)
	primary.has(4)
	require.EqualValues(t, 1, standingOf(t, primary.base).Images)
	primary.want(403, "replica", "POST", "/notes", `{"n":6}`)

	// Without what the promotion left, the flags count.
	replica.end()
	primary.want(200, `"promoted":true`, "POST", "/_replication/promote", "", asReplica)
	require.NoError(t, os.Remove(mirror.Promotion(replica.file).Path()))
	replica.start()
	replica.level(primary)
	require.Zero(t, standingOf(t, replica.base).Images, "it lacked nothing")
	require.NoFileExists(t, mirror.Promotion(replica.file).Path())
}

// F16: a replica of a replica has the same writes under the same numbers.
func TestReplicaOfAReplica(t *testing.T) {
	unset(t)
	first := serveFile(t)
	first.create()
	second := serveFile(t, "--replica-of", first.base)
	third := serveFile(t, "--replica-of", second.base)
	for n := range 20 {
		first.put(n)
	}
	third.has(20)
	third.level(first)
}

// A replica that has just been started is not ready before it has tried to reach its primary,
// and is when that is gone.
func TestReadinessOfAReplica(t *testing.T) {
	unset(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // which takes connections and says nothing
	require.NoError(t, err)
	defer silent.Close()
	waits := serveFile(t, "--replica-of", "http://"+silent.Addr().String())
	waits.want(503, "has not been in touch", "GET", "/_ready", "")
	waits.want(200, "", "GET", "/_health", "")
	waits.again("--replica-of", "http://127.0.0.1:1")
	require.Eventually(t, func() bool {
		status, _ := waits.ask("GET", "/_ready", "")
		return status == 200
	}, 10*time.Second, 5*time.Millisecond)
}

// F9, F17: a replica that is too far behind takes an image, while it is read: no read sees a
// part of it, who waits for a write sees it, and a subscription is told to begin anew.
func TestImageUnderReads(t *testing.T) {
	unset(t)
	primary := serveFile(t, "--replication-buffer", "1")
	primary.create()
	two := `{"query":"put notes [{n: 1, body: $1}, {n: 1, body: $1}]","params":[%q]}`
	text := strings.Repeat("text that takes up room, ", 2000)
	primary.want(200, "", "POST", "/query", fmt.Sprintf(two, text))
	replica := serveFile(t, "--replica-of", primary.base)
	replica.level(primary)
	replica.end()
	for range 40 {
		primary.want(200, "", "POST", "/query", fmt.Sprintf(two, text))
	}
	last := standingOf(t, primary.base).Seq
	primary.end() // so that what follows has begun before the image comes
	replica.start()

	res, err := http.Get(replica.base + "/notes/changes")
	require.NoError(t, err)
	defer res.Body.Close()
	ended := make(chan string, 1)
	go func() {
		events, _ := io.ReadAll(res.Body) // it ends with the stream
		ended <- string(events)
	}()
	waited := replica.later(fmt.Sprintf("Fenec-After: %d", last), "Fenec-Wait: 20000")
	counts := readAlong(replica)
	primary.start()
	require.Equal(t, `200 {"count":82}`, <-waited)
	events := <-ended
	require.Contains(t, events[max(0, len(events)-500):], "takes the place")
	require.EqualValues(t, 1, standingOf(t, replica.base).Images)
	for count := range counts() {
		require.Contains(t, []string{`{"count":2}`, `{"count":82}`}, count)
	}
}

// readAlong reads from several goroutines until the returned function is called, which
// returns what was answered.
func readAlong(s *served) (end func() map[string]bool) {
	var mu sync.Mutex
	seen := map[string]bool{}
	stop := make(chan struct{})
	var reading sync.WaitGroup
	for range 4 {
		reading.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				status, answer, err := s.try("GET", "/notes?count", "")
				if status == http.StatusServiceUnavailable {
					continue
				}
				if err != nil {
					answer = err.Error()
				}
				mu.Lock()
				seen[answer] = true
				mu.Unlock()
			}
		})
	}
	return func() map[string]bool {
		close(stop)
		reading.Wait()
		return seen
	}
}

// What a promotion left behind that was cut short means nothing.
func TestPromotionCutShort(t *testing.T) {
	unset(t)
	primary := serveFile(t)
	primary.create()
	replica := serveFile(t, "--replica-of", primary.base)
	replica.level(primary)
	replica.end()
	require.NoError(t, mirror.Promotion(replica.file).Keep(primary.base))
	primary.put(1)
	replica.start()
	replica.has(1)
	require.NoFileExists(t, mirror.Promotion(replica.file).Path())
}
