//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestKilledNode kills a node amid everything that can be done to tenants, several times.
// Each start finds every tenant whole: with the notes whose writes were answered, once,
// and nobody else's.
func TestKilledNode(t *testing.T) {
	unset(t)
	dir := t.TempDir()
	world := &world{answered: map[string]map[int]bool{}}
	rounds := 4
	if os.Getenv("FENEC_LONG") != "" {
		rounds = 60
	}
	for round := range rounds {
		node := launch(t, "--dir", dir, "--admin-token", "a", "--sync", "always", "--max-open", "3", "--idle-close", "1")
		world.base = "http://" + node.addr
		world.check(t)
		world.trouble(node, round)
	}
	node := launch(t, "--dir", dir, "--admin-token", "a")
	world.base = "http://" + node.addr
	world.check(t)
}

// world is what clients of a node know of it.
type world struct {
	base string
	next int // number of a note; no two are the same

	mu       sync.Mutex              // guards the field below
	answered map[string]map[int]bool // notes that are there, by tenant
}

// worldTenants are there all the time, if not in the trash for a moment.
var worldTenants = []string{"t0", "t1", "t2", "t3"}

// ask sends a request, whose answer may not come.
func (w *world) ask(method, path, body string) (status int, answer string) {
	req, err := http.NewRequest(method, w.base+path, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer a")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(b)
}

// trouble does everything at once for a while, and kills the node amid it.
func (w *world) trouble(node *command, round int) {
	stop := make(chan struct{})
	var all sync.WaitGroup
	run := func(seed int, fn func(r *rand.Rand)) {
		r := rand.New(rand.NewPCG(uint64(round), uint64(seed)))
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					fn(r)
				}
			}
		})
	}
	for i, name := range worldTenants {
		n := w.next + i*1_000_000
		run(i, func(*rand.Rand) { n = w.write(name, n) })
	}
	w.next += 10_000_000
	any := func(r *rand.Rand) string { return worldTenants[r.IntN(len(worldTenants))] }
	run(10, func(r *rand.Rand) {
		name := any(r)
		w.ask("DELETE", "/_admin/tenants/"+name, "")
		w.ask("POST", "/_admin/tenants/"+name+"/undelete", "")
	})
	run(11, func(r *rand.Rand) {
		name := any(r)
		if status, image := w.ask("GET", "/_admin/tenants/"+name+"/file", ""); status == 200 {
			w.ask("PUT", "/_admin/tenants/copy-"+name+"/file", image)
			w.ask("DELETE", "/_admin/tenants/copy-"+name+"?purge=1", "")
		}
	})
	run(12, func(r *rand.Rand) {
		name := any(r)
		w.ask("PUT", "/_admin/tenants/"+name+"/quota", fmt.Sprintf(`{"rows":%d}`, 1_000_000+r.IntN(9)))
		w.ask("POST", "/_admin/tenants/"+name+"/freeze", `{"ms":5}`)
		w.ask("GET", "/_admin/tenants/"+name+"/usage", "")
		w.ask("GET", "/_admin/usage", "")
	})
	run(13, func(*rand.Rand) {
		w.ask("PUT", "/_admin/tenants/short", "")
		w.ask("DELETE", "/_admin/tenants/short", "")
	})
	timer := time.NewTimer(time.Duration(150+round%5*60) * time.Millisecond)
	<-timer.C
	node.kill()
	close(stop)
	all.Wait()
}

// write writes a note of a tenant's and returns the number of the next.
func (w *world) write(name string, n int) int {
	status, _ := w.ask("POST", "/t/"+name+"/notes", fmt.Sprintf(`{"who":%q,"n":%d}`, name, n))
	if status == 201 {
		w.mu.Lock()
		w.answered[name][n] = true
		w.mu.Unlock()
	}
	return n + 1
}

// check looks at every tenant, and makes those that are not there yet.
func (w *world) check(t *testing.T) {
	t.Helper()
	for _, name := range worldTenants {
		w.home(t, name)
		w.whole(t, name, name)
	}
	status, body := w.ask("GET", "/_admin/degraded", "")
	require.Equal(t, 200, status)
	require.Equal(t, "[]", body)
	var names []string
	_, body = w.ask("GET", "/_admin/tenants", "")
	require.NoError(t, json.Unmarshal([]byte(body), &names))
	for _, name := range names {
		if of, isCopy := strings.CutPrefix(name, "copy-"); isCopy {
			w.whole(t, name, of)
			status, body = w.ask("DELETE", "/_admin/tenants/"+name+"?purge=1", "")
			require.Equal(t, 204, status, body)
		}
	}
}

// home brings a tenant back that is in the trash, or makes it.
func (w *world) home(t *testing.T, name string) {
	t.Helper()
	if status, _ := w.ask("GET", "/t/"+name+"/", ""); status == 200 {
		return
	}
	if w.answered[name] != nil {
		status, body := w.ask("POST", "/_admin/tenants/"+name+"/undelete", "")
		require.Equal(t, 200, status, body)
		return
	}
	w.answered[name] = map[int]bool{}
	status, body := w.ask("PUT", "/_admin/tenants/"+name, "")
	require.Equal(t, 201, status, body)
	status, body = w.ask("POST", "/t/"+name+"/query", `{"query":"create collection notes (who text, n int @unique)"}`)
	require.Equal(t, 200, status, body)
}

// whole checks that a tenant has the notes of another or its own: all that were answered
// if it is the tenant itself, and nobody else's.
func (w *world) whole(t *testing.T, name, of string) {
	t.Helper()
	status, body := w.ask("POST", "/t/"+name+"/query", `{"query":"get notes select who, n"}`)
	require.Equal(t, 200, status, body)
	var notes []struct {
		Who string
		N   int
	}
	require.NoError(t, json.Unmarshal([]byte(body), &notes))
	there := map[int]bool{}
	for _, note := range notes {
		require.Equal(t, of, note.Who)
		require.False(t, there[note.N], "note %d is there twice", note.N)
		there[note.N] = true
	}
	if name != of {
		return
	}
	for n := range w.answered[name] {
		require.True(t, there[n], "%s: note %d was answered and is not there, of %d", name, n, len(notes))
	}
}
