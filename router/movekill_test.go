package router

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	fenecclient "github.com/fenec-go/fenecdb/fenec/client"
)

// moveSteps are the steps of a move that comes to its end.
var moveSteps = []string{"begin", "freeze", "install", "quota", "check", "flip", "remove", "clear", "purge", "forget"}

// killCluster is a router and two nodes, each in a process of its own, with one tenant.
type killCluster struct {
	t             *testing.T
	router        *part
	nodes         map[string]*part
	mu            sync.Mutex // guards at
	at            func(step string)
	dir           string
	directoryPath string
}

func newKillCluster(t *testing.T) *killCluster {
	c := &killCluster{t: t, nodes: map[string]*part{}, dir: t.TempDir()}
	for _, name := range []string{"n1", "n2"} {
		dir := filepath.Join(c.dir, name)
		c.nodes[name] = startPart(t, "tenants", dir, nil)
	}
	c.directoryPath = filepath.Join(c.dir, "shard.fenec")
	c.router = startPart(t, "shard", c.directoryPath, func(step string) {
		c.mu.Lock()
		f := c.at
		c.mu.Unlock()
		if f != nil {
			f(step)
		}
	})
	for _, name := range []string{"n1", "n2"} {
		status, body := shardCall(t, c.router.addr, "PUT", "nodes/"+name,
			fmt.Sprintf(`{"addr":%q,"token":%q}`, c.nodes[name].addr, clusterAdmin))
		require.Equal(t, 201, status, body)
	}
	acmeOn(t, c.router.addr, "n1")
	return c
}

