package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// handClock is a machine's two clocks, which a test moves.
type handClock struct {
	mu    sync.Mutex
	now   replication.Instant
	jumps int // the reading, counted from now on, that is the first one a day later; 0 for none
}

func newClock() *handClock {
	return &handClock{now: replication.Instant{Boot: time.Hour, Wall: 20000 * day}}
}

const day = 24 * time.Hour

func (c *handClock) read() replication.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.jumps--; c.jumps == 0 {
		c.now.Boot += day
	}
	return c.now
}

func (c *handClock) move(boot, wall time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now.Boot += boot
	c.now.Wall += wall
}

func (c *handClock) jumpAt(reading int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jumps = reading
}

// leased is a node that was started anew with leases, over the tenants acme and beta, who
// keep notes (a int).
type leased struct {
	*client
	clock *handClock
}

func startLeased(t *testing.T, opts node.Options) *leased {
	t.Helper()
	dir := t.TempDir()
	before, err := node.Open(dir, node.Options{AdminToken: secretA})
	require.NoError(t, err)
	for _, name := range []string{"acme", "beta"} {
		require.Equal(t, 201, admin(t, before, "PUT", "/_admin/tenants/"+name, "", nil))
		require.Equal(t, 200, send(before, "POST", "/t/"+name+"/query", `{"query":"create collection notes (a int)"}`).Code)
	}
	require.NoError(t, before.Close())
	clock := newClock()
	opts.AdminToken, opts.Lease, opts.LeaseClock = secretA, true, clock.read
	n, err := node.Open(dir, opts)
	require.NoError(t, err)
	srv := httptest.NewServer(n)
	t.Cleanup(func() {
		require.NoError(t, n.Close())
		srv.Close()
	})
	return &leased{&client{t, srv.URL, dir, n}, clock}
}

// grant gives a grant, whose answer has the status.
func (c *leased) grant(status int, grant string) (st replication.State) {
	c.t.Helper()
	got, body := c.do("POST", "/_admin/lease", "a", grant)
	require.Equal(c.t, status, got, "%s: %s", grant, body)
	require.NoError(c.t, json.Unmarshal([]byte(body), &st))
	return st
}

// writes sends a write, whose answer is 201, or else 503 and says why.
func (c *leased) writes(name, refusal string) {
	c.t.Helper()
	w := send(c.node, "POST", "/t/"+name+"/notes", `{"a":1}`)
	if refusal == "" {
		require.Equal(c.t, 201, w.Code, w.Body.String())
		return
	}
	c.refused(w, refusal)
}

func (c *leased) refused(w *httptest.ResponseRecorder, refusal string) {
	c.t.Helper()
	require.Equal(c.t, 503, w.Code, w.Body.String())
	require.Contains(c.t, w.Body.String(), refusal)
	require.Contains(c.t, w.Body.String(), `"retry_after":1,"code":"no-lease"}`)
	require.Equal(c.t, "1", w.Header().Get("Retry-After"))
}

const (
	minute = `{"ms":60000,"epoch":"e1","primaries":["acme"]}`
	renew  = `{"ms":60000,"epoch":"e1"}`

	noLease, lapsed, elsewhere = "no lease", "lapsed", "another node"
)

