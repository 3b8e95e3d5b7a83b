//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pair is a node and a standby of it, or a file and a replica of it, each a process of its
// own. The first may be killed and started again where it was.
type pair struct {
	t                *testing.T
	flag             string // --dir or --file
	data             string // of the primary
	prefix           string // of the database's paths
	addr             string
	primary, standby *command
	at, of           *world // what the clients of each know
}

// startPair starts a pair that --dir or --file is of.
func startPair(t *testing.T, flag string) *pair {
	unset(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &pair{t: t, flag: flag, data: t.TempDir(), addr: free.Addr().String(), at: &world{}, of: &world{}}
	require.NoError(t, free.Close())
	copied := t.TempDir()
	if flag == "--file" {
		p.data, copied = filepath.Join(p.data, "x.fenec"), filepath.Join(copied, "x.fenec")
	}
	p.start()
	p.standby = launch(t, flag, copied, "--admin-token", "a", "--replication-token", "r", "--replica-of", "http://"+p.addr)
	p.of.base = "http://" + p.standby.addr
	if flag == "--dir" {
		p.prefix = "/t/acme"
		for _, w := range []*world{p.at, p.of} {
			status, body := w.ask("PUT", "/_admin/tenants/acme", "")
			require.Equal(t, 201, status, body)
		}
	}
	status, body := p.at.ask("POST", p.prefix+"/query", `{"query":"create collection notes (n int @unique)"}`)
	require.Equal(t, 200, status, body)
	return p
}

// start starts the primary, where it was before.
func (p *pair) start() {
	p.t.Helper()
	p.primary = launchAt(p.t, p.addr, p.flag, p.data, "--admin-token", "a", "--sync", "always", "--replication-token", "r")
	p.at.base = "http://" + p.addr
}

// numbers returns the notes there are at one of the two.
func (p *pair) numbers(w *world) map[int]bool {
	p.t.Helper()
	status, body := w.ask("POST", p.prefix+"/query", `{"query":"get notes select n"}`)
	require.Equal(p.t, 200, status, body)
	var notes []struct{ N int }
	require.NoError(p.t, json.Unmarshal([]byte(body), &notes))
	found := map[int]bool{}
	for _, n := range notes {
		found[n.N] = true
	}
	return found
}

// standing is what the status of replication tells.
type standing struct {
	Role, History, Primary       string
	Seq                          uint64
	Durable                      *uint64
	Replicas                     []struct{ Lags bool }
	Connected                    bool
	PrimaryDurable               uint64 `json:"primary_durable"`
	Behind                       uint64
	LastContact                  *int64 `json:"last_contact_ms"`
	Images, Reconnects, Diverged uint64
}

// standingOf asks the database at a URL how its replication stands.
func standingOf(t *testing.T, base string) (st standing) {
	t.Helper()
	req, err := http.NewRequest("GET", base+"/_replication/status", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer r")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.NoError(t, json.NewDecoder(res.Body).Decode(&st))
	return st
}

func (p *pair) standing(w *world) standing { return standingOf(p.t, w.base+p.prefix) }

func (p *pair) level() {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return p.standing(p.of).Seq == p.standing(p.at).Seq }, 30*time.Second, 10*time.Millisecond)
}

// awaited waits until writes wait for the replica.
func (p *pair) awaited() {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		st := p.standing(p.at)
		return len(st.Replicas) == 1 && !st.Replicas[0].Lags
	}, 30*time.Second, 10*time.Millisecond)
}

// F10 and F22: a primary is killed amid writes, several times. What it has answered is on
// the replica, which goes on from there when it is back.
func TestKilledPrimary(t *testing.T) {
	t.Run("directory", func(t *testing.T) { killPrimary(startPair(t, "--dir"), 10) })
	t.Run("file", func(t *testing.T) { killPrimary(startPair(t, "--file"), 5) })
}

func killPrimary(p *pair, rounds int) {
	t := p.t
	next, answered := 0, map[int]bool{}
	for round := range rounds {
		p.awaited()
		for range 5 + round {
			status, _ := p.at.ask("POST", p.prefix+"/notes", fmt.Sprintf(`{"n":%d}`, next))
			require.Equal(t, http.StatusCreated, status)
			answered[next] = true
			next++
		}
		p.primary.kill() // right after an answer
		found := p.waitFor(next)
		for n := range answered {
			require.True(t, found[n], "round %d: note %d was answered and is not on the replica, which has %d of %d", round, n, len(found), len(answered))
		}
		p.start()
	}
	p.level()
	status, body := p.of.ask("GET", "/_metrics", "")
	require.Equal(t, 200, status)
	require.Contains(t, body, "\nfenec_replica_images_total 0\n")
	require.Contains(t, body, "\nfenec_replica_diverged_total 0\n")
}

// waitFor waits until the replica has taken what was in its socket when the primary died.
func (p *pair) waitFor(notes int) (found map[int]bool) {
	p.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		found = p.numbers(p.of)
		if len(found) >= notes || time.Now().After(deadline) {
			return found
		}
	}
}

// A primary that ends as it should has its replica know all, though that is written until the
// end.
func TestStoppedPrimary(t *testing.T) {
	t.Run("directory", func(t *testing.T) { stopPrimary(startPair(t, "--dir")) })
	t.Run("file", func(t *testing.T) { stopPrimary(startPair(t, "--file")) })
}

func stopPrimary(p *pair) {
	t := p.t
	p.level()
	var written atomic.Int64
	var writing sync.WaitGroup
	stop := make(chan struct{})
	writing.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if status, _ := p.at.ask("POST", p.prefix+"/notes", fmt.Sprintf(`{"n":%d}`, n)); status != http.StatusCreated {
				return
			}
			written.Add(1)
		}
	})
	require.Eventually(t, func() bool { return written.Load() > 20 }, 20*time.Second, time.Millisecond)
	began := time.Now()
	require.NoError(t, p.primary.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.primary.Wait())
	require.Less(t, time.Since(began), 10*time.Second)
	close(stop)
	writing.Wait()
	p.start()
	p.level()
	require.GreaterOrEqual(t, len(p.numbers(p.of)), int(written.Load()))
	require.Equal(t, p.numbers(p.at), p.numbers(p.of))
}
