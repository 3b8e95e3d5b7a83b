package router

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/internal/problem"
	"github.com/fenec-go/fenecdb/replication/mirror"
	"github.com/fenec-go/fenecdb/tenant"
)

// sham is a node that makes and deletes what it is told to, and names itself in answers.
func sham(t testing.TB, name string) Node {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		switch {
		case strings.HasPrefix(r.URL.Path, "/t/"):
			fmt.Fprintf(w, `{"node":%q,"target":%q}`, name, r.RequestURI)
		case r.Method == http.MethodPut:
			w.WriteHeader(http.StatusCreated)
			io.WriteString(w, `{}`)
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		case strings.HasPrefix(r.URL.Path, "/_admin/tenants/"):
			w.WriteHeader(http.StatusNotFound)
		default:
			fmt.Fprintf(w, `{"disk":1,"boot":%q}`, name)
		}
	}))
	t.Cleanup(server.Close)
	return Node{name, server.Listener.Addr().String(), NewToken("admin")}
}

// station is a router over a directory file.
type station struct {
	t    testing.TB
	file string
	addr string
	rt   *Router
	stop func()
}

const testReplicationToken = "r1"

// startStation starts a router that follows the one at the address, "" for none.
func startStation(t testing.TB, file, primary string, with func(*DirectoryOptions, *Options)) *station {
	t.Helper()
	logger := log.New(testWriter{t}, filepath.Base(file)+": ", 0)
	kept := DirectoryOptions{Feed: 8 << 20, ErrorLog: logger}
	opts := Options{ReplicationToken: NewToken(testReplicationToken), ErrorLog: logger}
	if primary != "" {
		kept.Follow = "http://" + primary
	}
	if with != nil {
		with(&kept, &opts)
	}
	d, err := OpenDirectoryWith(file, kept)
	require.NoError(t, err)
	opts.Directory = d
	rt, err := New(opts)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- rt.Serve(l) }()
	s := &station{t: t, file: file, addr: l.Addr().String(), rt: rt}
	s.stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		rt.Shutdown(ctx)
		<-served
		require.NoError(t, d.Close())
	})
	t.Cleanup(s.stop)
	return s
}

