package router

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
)

// F1, F2: who is let in, and what the stream begins with, on both faces.
func TestReplicationRoutes(t *testing.T) {
	audit := &bytes.Buffer{}
	p := startStation(t, filepath.Join(t.TempDir(), "p"), "", func(_ *DirectoryOptions, o *Options) {
		o.Token, o.AuditLog = NewToken("secret"), audit
	})
	face := httptest.NewServer(p.rt)
	t.Cleanup(face.Close)
	own := p.addr
	for name, addr := range map[string]string{"Serve": own, "Handler": face.Listener.Addr().String()} {
		p.addr = addr
		for _, c := range []struct {
			method, path, token string
			status              int
		}{
			{"GET", "", "", 401}, {"GET", "", "wrong", 401}, {"GET", "", "secret", 401}, {"GET", "/status", "secret", 401},
			{"GET", "/status", "", 401}, {"POST", "/promote", "wrong", 401}, {"POST", "/promote", testReplicationToken, 409},
			{"GET", "/status", testReplicationToken, 200}, {"GET", "/elsewhere", testReplicationToken, 404},
			{"POST", "", testReplicationToken, 405}, {"PUT", "/", testReplicationToken, 405}, {"GET", "?since=x", testReplicationToken, 400},
		} {
			resp, body := p.ask(c.method, "/_replication"+c.path, "", c.token)
			require.Equal(t, c.status, resp.StatusCode, "%s %+v: %s", name, c, body)
		}
		ctx, cancel := context.WithCancel(context.Background())
		r, err := http.NewRequestWithContext(ctx, "GET", "http://"+addr+"/_replication/?since=0", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+testReplicationToken)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.Equal(t, 200, resp.StatusCode)
		require.Equal(t, replication.ContentType, resp.Header.Get("Content-Type"))
		require.Equal(t, "no-cache, no-transform", resp.Header.Get("Cache-Control"))
		require.NotEmpty(t, resp.Header.Get("X-Request-Id"))
		require.True(t, resp.Close)
		in := replication.NewDecoder(resp.Body)
		m, err := in.Next()
		require.NoError(t, err)
		require.IsType(t, replication.Hello{}, m)
		m, err = in.Next()
		require.NoError(t, err)
		require.EqualValues(t, 1, m.(replication.Writes).First)
		require.Equal(t, 1, len(p.status().Replicas))
		cancel()
		resp.Body.Close()
		eventually(t, func() bool { return len(p.status().Replicas) == 0 })
	}
	var events []string
	for line := range bytes.Lines(audit.Bytes()) {
		var e struct{ Event, Path string }
		require.NoError(t, json.Unmarshal(line, &e))
		if e.Event == "admin" {
			events = append(events, e.Path)
		}
	}
	require.Equal(t, []string{"/_replication/promote", "/_replication/promote"}, events)
}

// Without a token there is nothing there, and one without a feed says so.
func TestNoReplication(t *testing.T) {
	rt, err := New(Options{})
	require.NoError(t, err)
	defer rt.Shutdown(context.Background())
	for _, path := range []string{"", "/status", "/promote"} {
		w := httptest.NewRecorder()
		rt.ServeHTTP(w, httptest.NewRequest("GET", "/_replication"+path, nil))
		require.Equal(t, 404, w.Code)
	}
	p := startStation(t, filepath.Join(t.TempDir(), "p"), "", func(d *DirectoryOptions, _ *Options) { d.Feed = 0 })
	resp, body := p.ask("GET", "/_replication", "", testReplicationToken)
	require.Equal(t, 409, resp.StatusCode, body)
}

// Streams end with the router, and those who follow are told why it ends.
func TestStreamEndsWithTheRouter(t *testing.T) {
	for _, handler := range []bool{false, true} {
		p := startStation(t, filepath.Join(t.TempDir(), "p"), "", nil)
		addr := p.addr
		if handler {
			face := httptest.NewServer(p.rt)
			t.Cleanup(face.Close)
			addr = face.Listener.Addr().String()
		}
		r, err := http.NewRequest("GET", "http://"+addr+"/_replication", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+testReplicationToken)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		begun := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		require.NoError(t, p.rt.Shutdown(ctx))
		io.Copy(io.Discard, resp.Body)
		require.Less(t, time.Since(begun), 4*time.Second)
	}
}

// L16, L15: a router that follows grants nothing, and waits once it is promoted.
func TestStandbyGrantsNothing(t *testing.T) {
	dir := t.TempDir()
	p, _, _ := primaryWith(t, filepath.Join(dir, "p"))
	s := startStation(t, filepath.Join(dir, "s"), p.addr, func(_ *DirectoryOptions, o *Options) { o.AutoFailover = time.Minute })
	s.caughtUp(p)
	s.rt.leasing.mu.Lock()
	require.Nil(t, s.rt.leasing.leases)
	s.rt.leasing.mu.Unlock()
	_, err := s.rt.leasing.handOver(context.Background(), "n1", []string{"acme"}, true)
	require.ErrorIs(t, err, ErrFollows)
	status, _ := s.call("GET", "/_metrics", "")
	require.Equal(t, 200, status)
	require.NoError(t, s.rt.Promote(context.Background()))
	s.rt.leasing.mu.Lock()
	defer s.rt.leasing.mu.Unlock()
	require.NotNil(t, s.rt.leasing.leases)
	require.True(t, s.rt.leasing.behind)
	require.Len(t, s.rt.leasing.tenures, 2)
}

// What a router has left is taken up by the one that takes its place.
func TestPromotionTakesUpWhatIsLeft(t *testing.T) {
	dir := t.TempDir()
	p, n1, _ := primaryWith(t, filepath.Join(dir, "p"))
	s := startStation(t, filepath.Join(dir, "s"), p.addr, nil)
	p.rt.reconciler.close() // it has died in the midst of things
	require.NoError(t, p.rt.directory.abandon(Stray{Tenant: "gone", Node: n1.Name}))
	require.NoError(t, p.rt.directory.SetAttrs("n1", Attrs{Draining: true}))
	s.caughtUp(p)
	require.Len(t, s.rt.directory.Strays(), 1)
	p.stop()
	require.NoError(t, s.rt.Promote(context.Background()))
	eventually(t, func() bool { return len(s.rt.directory.Strays()) == 0 })
	s.rt.fleet.mu.Lock()
	defer s.rt.fleet.mu.Unlock()
	require.Contains(t, s.rt.fleet.drains, "n1")
}

// A promotion that has come half-way can be tried again.
func TestPromotionIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	p, n1, _ := primaryWith(t, filepath.Join(dir, "p"))
	s := startStation(t, filepath.Join(dir, "s"), p.addr, nil)
	s.caughtUp(p)
	require.NoError(t, s.rt.directory.file.use(func(db *fenec.DB) error {
		_, err := db.Promote(context.Background(), false)
		return err
	}))
	require.NoError(t, p.rt.directory.Place("lost", n1))
	<-s.rt.standby.replica.Load().Done()
	require.True(t, s.rt.follows())
	require.NoError(t, s.rt.Promote(context.Background()))
	require.NoError(t, s.rt.directory.Place("own", n1))
	require.Len(t, s.rt.directory.Tenants(), 2)
	s.rt.standby.close()
	require.ErrorIs(t, s.rt.Promote(context.Background()), ErrClosed)
}