// L1-L4, L7, L21, L24, L25.
func TestLease(t *testing.T) {
	type step struct {
		boot, wall time.Duration // the clocks move first
		grant      string        // then it is given
		status     int           // which is answered with
		acme, beta string        // then they write, or are told
	}
	for name, steps := range map[string][]step{
		"none yet": {{acme: noLease, beta: noLease}},
		"a list": {
			{grant: minute, status: 200, beta: elsewhere},
			{boot: 59999 * time.Millisecond, beta: elsewhere},
			{boot: time.Millisecond, acme: lapsed, beta: lapsed},
		},
		"renewed": {
			{grant: minute, status: 200, beta: elsewhere},
			{boot: 50 * time.Second, wall: 50 * time.Second, grant: renew, status: 200, beta: elsewhere},
			{boot: 59 * time.Second, wall: 59 * time.Second, beta: elsewhere},
			{boot: time.Second, acme: lapsed, beta: lapsed},
		},
		"another list": {
			{grant: minute, status: 200, beta: elsewhere},
			{grant: `{"ms":60000,"epoch":"e2"}`, status: 412, beta: elsewhere},
			{grant: `{"ms":60000,"epoch":"e2","primaries":["beta"]}`, status: 200, acme: elsewhere},
			{grant: `{"ms":60000,"epoch":"e3","primaries":[]}`, status: 200, acme: elsewhere, beta: elsewhere},
		},
		"started anew": {
			{grant: renew, status: 412, acme: noLease, beta: noLease},
			{grant: minute, status: 200, beta: elsewhere},
		},
		"too short for anything": {
			{grant: `{"ms":1,"epoch":"e1","primaries":["acme","beta"]}`, status: 200},
			{boot: 20 * time.Millisecond, acme: lapsed, beta: lapsed},
		},
		"a process that stood still": {
			{grant: minute, status: 200, beta: elsewhere},
			{boot: 2 * time.Minute, wall: 2 * time.Minute, acme: lapsed, beta: lapsed},
			{grant: renew, status: 200, beta: elsewhere},
		},
		"a machine that was suspended, whose first clock stood still": {
			{grant: minute, status: 200, beta: elsewhere},
			{wall: 2 * time.Minute, acme: lapsed, beta: lapsed},
		},
		"a wall clock that is set back": {
			{grant: minute, status: 200, beta: elsewhere},
			{boot: 59 * time.Second, wall: -time.Hour, beta: elsewhere},
			{boot: time.Second, acme: lapsed, beta: lapsed},
		},
		"a grant that must not be taken": {
			{grant: minute, status: 200, beta: elsewhere},
			{boot: 30 * time.Second, grant: `{"ms":60000,"epoch":"e1","nonce":"0"}`, status: 412, beta: elsewhere},
			{boot: 30 * time.Second, acme: lapsed, beta: lapsed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := startLeased(t, node.Options{})
			for _, s := range steps {
				c.clock.move(s.boot, s.wall)
				if s.grant != "" {
					c.grant(s.status, s.grant)
				}
				c.writes("acme", s.acme)
				c.writes("beta", s.beta)
				c.want(200, "", "GET", "/t/acme/notes", "", "")
				c.want(200, "", "POST", "/t/beta/query", "", `{"query":"get notes"}`)
			}
		})
	}
}

// L3, L5, L7: what is answered to grants.
func TestLeaseAnswers(t *testing.T) {
	c := startLeased(t, node.Options{})
	none := `{"epoch":null,"primaries":0,"left_ms":null}`
	c.want(200, none, "GET", "/_admin/lease", "a", "")
	for _, wrong := range []string{
		``, `[]`, `{}`, `{"ms":0,"epoch":"e1"}`, `{"ms":-1,"epoch":"e1"}`, `{"ms":1.5,"epoch":"e1"}`, `{"ms":1}`, `{"ms":1,"epoch":""}`,
		`{"ms":1,"epoch":"e1","primaries":[1]}`, `{"ms":1,"epoch":"e1","primaries":"acme"}`, minute + minute,
	} {
		c.want(400, "", "POST", "/_admin/lease", "a", wrong)
	}
	c.want(401, "", "POST", "/_admin/lease", "", minute)
	c.want(404, "", "PUT", "/_admin/lease", "a", minute)
	c.want(200, none, "GET", "/_admin/lease", "a", "")

	st := c.grant(412, renew)
	require.Nil(t, st.Epoch)
	require.NotEmpty(t, st.Nonce)
	c.clock.move(time.Second, time.Second)
	st = c.grant(200, `{"ms":60000,"epoch":"e1","primaries":["acme"],"nonce":"`+st.Nonce+`"}`)
	require.Equal(t, "e1", *st.Epoch)
	require.EqualValues(t, 59_000, *st.LeftMS, "it counts from when the nonce was given")
	c.want(200, `{"epoch":"e1","primaries":1,"left_ms":59000}`, "GET", "/_admin/lease", "a", "")

	_, body := c.do("POST", "/_admin/lease", "a", `{"ms":60000,"epoch":"e2"}`)
	require.Contains(t, body, `{"error":"the node does not hold what the grant names","epoch":"e1","primaries":1,"left_ms":59000,"nonce":"`)
	require.Contains(t, figures(c.node), "\nfenec_lease_left_milliseconds 59000\n")
	require.Contains(t, figures(c.node), "\nfenec_lease_tenants 1\n")
	c.clock.move(day, day)
	c.want(200, `{"epoch":"e1","primaries":1,"left_ms":0}`, "GET", "/_admin/lease", "a", "")
}