func (s *station) ask(method, target, body, token string) (*http.Response, string) {
	s.t.Helper()
	r, err := http.NewRequest(method, "http://"+s.addr+target, strings.NewReader(body))
	require.NoError(s.t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return resp, strings.TrimSpace(string(text))
}

func (s *station) call(method, target, body string) (int, string) {
	s.t.Helper()
	resp, text := s.ask(method, target, body, "")
	return resp.StatusCode, text
}

func (s *station) status() (st mirror.Status) {
	s.t.Helper()
	resp, text := s.ask("GET", "/_replication/status", "", testReplicationToken)
	require.Equal(s.t, 200, resp.StatusCode, text)
	require.NoError(s.t, json.Unmarshal([]byte(text), &st), text)
	return st
}

// caughtUp waits until a router that follows has all that another has.
func (s *station) caughtUp(primary *station) {
	s.t.Helper()
	want := primary.status()
	eventually(s.t, func() bool {
		has := s.status()
		return !has.Incomplete && has.Seq == want.Seq && has.History == want.History && has.ReplicaStatus != nil && has.Connected
	})
}

func (s *station) metric(name string) string {
	s.t.Helper()
	_, page := s.call("GET", "/_metrics", "")
	for line := range strings.Lines(page) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return "none"
}

// primaryWith starts a router with two nodes and a tenant on the first.
func primaryWith(t testing.TB, file string) (s *station, n1, n2 Node) {
	s = startStation(t, file, "", nil)
	n1, n2 = sham(t, "n1"), sham(t, "n2")
	require.NoError(t, s.rt.directory.PutNode(n1))
	require.NoError(t, s.rt.directory.PutNode(n2))
	require.NoError(t, s.rt.directory.Place("acme", n1))
	return s, n1, n2
}

// D1, D3, D8.
func TestStandbyRouter(t *testing.T) {
	dir := t.TempDir()
	p, n1, n2 := primaryWith(t, filepath.Join(dir, "p"))
	require.NoError(t, p.rt.directory.beginMove("acme", "n2"))
	s := startStation(t, filepath.Join(dir, "s"), p.addr, nil)
	s.caughtUp(p)
	for _, target := range []string{"/t/acme/notes?x=1", "/t/nobody/notes", "/t/Not-a-name/x", "/_shard/nodes", "/_shard/tenants", "/_shard/strays", "/_shard/tenants/acme/quota", "/elsewhere"} {
		wantStatus, want := p.call("GET", target, "")
		status, body := s.call("GET", target, "")
		require.Equal(t, wantStatus, status, target)
		require.Equal(t, want, body, target)
	}
	for _, c := range []string{
		"PUT nodes/n3", "DELETE nodes/n2", "PUT nodes/n1/attrs", "POST nodes/n1/drain", "POST nodes/n1/failover", "POST replicas",
		"PUT tenants/beta", "DELETE tenants/acme", "POST tenants/acme/move", "PUT tenants/acme/quota", "PUT tenants/acme/status",
		"POST rebalance", "GET plan", "GET unplaced", "GET elsewhere",
	} {
		method, path, _ := strings.Cut(c, " ")
		status, body := s.call(method, "/_shard/"+path, "{}")
		require.Equal(t, problem.RouterFollows.Status, status, "%s: %s", c, body)
		require.Contains(t, body, "primary", c)
		require.Contains(t, body, problem.RouterFollows.Code, c)
	}
	status, _ := s.call("GET", "/_ready", "")
	require.Equal(t, 200, status)
	require.Equal(t, "1", s.metric("fenec_router_following"))
	require.Equal(t, "1", s.metric("fenec_replica_connected"))
	require.Equal(t, "0", s.metric("fenec_replica_behind"))
	require.Equal(t, "0", p.metric("fenec_router_following"))
	require.Equal(t, "1", p.metric("fenec_replicas"))
	require.Equal(t, "none", p.metric("fenec_replica_connected"))

	require.NoError(t, p.rt.directory.flip("acme", n2, 1))
	require.NoError(t, p.rt.directory.DeleteNode("n1"))
	s.caughtUp(p)
	_, body := s.call("GET", "/t/acme/x", "")
	require.Contains(t, body, `"node":"n2"`)
	_, body = s.call("GET", "/_shard/nodes", "")
	require.NotContains(t, body, n1.Addr)

	// The library changes nothing either, not even on nodes.
	_, err := s.rt.Create(context.Background(), "beta", NewTenant{})
	require.ErrorIs(t, err, ErrFollows)
	_, err = s.rt.Move(context.Background(), "acme", "n2")
	require.Error(t, err)
	require.ErrorIs(t, s.rt.directory.PutNode(n1), ErrFollows)
}

// What a node says of a tenant is for the primary to note.
func TestStandbyNoticesNothing(t *testing.T) {
	dir := t.TempDir()
	p := startStation(t, filepath.Join(dir, "p"), "", nil)
	ill := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `{"error":"it cannot be opened","code":"`+problem.TenantDegraded.Code+`"}`)
	}))
	t.Cleanup(ill.Close)
	n := Node{"n1", ill.Listener.Addr().String(), NewToken("x")}
	require.NoError(t, p.rt.directory.PutNode(n))
	require.NoError(t, p.rt.directory.Place("acme", n))
	logged := &bytes.Buffer{}
	s := startStation(t, filepath.Join(dir, "s"), p.addr, func(_ *DirectoryOptions, o *Options) { o.ErrorLog = log.New(logged, "", 0) })
	s.caughtUp(p)
	for range 3 {
		status, body := s.call("GET", "/t/acme/x", "")
		require.Equal(t, 503, status)
		require.Contains(t, body, "it cannot be opened")
	}
	require.NoError(t, p.rt.directory.notice("acme", true))
	s.caughtUp(p)
	for range 3 {
		_, body := s.call("GET", "/t/acme/x", "")
		require.Contains(t, body, "it cannot be opened", "it goes to the node")
	}
	require.NoError(t, p.rt.directory.SetStatus("acme", tenant.Degraded))
	s.caughtUp(p)
	_, body := s.call("GET", "/t/acme/x", "")
	require.NotContains(t, body, "it cannot be opened", "somebody has decided")
	s.stop()
	require.NotContains(t, logged.String(), "marked")
}