func (c *killCluster) onStep(f func(step string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = f
}

// move asks for a move, again while the tenant is still seen to from the one before, and
// returns what came of it.
func (c *killCluster) move(to string) string {
	for {
		resp, err := http.Post("http://"+c.router.addr+"/_shard/tenants/acme/move", "", strings.NewReader(`{"to":"`+to+`"}`))
		if err != nil {
			return err.Error()
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusConflict || !strings.Contains(string(body), "in progress") {
			return string(body)
		}
	}
}

// where returns the node the tenant is on, "" while it is not at rest.
func (c *killCluster) where() string {
	resp, err := http.Get("http://" + c.router.addr + "/_shard/tenants")
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	var list []struct{ Name, Node, State string }
	if json.NewDecoder(resp.Body).Decode(&list) != nil || len(list) != 1 || list[0].State != string(StateActive) {
		return ""
	}
	return list[0].Node
}

// holders returns the nodes that have a file of the tenant.
func (c *killCluster) holders() (names []string) {
	for name := range c.nodes {
		if _, err := os.Stat(filepath.Join(c.dir, name, "acme.fenec")); err == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// requireSettled waits until the tenant is at rest, writable, with one copy.
func (c *killCluster) requireSettled() {
	c.t.Helper()
	settled := func() bool {
		at := c.where()
		return at != "" && slices.Equal(c.holders(), []string{at})
	}
	require.Eventually(c.t, settled, 60*time.Second, 5*time.Millisecond, "where: %s, files: %v", c.where(), c.holders())
	writable := func() bool {
		status, _ := statement(c.t, c.router.addr, "acme", "put docs {n: 99}")
		return status == 200
	}
	require.Eventually(c.t, writable, 60*time.Second, 5*time.Millisecond)
}

// A move whose router, source or target is killed at any step, and comes back, ends with
// one copy that has every row, writable.
func TestMoveKilledAtEveryStep(t *testing.T) {
	if testing.Short() {
		t.Skip("processes are killed and started many times")
	}
	c := newKillCluster(t)
	rows := 10
	for _, victim := range []string{"router", "source", "target"} {
		for _, step := range moveSteps {
			t.Run(victim+" before "+step, func(t *testing.T) {
				c.t = t
				from := c.where()
				to := "n2"
				if from == to {
					to = "n1"
				}
				reached, killed := make(chan struct{}), make(chan struct{})
				c.onStep(func(at string) {
					if at != step {
						return
					}
					c.onStep(nil)
					close(reached)
					defer close(killed)
					switch victim {
					case "router":
						c.router.kill()
					case "source":
						c.nodes[from].kill()
					case "target":
						c.nodes[to].kill()
					}
				})
				answered := make(chan string, 1)
				go func() { answered <- c.move(to) }()
				select {
				case <-reached:
				case body := <-answered:
					t.Fatalf("the move ended before: %s", body)
				}
				<-killed
				switch victim {
				case "router":
					c.router.start()
				case "source":
					c.nodes[from].start()
				case "target":
					c.nodes[to].start()
				}
				<-answered
				c.requireSettled()
				rows++
				require.Contains(t, mustRun(t, c.router.addr, "acme", "get docs count"), fmt.Sprintf(`"count":%d`, rows))
				require.Contains(t, mustRun(t, c.router.addr, "acme", "get n from docs near v [3.1, 0] limit 1"), `"n":3`)
			})
		}
	}
}

// busyTenant is written to and listened to while it moves.
type busyTenant struct {
	t       *testing.T
	addr    string
	stop    chan struct{}
	writers sync.WaitGroup
	wrote   sync.Map // n of each row, once it was acknowledged
}

func (b *busyTenant) open() *fenecclient.DB {
	db, err := fenecclient.Open("http://"+b.addr+"/t/acme",
		fenecclient.Options{Token: fenecclient.NewSecret(clusterData), Retries: 100})
	if err != nil {
		panic(err)
	}
	return db
}

// write puts rows of its own until the end. The client sends each under a key, so that
// it is there once whatever breaks on the way.
func (b *busyTenant) write(w int) {
	db := b.open()
	defer db.Close()
	for i := 0; ; i++ {
		select {
		case <-b.stop:
			return
		default:
		}
		n := w*1_000_000 + i
		if _, err := db.Exec(context.Background(), "put log {n: $1}", n); err != nil {
			b.t.Errorf("write %d: %v", n, err)
			return
		}
		b.wrote.Store(n, true)
	}
}

// listen collects the n of all rows, in the order in which a subscriber is told of them,
// until it is told of last. There must be one seed, at the beginning.
func (b *busyTenant) listen(ctx context.Context, last int) (seen []int, err error) {
	db := b.open()
	defer db.Close()
	sub, err := db.Subscribe(ctx, fenec.Shape{Collection: "log"}, fenec.NoCursor)
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	for first := true; ; first = false {
		event, err := sub.Next(ctx)
		if err != nil {
			return seen, err
		}
		if (event.Kind == fenec.EventSeed) != first {
			return seen, fmt.Errorf("%v at %d: a seed belongs at the beginning only", event.Kind, event.Seq)
		}
		rows, err := fenec.Collect[struct{ N int }](event.Rows)
		if err != nil {
			return seen, err
		}
		for _, row := range rows {
			seen = append(seen, row.N)
			if row.N == last {
				return seen, nil
			}
		}
	}
}

// requireOnce checks that a subscriber was told of every row once, and of each writer's
// rows in their order.
func (b *busyTenant) requireOnce(seen []int) {
	told, latest := map[int]bool{}, map[int]int{}
	for _, n := range seen {
		require.False(b.t, told[n], "told twice of %d", n)
		told[n] = true
		w := n / 1_000_000
		require.LessOrEqual(b.t, latest[w], n, "out of order")
		latest[w] = n
	}
	b.wrote.Range(func(n, _ any) bool {
		require.True(b.t, told[n.(int)], "not told of %d", n)
		return true
	})
}

// While 16 writers and 4 subscribers are at work, a tenant moves back and forth: no
// acknowledged write is lost, none happens twice, and every subscriber is told of every
// row once.
func TestMoveUnderLoad(t *testing.T) {
	moves := 6
	if os.Getenv("FENEC_LONG") != "" {
		moves = 50
	}
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{Hold: 5 * time.Second}, n1, n2)
	acmeOn(t, addr, "n1")
	mustRun(t, addr, "acme", "create collection log (n int @sorted)")
	b := &busyTenant{t: t, addr: addr, stop: make(chan struct{})}
	const last = 1 << 40
	type told struct {
		seen []int
		err  error
	}
	listeners := make(chan told, 4)
	for range cap(listeners) {
		go func() {
			seen, err := b.listen(t.Context(), last)
			listeners <- told{seen, err}
		}()
	}
	for w := range 16 {
		b.writers.Go(func() { b.write(w) })
	}
	for i := range moves {
		to, from := n2, n1
		if i%2 == 1 {
			to, from = n1, n2
		}
		moved, err := rt.Move(t.Context(), "acme", to.Name)
		require.NoError(t, err)
		require.Equal(t, from.Name, moved.From)
	}
	close(b.stop)
	b.writers.Wait()
	mustRun(t, addr, "acme", fmt.Sprintf("put log {n: %d}", last))
	for range cap(listeners) {
		l := <-listeners
		require.NoError(t, l.err)
		b.requireOnce(l.seen)
	}
	count := 1 // the last
	b.wrote.Range(func(any, any) bool { count++; return true })
	require.Greater(t, count, moves)
	require.Contains(t, mustRun(t, addr, "acme", "get log count"), fmt.Sprintf(`"count":%d}`, count))
	require.Contains(t, mustRun(t, addr, "acme", "get count(distinct n) as c from log"), fmt.Sprintf(`"c":%d}`, count))
	require.Eventually(t, func() bool { return len(rt.directory.Strays()) == 0 }, 20*time.Second, time.Millisecond)
	requireSettled(t, rt, addr, n1, n2)
}