// Of two routers, one that was promoted while the other still runs takes over.
func TestSupersededGrants(t *testing.T) {
	c := startLeased(t, node.Options{})
	list := func(tenant string, forks int) string {
		return fmt.Sprintf(`{"ms":60000,"epoch":"%s-%d","primaries":["%[1]s"],"history":"%016x","forks":%[2]d}`, tenant, forks, forks)
	}
	c.grant(200, list("acme", 1))
	c.grant(200, list("beta", 2))
	c.want(409, `{"error":"a directory with a later history gives the grants now","code":"lease-superseded"}`, "POST", "/_admin/lease", "a", list("acme", 1))
	c.writes("acme", elsewhere)
	c.writes("beta", "")
}

// Whose leases a node has had outlives its process: after the power was gone everywhere, a
// router that others had taken the place of gets nothing still, unless the node is told.
func TestAuthorityOutlivesTheNode(t *testing.T) {
	dir := t.TempDir()
	opts := node.Options{AdminToken: secretA, Lease: true, LeaseClock: newClock().read}
	grant := func(n *node.Node, history, forks int) int {
		body := fmt.Sprintf(`{"ms":60000,"epoch":"%d-%d","primaries":[],"history":"%016x","forks":%[2]d}`, history, forks, history)
		return admin(t, n, "POST", "/_admin/lease", body, nil)
	}
	open := func() *node.Node {
		n, err := node.Open(dir, opts)
		require.NoError(t, err)
		return n
	}
	n := open()
	require.Equal(t, 200, grant(n, 7, 2))
	require.NoError(t, n.Close())
	n = open()
	require.Equal(t, 409, grant(n, 5, 1), "an older directory")
	require.Equal(t, 409, grant(n, 6, 2), "another one that was promoted as often")
	require.Equal(t, 200, grant(n, 7, 2))
	require.Equal(t, 200, grant(n, 8, 3), "a later one")
	require.Equal(t, 409, grant(n, 7, 2))
	require.Equal(t, 200, admin(t, n, "DELETE", "/_admin/lease", "", nil))
	require.NoError(t, n.Close())
	n = open()
	require.Equal(t, 200, grant(n, 5, 1), "it was told")
	require.NoError(t, n.Close())
}

// L6, and what a node that writes without leases tells.
func TestNodeWithoutLeases(t *testing.T) {
	c := withNotes(t, node.Options{})
	for _, method := range []string{"GET", "POST"} {
		c.want(409, `{"error":"the node takes no leases"}`, method, "/_admin/lease", "a", minute)
	}
	require.NotContains(t, figures(c.node), "fenec_lease")
	_, err := node.Open(t.TempDir(), node.Options{Lease: true})
	require.ErrorContains(t, err, "AdminToken")
}