// D2, and the directory that comes later; neither has a tenant to be found before.
func TestStandbyWithoutADirectory(t *testing.T) {
	dir := t.TempDir()
	var arriving atomic.Pointer[station]
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := arriving.Load(); p != nil {
			p.rt.ServeHTTP(w, r) // whose other face is tried by this
			return
		}
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(gate.Close)
	s := startStation(t, filepath.Join(dir, "s"), gate.Listener.Addr().String(), nil)
	resp, body := s.ask("GET", "/t/acme/x", "", "")
	require.Equal(t, 503, resp.StatusCode, body)
	require.Equal(t, "1", resp.Header.Get("Retry-After"))
	status, _ := s.call("GET", "/_ready", "")
	require.Equal(t, 503, status)
	status, _ = s.call("GET", "/_health", "")
	require.Equal(t, 200, status)
	status, body = s.call("GET", "/_shard/tenants", "")
	require.Equal(t, 200, status)
	require.Equal(t, "[]", body)
	resp, body = s.ask("POST", "/_replication/promote", "", testReplicationToken)
	require.Equal(t, 409, resp.StatusCode, "it would be empty: %s", body)
	require.True(t, s.rt.follows())

	p, _, _ := primaryWith(t, filepath.Join(dir, "p"))
	arriving.Store(p)
	s.caughtUp(p)
	status, _ = s.call("GET", "/t/acme/x", "")
	require.Equal(t, 200, status)
	status, _ = s.call("GET", "/t/nobody/x", "")
	require.Equal(t, 404, status)
	status, _ = s.call("GET", "/_ready", "")
	require.Equal(t, 200, status)
	arriving.Store(nil)
}

// A router by hosts tells as well that it does not know yet.
func TestStandbyByHosts(t *testing.T) {
	d, err := OpenDirectoryWith(filepath.Join(t.TempDir(), "s"), DirectoryOptions{Follow: "http://127.0.0.1:1"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	rt, err := New(Options{Directory: d, ReplicationToken: NewToken("x"),
		Resolver: tenant.ByHost{Registry: d, Domain: "example.com"}, ErrorLog: log.New(testWriter{t}, "", 0)})
	require.NoError(t, err)
	defer rt.Shutdown(context.Background())
	w := httptest.NewRecorder()
	rt.ServeHTTP(w, httptest.NewRequest("GET", "http://acme.example.com/notes", nil))
	require.Equal(t, 503, w.Code)
}

// D4, beside traffic that notices nothing.
func TestPromoteBesideTraffic(t *testing.T) {
	dir := t.TempDir()
	p, _, _ := primaryWith(t, filepath.Join(dir, "p"))
	s := startStation(t, filepath.Join(dir, "s"), p.addr, nil)
	s.caughtUp(p)
	var asked, wrong atomic.Int64
	var clients sync.WaitGroup
	over := make(chan struct{})
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				resp, err := http.Get("http://" + s.addr + "/t/acme/x")
				if err != nil || resp.StatusCode != 200 {
					wrong.Add(1)
				}
				if err == nil {
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				asked.Add(1)
			}
		})
	}
	more := func() {
		from := asked.Load()
		eventually(t, func() bool { return asked.Load() > from+20 })
	}
	more()
	p.stop()
	more()
	before := s.status().Seq
	resp, body := s.ask("POST", "/_replication/promote", "", testReplicationToken)
	require.Equal(t, 200, resp.StatusCode, body)
	var promoted struct {
		Promoted bool
		Seq      uint64
	}
	require.NoError(t, json.Unmarshal([]byte(body), &promoted))
	require.True(t, promoted.Promoted)
	require.Equal(t, before, promoted.Seq)
	status, body := s.call("PUT", "/_shard/tenants/beta", `{"node":"n2"}`)
	require.Equal(t, 201, status, body)
	more()
	close(over)
	clients.Wait()
	require.Zero(t, wrong.Load())
	status, _ = s.call("GET", "/t/beta/x", "")
	require.Equal(t, 200, status)
	require.Equal(t, "0", s.metric("fenec_router_following"))
	require.Equal(t, "none", s.metric("fenec_replica_connected"))
	require.Equal(t, "primary", s.status().Role)

	resp, _ = s.ask("POST", "/_replication/promote", "", testReplicationToken)
	require.Equal(t, 409, resp.StatusCode)
	require.ErrorIs(t, s.rt.Promote(context.Background()), fenec.ErrNotReplica)
	require.ErrorIs(t, p.rt.Promote(context.Background()), fenec.ErrNotReplica)
	s.stop()
	again := startStation(t, s.file, "", nil)
	status, _ = again.call("GET", "/t/beta/x", "")
	require.Equal(t, 200, status)
}

