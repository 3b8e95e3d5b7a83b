package router

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// playingPrimary is the router that a part follows, "" for none.
const playingPrimary = "FENEC_TEST_PRIMARY"

// playStation plays a router over a directory file that others can follow.
func playStation(file, addr string) {
	primary := os.Getenv(playingPrimary)
	quiet := log.New(io.Discard, "", 0)
	d, err := OpenDirectoryWith(file, DirectoryOptions{Feed: 8 << 20, Follow: primary, Promote: primary == "", ErrorLog: quiet})
	if err != nil {
		panic(err)
	}
	rt, err := New(Options{Directory: d, ReplicationToken: NewToken(testReplicationToken), ErrorLog: quiet})
	if err != nil {
		panic(err)
	}
	playAt(addr, rt.Serve)
}

// startRole starts a router in a process of its own.
func startRole(t *testing.T, file, primary string) (*part, *station) {
	t.Setenv(playingPrimary, primary)
	p := startPart(t, "station", file, nil)
	return p, &station{t: t, file: file, addr: p.addr}
}

// The primary router is killed while it makes changes, again and again, and each time the
// one that follows takes its place: no change that was answered is missing. The one that
// was killed follows then.
func TestKilledPrimaryRouter(t *testing.T) {
	dir := t.TempDir()
	process, primary := startRole(t, filepath.Join(dir, "a"), "")
	n := sham(t, "n1")
	body, err := json.Marshal(map[string]string{"addr": n.Addr, "token": "admin"})
	require.NoError(t, err)
	status, text := primary.call("PUT", "/_shard/nodes/n1", string(body))
	require.Equal(t, 201, status, text)
	next, standby := startRole(t, filepath.Join(dir, "b"), "http://"+primary.addr)
	answered := map[string]bool{}
	for round := range 4 {
		standby.caughtUp(primary)
		for _, name := range createUntilKilled(primary.addr, round, process.kill) {
			answered[name] = true
		}
		eventually(t, func() bool { return !standby.status().Connected })
		resp, text := standby.ask("POST", "/_replication/promote", "", testReplicationToken)
		require.Equal(t, 200, resp.StatusCode, text)
		_, text = standby.call("GET", "/_shard/tenants", "")
		var there []struct{ Name string }
		require.NoError(t, json.Unmarshal([]byte(text), &there))
		has := map[string]bool{}
		for _, at := range there {
			has[at.Name] = true
		}
		for name := range answered {
			require.True(t, has[name], "round %d: %s was answered", round, name)
		}
		killed := primary.file
		process, primary = next, standby
		next, standby = startRole(t, killed, "http://"+primary.addr)
	}
	standby.caughtUp(primary)
	_, want := primary.call("GET", "/_shard/tenants", "")
	_, got := standby.call("GET", "/_shard/tenants", "")
	require.Equal(t, want, got)
	require.Greater(t, len(answered), 50)
}

// createUntilKilled creates tenants by several clients, kills the router in the midst of
// it, and returns those whose creation was answered.
func createUntilKilled(addr string, round int, kill func()) (answered []string) {
	const enough = 30
	var mu sync.Mutex // guards answered
	var clients sync.WaitGroup
	killing := sync.OnceFunc(kill)
	for client := range 4 {
		clients.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("t%d-%d-%d", round, client, i)
				r, _ := http.NewRequest("PUT", "http://"+addr+"/_shard/tenants/"+name, bytes.NewReader(nil))
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					return
				}
				resp.Body.Close()
				mu.Lock()
				if resp.StatusCode == 201 {
					answered = append(answered, name)
				}
				over := len(answered) >= enough
				mu.Unlock()
				if over {
					killing()
				}
			}
		})
	}
	clients.Wait()
	return answered
}