// L9: whatever changes a tenant is refused, reads and what is the node's own are not.
func TestLapsedLeaseRefusesEveryWrite(t *testing.T) {
	var db *fenec.DB
	c := startLeased(t, node.Options{Tenants: tenant.Options{
		DB: fenec.Options{SweepInterval: -1, FeedBytes: 1 << 20},
		OnOpen: func(id tenant.ID, opened *fenec.DB) error {
			if id.String() == "acme" {
				db = opened
			}
			return nil
		},
	}})
	c.grant(200, minute)
	query := func(text string) *httptest.ResponseRecorder {
		body, err := json.Marshal(map[string]string{"query": text})
		require.NoError(t, err)
		return send(c.node, "POST", "/t/acme/query", string(body))
	}
	require.Equal(t, 200, query("create collection old (at timestamp @ttl(1s))").Code)
	require.Equal(t, 200, query("put old {at: timestamp(1)}").Code)
	seq := db.Seq()
	c.clock.move(time.Minute, 0)
	for _, text := range []string{"put notes {a: 2}", "set notes {a: 2}", "del notes", "create collection z (a int)", "drop collection old", "create index on notes (a) @hash", "compact"} {
		c.refused(query(text), lapsed)
	}
	const schema = `{"format":1,"collections":[]}`
	for _, request := range [][3]string{
		{"POST", "/t/acme/batch", `{"query":"put notes {a: 2}"}`},
		{"POST", "/t/acme/batch", `{"query":"compact"}`},
		{"PATCH", "/t/acme/notes?a=1", `{"a":2}`},
		{"DELETE", "/t/acme/notes?a=1", ``},
		{"POST", "/t/acme/_schema/apply", schema},
		{"POST", "/t/acme/_changes/consumers/x", `{"since":0}`},
	} {
		c.refused(send(c.node, request[0], request[1], request[2]), lapsed)
	}
	for _, request := range [][3]string{
		{"POST", "/_admin/tenants/acme/schema", schema},
		{"PUT", "/_admin/tenants/acme/settings", `{"a":"b"}`},
	} {
		status, body := c.do(request[0], request[1], "a", request[2])
		require.Equal(t, 503, status, body)
		require.Contains(t, body, `"code":"no-lease"`)
	}
	_, err := db.Sweep(t.Context())
	require.ErrorIs(t, err, replication.ErrLapsed)
	require.Equal(t, seq, db.Seq())
	require.NoError(t, db.Checkpoint(t.Context()))
	c.want(200, `[]`, "GET", "/t/acme/notes", "", "")
	c.want(200, "", "PUT", "/_admin/tenants/acme/quota", "a", `{"rows":9}`)
	c.want(201, "", "PUT", "/_admin/tenants/gamma", "a", "")
	c.want(204, "", "DELETE", "/_admin/tenants/gamma", "a", "")
}

// What was answered to a write under a key is no longer the node's to tell.
func TestLapsedLeaseAndKeys(t *testing.T) {
	c := startLeased(t, node.Options{})
	c.grant(200, minute)
	keyed := func() *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/t/acme/notes", strings.NewReader(`{"a":1}`))
		r.Header.Set("Idempotency-Key", "k")
		w := httptest.NewRecorder()
		c.node.ServeHTTP(w, r)
		return w
	}
	first := keyed()
	require.Equal(t, 201, first.Code)
	require.Equal(t, first.Body.String(), keyed().Body.String())
	c.clock.move(time.Minute, 0)
	c.refused(keyed(), lapsed)
}

// L8: what was admitted before the lapse and lands after it is refused, whole.
func TestLapseWhileABatchRuns(t *testing.T) {
	slow := newHeld()
	c := startLeased(t, node.Options{Tenants: tenant.Options{DB: fenec.Options{Functions: slow.functions()}}})
	c.grant(200, minute)
	c.writes("acme", "")
	answer := make(chan *httptest.ResponseRecorder)
	go func() {
		answer <- send(c.node, "POST", "/t/acme/batch", `{"query":"put notes {a: 2}"}`+"\n"+`{"query":"set notes {a: 3} where hold(1)"}`)
	}()
	<-slow.begun
	c.clock.move(time.Minute, 0)
	close(slow.goOn)
	c.refused(<-answer, lapsed)
	c.want(200, `[{"id":1,"a":1}]`, "GET", "/t/acme/notes", "", "")
}