// D5: the old primary comes back with a change of its own, at the very number that the new
// one has come to. It gets an image, and its maps what that holds.
func TestOldPrimaryRejoins(t *testing.T) {
	dir := t.TempDir()
	p, n1, n2 := primaryWith(t, filepath.Join(dir, "p"))
	s := startStation(t, filepath.Join(dir, "s"), p.addr, nil)
	s.caughtUp(p)
	require.NoError(t, s.rt.Promote(context.Background()))
	require.NoError(t, p.rt.directory.Place("own", n1))
	require.NoError(t, s.rt.directory.Place("other", n2))
	p.stop()
	p = startStation(t, p.file, s.addr, nil)
	p.caughtUp(s)
	eventually(t, func() bool { return p.status().Images == 1 })
	require.Equal(t, knownBy(s.rt.directory), knownBy(p.rt.directory))
	status, _ := p.call("GET", "/t/own/x", "")
	require.Equal(t, 404, status)
	status, body := p.call("GET", "/t/other/x", "")
	require.Equal(t, 200, status, body)

	require.NoError(t, s.rt.directory.Place("later", n1))
	p.caughtUp(s)
	require.EqualValues(t, 1, p.status().Images)
	require.Equal(t, knownBy(s.rt.directory), knownBy(p.rt.directory))
}

// An image may land on the number that the maps were read at.
func TestImageAtTheSameNumber(t *testing.T) {
	f := newFollowed(t, 0)
	threeNodesOf(t, f.primary, "a")
	f.follow()
	at := f.db.Seq()
	other := newFollowed(t, 0)
	for i := 0; other.db.Seq() < at; i++ {
		require.NoError(t, other.primary.PutNode(Node{fmt.Sprint("m", i), fmt.Sprintf("a:%d", i+1), NewToken("x")}))
		other.come()
	}
	require.Equal(t, at, other.db.Seq())
	f.catcher.catchUp(other.db)
	require.Equal(t, knownBy(other.primary), knownBy(f.catcher.directory))
}

// D6, and what else cannot be.
func TestFilesOfStandbys(t *testing.T) {
	dir := t.TempDir()
	p, _, n2 := primaryWith(t, filepath.Join(dir, "p"))
	s := startStation(t, filepath.Join(dir, "s"), p.addr, nil)
	s.caughtUp(p)
	s.stop()
	_, err := OpenDirectory(s.file)
	require.ErrorIs(t, err, ErrFollows)
	require.ErrorContains(t, err, "--promote")
	d, err := OpenDirectoryWith(s.file, DirectoryOptions{Follow: "http://127.0.0.1:1"})
	require.NoError(t, err)
	_, err = New(Options{Directory: d})
	require.ErrorContains(t, err, "token")
	require.NoError(t, d.Close())
	_, err = OpenDirectoryWith(s.file, DirectoryOptions{Follow: "https://127.0.0.1:1"})
	require.ErrorContains(t, err, "http://")
	_, err = OpenDirectoryWith("", DirectoryOptions{Follow: "http://127.0.0.1:1"})
	require.ErrorContains(t, err, "memory")

	for forks := 2; forks < 4; forks++ { // of what is a primary's it makes one that goes before all others
		d, err = OpenDirectoryWith(s.file, DirectoryOptions{Promote: true})
		require.NoError(t, err)
		require.Len(t, d.lineage(), forks)
		require.NoError(t, d.SetStatus("acme", tenant.Active))
		require.NoError(t, d.Close())
	}
	d, err = OpenDirectory(s.file)
	require.NoError(t, err)
	require.NoError(t, d.Place("beta", n2))
	require.NoError(t, d.Close())

	own := filepath.Join(dir, "own")
	d, err = OpenDirectory(own)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	d, err = OpenDirectoryWith(own, DirectoryOptions{Follow: "http://127.0.0.1:1"})
	require.NoError(t, err, "there is nothing in it")
	require.NoError(t, d.Close())
	own = filepath.Join(dir, "filled")
	d, err = OpenDirectory(own)
	require.NoError(t, err)
	require.NoError(t, d.PutNode(n2))
	require.NoError(t, d.Close())
	_, err = OpenDirectoryWith(own, DirectoryOptions{Follow: "http://127.0.0.1:1"})
	require.ErrorIs(t, err, ErrNeverReplicated)
	d, err = OpenDirectory(own)
	require.NoError(t, err, "and it is as it was")
	require.NoError(t, d.Close())

	var logged bytes.Buffer
	d, err = OpenDirectoryWith(s.file, DirectoryOptions{Follow: "http://127.0.0.1:1", ErrorLog: log.New(&logged, "", 0)})
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.Contains(t, logged.String(), "GIVEN UP")
	d, err = OpenDirectoryWith(s.file, DirectoryOptions{Promote: true, ErrorLog: log.New(&logged, "", 0)})
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.Contains(t, logged.String(), "had not caught up")
}