// TestLapseWithinAWrite has the lease lapse at each moment at which it is asked for: what
// is refused has not run, and of what has run nobody is told that it stands.
func TestLapseWithinAWrite(t *testing.T) {
	c := startLeased(t, node.Options{})
	var outcomes []string
	for reading := 1; len(outcomes) == 0 || outcomes[len(outcomes)-1] != "done"; reading++ {
		c.grant(200, minute)
		before := rows(c)
		c.clock.jumpAt(reading)
		w := send(c.node, "POST", "/t/acme/notes", `{"a":1}`)
		c.clock.jumpAt(0)
		switch written := rows(c) - before; {
		case w.Code == 201:
			require.Equal(t, 1, written)
			outcomes = append(outcomes, "done")
		case written == 1:
			require.Equal(t, 503, w.Code)
			require.Equal(t, `{"error":"it is not known whether the write stands: tenant \"acme\": the node's lease has lapsed","retry_after":1,"code":"outcome-unknown"}`, w.Body.String())
			require.Equal(t, "1", w.Header().Get("Retry-After"))
			outcomes = append(outcomes, "unknown")
		default:
			require.Zero(t, written)
			c.refused(w, lapsed)
			outcomes = append(outcomes, "refused")
		}
	}
	require.Equal(t, []string{"refused", "refused", "refused", "unknown", "done"}, outcomes, "as it is admitted, begins, lands, is answered")
}

// rows returns how many notes acme has.
func rows(c *leased) (n int) {
	c.t.Helper()
	_, body := c.do("GET", "/t/acme/notes?count", "", "")
	_, err := fmt.Sscanf(body, `{"count":%d}`, &n)
	require.NoError(c.t, err, body)
	return n
}

// A handler of another program gets the same refusals, in a handle's words.
func TestLeaseOfHandles(t *testing.T) {
	c := startLeased(t, node.Options{})
	c.grant(200, minute)
	h := c.node.Middleware(nil)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, _ := tenant.FromContext(r.Context())
		if _, err := h.Exec(r.Context(), "put notes {a: 1}"); err != nil {
			node.Error(w, r, err)
		}
	}))
	require.Equal(t, 200, ask(h, "localhost", "/t/acme/").Code)
	c.refused(ask(h, "localhost", "/t/beta/"), elsewhere)
	c.clock.move(time.Minute, 0)
	c.refused(ask(h, "localhost", "/t/acme/"), lapsed)
}

// A freeze and the lease are asked both, and so is a fence of the program's own.
func TestLeaseAndFreeze(t *testing.T) {
	var mine error
	c := startLeased(t, node.Options{Tenants: tenant.Options{Fence: func(tenant.ID) error { return mine }}})
	c.grant(200, minute)
	m := c.node.Tenants()
	exec := func() error {
		h, err := m.Acquire(t.Context(), "acme")
		require.NoError(t, err)
		defer h.Release()
		_, err = h.Exec(t.Context(), "put notes {a: 1}")
		return err
	}
	require.NoError(t, exec())
	_, err := m.Freeze(t.Context(), "acme", 0)
	require.NoError(t, err)
	require.ErrorIs(t, exec(), tenant.ErrFrozen)
	c.clock.move(time.Minute, 0)
	require.ErrorIs(t, exec(), tenant.ErrFrozen)
	require.NoError(t, m.Thaw(t.Context(), "acme"))
	require.ErrorIs(t, exec(), replication.ErrLapsed)
	_, err = m.Freeze(t.Context(), "acme", 0)
	require.NoError(t, err, "it takes no lease")
	require.NoError(t, m.Thaw(t.Context(), "acme"))
	c.grant(200, renew)
	require.NoError(t, exec())
	mine = os.ErrPermission
	require.ErrorIs(t, exec(), os.ErrPermission)
}

// By its own clocks, the machine's, a lease lapses too.
func TestLeaseByTheMachinesClocks(t *testing.T) {
	n, err := node.Open(t.TempDir(), node.Options{AdminToken: secretA, Lease: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, n.Close()) }()
	require.Equal(t, 201, admin(t, n, "PUT", "/_admin/tenants/acme", "", nil))
	writes := func() *httptest.ResponseRecorder {
		return send(n, "POST", "/t/acme/query", `{"query":"create collection if not exists notes (a int)"}`)
	}
	require.Equal(t, 200, admin(t, n, "POST", "/_admin/lease", minute, nil))
	require.Equal(t, 200, writes().Code)
	require.Equal(t, 200, admin(t, n, "POST", "/_admin/lease", `{"ms":1,"epoch":"e1"}`, nil))
	require.Eventually(t, func() bool {
		w := writes()
		return w.Code == 503 && strings.Contains(w.Body.String(), lapsed)
	}, 10*time.Second, time.Millisecond)
}

// TestGrantsBesideWrites has writers at work while the lease runs, lapses and is granted
// again. Once it has lapsed and the block that was landing has ended, nothing lands; what
// was refused has not run; what was answered as done stays.
func TestGrantsBesideWrites(t *testing.T) {
	c := startLeased(t, node.Options{Tenants: tenant.Options{DB: fenec.Options{Sync: fenec.SyncOff}}})
	m := c.node.Tenants()
	stop := make(chan struct{})
	var writing sync.WaitGroup
	const writers = 4
	answers := make([]map[int]int, writers) // the status, or 0 for one whose outcome is unknown, of each value
	for i := range writers {
		answers[i] = map[int]int{}
		writing.Go(func() {
			for value := i; ; value += writers {
				select {
				case <-stop:
					return
				default:
				}
				w := send(c.node, "POST", "/t/acme/notes", fmt.Sprintf(`{"a":%d}`, value))
				answers[i][value] = w.Code
				if strings.Contains(w.Body.String(), "outcome-unknown") {
					answers[i][value] = 0
				}
			}
		})
	}
	h, err := m.Acquire(t.Context(), "acme")
	require.NoError(t, err)
	defer h.Release()
	for range 50 {
		c.grant(200, minute)
		c.clock.move(30*time.Second, 0)
		c.grant(200, renew)
		written := h.Seq()
		for h.Seq() < written+20 {
			runtime.Gosched()
		}
		c.clock.move(time.Minute, 0)
		_, err := h.Exec(context.Background(), "put notes {a: -1}") // after the block that was landing
		if !errors.Is(err, replication.ErrLapsed) {
			t.Errorf("a write past the lapse: %v", err)
		}
		written = h.Seq()
		for range 20 {
			w := send(c.node, "POST", "/t/acme/notes", `{"a":-1}`)
			if w.Code != 503 {
				t.Errorf("past the lapse: %d %s", w.Code, w.Body.String())
			}
		}
		require.Equal(t, written, h.Seq())
	}
	close(stop)
	writing.Wait()
	c.check(h, answers)
}

// check compares the notes with what was answered to the writes of them.
func (c *leased) check(h *tenant.Handle, answers []map[int]int) {
	c.t.Helper()
	res, err := h.Query(c.t.Context(), "get notes select a")
	require.NoError(c.t, err)
	found := map[int]bool{}
	for row := range res.All() {
		var a int
		require.NoError(c.t, row.Scan(&a))
		found[a] = true
	}
	count := map[int]int{}
	for _, list := range answers {
		for value, status := range list {
			count[status]++
			if status != 0 {
				require.Equal(c.t, status == 201, found[value], "%d: answered %d", value, status)
			}
			require.Contains(c.t, []int{0, 201, 503}, status)
		}
	}
	require.Positive(c.t, count[201])
	require.Positive(c.t, count[503])
}

// Where statements of a batch stand, an answer never says that it has not run: whoever
// sends it again would write them twice.
func TestLapseAfterAStatementThatStands(t *testing.T) {
	c := startLeased(t, node.Options{})
	const batch = `{"query":"put notes {a: 1}"}` + "\n" + `{"query":"compact"}` + "\n" + `{"query":"put notes {a: 2}"}`
	stood := 0
	for reading := 1; ; reading++ {
		c.grant(200, minute)
		before := rows(c)
		c.clock.jumpAt(reading)
		w := send(c.node, "POST", "/t/acme/batch", batch)
		c.clock.jumpAt(0)
		if w.Code == 200 {
			break
		}
		require.Equal(t, 503, w.Code)
		if rows(c) > before {
			stood++
			require.Contains(t, w.Body.String(), `"code":"outcome-unknown"`)
		} else {
			require.Contains(t, w.Body.String(), `"code":"no-lease"`)
		}
	}
	require.Greater(t, stood, 2)
}