// A router that was promoted while it ran stays the primary, though it is started again by
// whoever goes on to say that it follows.
func TestPromotedRouterIsStartedAgain(t *testing.T) {
	dir := t.TempDir()
	p, n1, _ := primaryWith(t, filepath.Join(dir, "p"))
	s := startStation(t, filepath.Join(dir, "s"), p.addr, nil)
	s.caughtUp(p)
	p.stop()
	require.NoError(t, s.rt.Promote(t.Context()))
	require.NoError(t, s.rt.directory.Place("own", n1))
	s.stop()
	s = startStation(t, s.file, p.addr, nil)
	require.False(t, s.rt.follows())
	_, ok := s.rt.directory.Tenant("own")
	require.True(t, ok)
	require.NoError(t, s.rt.directory.Place("more", n1))
	s.stop()
	elsewhere := startStation(t, s.file, "127.0.0.1:1", nil)
	require.True(t, elsewhere.rt.follows())
	require.NoFileExists(t, s.file+".promoted")
}

// D7 through two routers: what comes at once is more than the history goes back.
func TestStandbyWithAShortHistory(t *testing.T) {
	dir := t.TempDir()
	p, n1, _ := primaryWith(t, filepath.Join(dir, "p"))
	s := startStation(t, filepath.Join(dir, "s"), p.addr, func(d *DirectoryOptions, _ *Options) { d.history = 16 })
	s.caughtUp(p)
	before := s.rt.standby.catcher.wholes.Load()
	require.NoError(t, p.rt.directory.file.write(func(r rows) error {
		for i := range 2500 {
			if err := r.putTenant(Tenant{Name: fmt.Sprint("t", i), Node: n1.Name, State: StateActive, Epoch: 1}); err != nil {
				return err
			}
		}
		return nil
	}))
	s.caughtUp(p)
	require.Greater(t, s.rt.standby.catcher.wholes.Load(), before)
	status, _ := s.call("GET", "/t/t2499/x", "")
	require.Equal(t, 200, status)
}

// A router that is started again without its primary goes on by what it has.
func TestStandbyStartsAlone(t *testing.T) {
	dir := t.TempDir()
	p, n1, _ := primaryWith(t, filepath.Join(dir, "p"))
	s := startStation(t, filepath.Join(dir, "s"), p.addr, nil)
	s.caughtUp(p)
	s.stop()
	p.stop()
	s = startStation(t, s.file, p.addr, nil)
	status, _ := s.call("GET", "/t/acme/x", "")
	require.Equal(t, 200, status)
	status, _ = s.call("GET", "/_ready", "")
	require.Equal(t, 200, status)
	require.NoError(t, s.rt.Promote(context.Background()), "it had caught up")
	require.NoError(t, s.rt.directory.Place("later", n1))
}

// What a router that follows says to have on disk is in its maps, too.
func TestStandbyReports(t *testing.T) {
	dir := t.TempDir()
	p, n1, _ := primaryWith(t, filepath.Join(dir, "p"))
	s := startStation(t, filepath.Join(dir, "s"), p.addr, nil)
	s.caughtUp(p)
	for i := range 20 {
		name := fmt.Sprint("t", i)
		require.NoError(t, p.rt.directory.Place(name, n1))
		eventually(t, func() bool {
			st := p.status()
			return len(st.Replicas) == 1 && st.Replicas[0].Held == st.Seq
		})
		_, ok := s.rt.directory.Tenant(name)
		require.True(t, ok)
	}
}

// A third router follows the second, and goes on when that is promoted.
func TestChainOfRouters(t *testing.T) {
	dir := t.TempDir()
	p, n1, _ := primaryWith(t, filepath.Join(dir, "p"))
	s := startStation(t, filepath.Join(dir, "s"), p.addr, nil)
	third := startStation(t, filepath.Join(dir, "third"), s.addr, nil)
	s.caughtUp(p)
	third.caughtUp(s)
	p.stop()
	require.NoError(t, s.rt.Promote(context.Background()))
	require.NoError(t, s.rt.directory.Place("later", n1))
	third.caughtUp(s)
	require.Equal(t, knownBy(s.rt.directory), knownBy(third.rt.directory))
	require.Equal(t, s.status().History, third.status().History)
}
