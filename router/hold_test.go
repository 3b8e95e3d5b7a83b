package router

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
	"github.com/fenec-go/fenecdb/internal/problem"
	"github.com/fenec-go/fenecdb/tenant"
)

func TestCertainlyWrites(t *testing.T) {
	for request, want := range map[string]bool{
		"GET /t/acme/notes":              false,
		"HEAD /t/acme/notes":             false,
		"OPTIONS /t/acme/notes":          false,
		"POST /t/acme/notes":             true,
		"POST //t//acme//notes?a=/near":  true,
		"POST /t/acme/notes/near":        false,
		"POST /t/acme/query":             false,
		"POST /t/acme/batch":             false,
		"PUT /t/acme/query":              true,
		"PATCH /t/acme/notes":            true,
		"DELETE /t/acme/notes/near":      true,
		"POST /t/acme/_schema/apply":     false,
		"PUT /t/acme/_changes/consumers": false,
		"POST /t/acme":                   true,
	} {
		method, target, _ := strings.Cut(request, " ")
		require.Equal(t, want, certainlyWrites(http1.ParseMethod([]byte(method)), []byte(target)), request)
	}
}

func TestListen(t *testing.T) {
	body := func(p problem.Problem) string {
		return fmt.Sprintf(`{"error":"so it is","code":%q,"retry_after":1}`, p.Code)
	}
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   word
	}{
		{"frozen", 503, body(problem.TenantFrozen), misses},
		{"unknown", 404, body(problem.UnknownTenant), misses},
		{"degraded", 503, body(problem.TenantDegraded), degraded},
		{"provisioning", 503, body(problem.TenantProvisioning), nothing},
		{"busy", 503, `{"error":"busy","retry_after":1}`, nothing},
		{"unknown collection", 404, `{"error":"unknown collection"}`, nothing},
		{"another status", 200, body(problem.TenantFrozen), nothing},
		{"frozen with the status of unknown", 404, body(problem.TenantFrozen), nothing},
		{"in a text", 503, `{"error":"\"code\":\"` + problem.TenantFrozen.Code + `\""}`, nothing},
		{"too long", 503, strings.Repeat(" ", maxRefusal) + body(problem.TenantFrozen), nothing},
		{"empty", 503, "", nothing},
	} {
		require.Equal(t, c.want, listen(c.status, []byte(c.body)), c.name)
	}
}

// theatre is a router with a tenant that moves from n1 to n2. A node answers a request
// with its name, if it has the tenant, and no write while it is frozen.
type theatre struct {
	t    *testing.T
	rt   *Router
	addr string // of the router's own server

	mu     sync.Mutex // guards the fields below
	at     string     // the node that has the file
	frozen bool
	got    []string // what has reached a node
}

func newTheatre(t *testing.T, hold time.Duration) *theatre {
	th := &theatre{t: t, at: "n1"}
	d, err := OpenDirectory("")
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	for _, name := range []string{"n1", "n2"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { th.node(name, w, r) }))
		t.Cleanup(server.Close)
		require.NoError(t, d.PutNode(Node{Name: name, Addr: server.Listener.Addr().String(), Token: NewToken("x")}))
	}
	require.NoError(t, d.Place("acme", th.record(d, "n1")))
	th.rt, err = New(Options{Directory: d, Hold: hold, ErrorLog: log.New(io.Discard, "", 0)})
	require.NoError(t, err)
	th.rt.reconciler.close() // it would end the moves
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	th.addr = l.Addr().String()
	go th.rt.Serve(l)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		require.NoError(t, th.rt.Shutdown(ctx))
	})
	return th
}

func (th *theatre) record(d *Directory, name string) Node {
	n, ok := d.Node(name)
	require.True(th.t, ok)
	return n
}

func (th *theatre) node(name string, w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	th.mu.Lock()
	defer th.mu.Unlock()
	th.got = append(th.got, name+" "+r.Method+" "+r.URL.Path)
	refuse := func(p problem.Problem) {
		w.WriteHeader(p.Status)
		fmt.Fprintf(w, `{"error":"by %s","code":%q}`, name, p.Code)
	}
	switch {
	case th.at != name:
		refuse(problem.UnknownTenant)
	case th.frozen && (r.Method != "GET" && !strings.Contains(string(body), "get")):
		refuse(problem.TenantFrozen)
	default:
		io.WriteString(w, name)
	}
}

func (th *theatre) set(at string, frozen bool) {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.at, th.frozen = at, frozen
}

func (th *theatre) reached() []string {
	th.mu.Lock()
	defer th.mu.Unlock()
	return append([]string{}, th.got...)
}

// freeze begins a move: the tenant is frozen, and its gate closed.
func (th *theatre) freeze() (open func()) {
	require.NoError(th.t, th.rt.directory.beginMove("acme", "n2"))
	open = th.rt.directory.hold("acme")
	th.set("n1", true)
	return open
}

// flip ends the move on n2.
func (th *theatre) flip(open func()) {
	require.NoError(th.t, th.rt.directory.flip("acme", th.record(th.rt.directory, "n2"), 1))
	th.set("n2", false)
	open()
}

// backOut ends the move on n1.
func (th *theatre) backOut(open func()) {
	th.set("n1", false)
	require.NoError(th.t, th.rt.directory.endMove("acme", nil))
	open()
}

type said struct {
	status int
	body   string
}

// doors are the two faces of the router.
func (th *theatre) doors(test func(t *testing.T, th *theatre, ask func(ctx context.Context, method, target, body string) <-chan said), hold time.Duration) {
	for _, own := range []bool{true, false} {
		th.t.Run(map[bool]string{true: "Serve", false: "Handler"}[own], func(t *testing.T) {
			th := newTheatre(t, hold)
			addr := th.addr
			if !own {
				server := httptest.NewServer(th.rt)
				t.Cleanup(server.Close)
				addr = server.Listener.Addr().String()
			}
			test(t, th, func(ctx context.Context, method, target, body string) <-chan said {
				answer := make(chan said, 1)
				go func() {
					r, _ := http.NewRequestWithContext(ctx, method, "http://"+addr+target, strings.NewReader(body))
					resp, err := http.DefaultClient.Do(r)
					if err != nil {
						answer <- said{0, err.Error()}
						return
					}
					defer resp.Body.Close()
					text, _ := io.ReadAll(resp.Body)
					answer <- said{resp.StatusCode, string(text)}
				}()
				return answer
			})
		})
	}
}

var background = context.Background()

// M5: a write waits, and goes to the node that has the tenant then. Reads do not wait.
func TestWritesWaitForTheFlip(t *testing.T) {
	(&theatre{t: t}).doors(func(t *testing.T, th *theatre, ask func(context.Context, string, string, string) <-chan said) {
		open := th.freeze()
		var writes []<-chan said
		for _, request := range []string{"POST /t/acme/notes", "PATCH /t/acme/notes", "DELETE /t/acme/notes"} {
			method, target, _ := strings.Cut(request, " ")
			writes = append(writes, ask(background, method, target, "{}"))
		}
		require.Equal(t, said{200, "n1"}, <-ask(background, "GET", "/t/acme/notes", ""))
		require.Equal(t, said{200, "n1"}, <-ask(background, "POST", "/t/acme/query", "get notes"), "the node can tell that it reads")
		require.Equal(t, []string{"n1 GET /t/acme/notes", "n1 POST /t/acme/query"}, th.reached(), "writes are unsent")
		th.flip(open)
		for _, w := range writes {
			require.Equal(t, said{200, "n2"}, <-w)
		}
		require.Len(t, th.reached(), 5, "each is sent once")
	}, time.Hour)
}

// A statement that the node has refused unrun is sent again after the flip, and what was
// on its way to the node that has no such tenant any more.
func TestRefusedStatementsAreSentAgain(t *testing.T) {
	(&theatre{t: t}).doors(func(t *testing.T, th *theatre, ask func(context.Context, string, string, string) <-chan said) {
		open := th.freeze()
		answer := ask(background, "POST", "/t/acme/query", "put notes {}")
		require.Eventually(t, func() bool { return len(th.reached()) == 1 }, 5*time.Second, time.Millisecond)
		th.set("n2", false) // it is gone from n1 before the directory says so
		late := ask(background, "GET", "/t/acme/notes", "")
		require.Eventually(t, func() bool { return len(th.reached()) == 2 }, 5*time.Second, time.Millisecond)
		th.flip(open)
		require.Equal(t, said{200, "n2"}, <-answer)
		require.Equal(t, said{200, "n2"}, <-late)
	}, time.Hour)
}

func TestWritesGoOnWhenAMoveIsBackedOut(t *testing.T) {
	(&theatre{t: t}).doors(func(t *testing.T, th *theatre, ask func(context.Context, string, string, string) <-chan said) {
		open := th.freeze()
		held := ask(background, "POST", "/t/acme/notes", "{}")
		refused := ask(background, "POST", "/t/acme/batch", "put")
		require.Eventually(t, func() bool { return len(th.reached()) == 1 }, 5*time.Second, time.Millisecond)
		th.backOut(open)
		require.Equal(t, said{200, "n1"}, <-held)
		require.Equal(t, said{200, "n1"}, <-refused)
	}, time.Hour)
}

// When the time is over, the refusal is passed on as it came.
func TestHoldEnds(t *testing.T) {
	(&theatre{t: t}).doors(func(t *testing.T, th *theatre, ask func(context.Context, string, string, string) <-chan said) {
		open := th.freeze()
		defer open()
		start := time.Now()
		for _, target := range []string{"/t/acme/notes", "/t/acme/query"} {
			got := <-ask(background, "POST", target, "{}")
			require.Equal(t, 503, got.status)
			require.Contains(t, got.body, "by n1")
		}
		require.GreaterOrEqual(t, time.Since(start), 100*time.Millisecond)
		require.Equal(t, []string{"n1 POST /t/acme/notes", "n1 POST /t/acme/query"}, th.reached(), "each is sent once")
	}, 50*time.Millisecond)
}

func TestHoldOff(t *testing.T) {
	(&theatre{t: t}).doors(func(t *testing.T, th *theatre, ask func(context.Context, string, string, string) <-chan said) {
		open := th.freeze()
		defer open()
		for _, target := range []string{"/t/acme/notes", "/t/acme/query"} {
			require.Equal(t, 503, (<-ask(background, "POST", target, "{}")).status)
		}
	}, -1)
}

// Nobody waits where nothing moves: a tenant frozen by hand, and one whose file is lost.
func TestNoMoveNoWait(t *testing.T) {
	(&theatre{t: t}).doors(func(t *testing.T, th *theatre, ask func(context.Context, string, string, string) <-chan said) {
		th.set("n1", true)
		require.Equal(t, 503, (<-ask(background, "POST", "/t/acme/notes", "{}")).status)
		th.set("nowhere", false)
		got := <-ask(background, "GET", "/t/acme/notes", "")
		require.Equal(t, 404, got.status)
		require.Contains(t, got.body, "by n1")
		require.Len(t, th.reached(), 2)
	}, time.Hour)
}

// A router that finds a move that another has left knows of the freeze by its refusals
// only.
func TestFreezeBeforeTheGate(t *testing.T) {
	(&theatre{t: t}).doors(func(t *testing.T, th *theatre, ask func(context.Context, string, string, string) <-chan said) {
		require.NoError(t, th.rt.directory.beginMove("acme", "n2"))
		th.set("n1", true)
		answer := ask(background, "POST", "/t/acme/notes", "{}")
		require.Eventually(t, func() bool { return len(th.reached()) == 1 }, 5*time.Second, time.Millisecond)
		th.flip(func() {})
		require.Equal(t, said{200, "n2"}, <-answer)
	}, time.Hour)
}

// What becomes of the tenant meanwhile is what its clients are told.
func TestTenantChangesWhileItIsAwaited(t *testing.T) {
	(&theatre{t: t}).doors(func(t *testing.T, th *theatre, ask func(context.Context, string, string, string) <-chan said) {
		open := th.freeze()
		answer := ask(background, "POST", "/t/acme/query", "put")
		require.Eventually(t, func() bool { return len(th.reached()) == 1 }, 5*time.Second, time.Millisecond)
		require.NoError(t, th.rt.directory.SetStatus("acme", tenant.Degraded))
		open()
		got := <-answer
		require.Equal(t, 503, got.status)
		require.Contains(t, got.body, problem.TenantDegraded.Code)
	}, time.Hour)
}

// A client that goes away is not held, and the router's end ends the waiting.
func TestHoldEndsWithClientAndRouter(t *testing.T) {
	(&theatre{t: t}).doors(func(t *testing.T, th *theatre, ask func(context.Context, string, string, string) <-chan said) {
		open := th.freeze()
		defer open()
		ctx, leave := context.WithCancel(background)
		gone := ask(ctx, "POST", "/t/acme/notes", "{}")
		leave()
		require.Zero(t, (<-gone).status)
		waiting := ask(background, "POST", "/t/acme/query", "put")
		require.Eventually(t, func() bool { return len(th.reached()) > 0 }, 5*time.Second, time.Millisecond)
		require.NoError(t, th.rt.Shutdown(background))
		require.Equal(t, 503, (<-waiting).status)
	}, time.Hour)
}

// A busy client's connection is given back to the runtime while its request waits, and
// goes on.
func TestHoldOnTheExpressLane(t *testing.T) {
	th := newTheatre(t, time.Hour)
	conn, err := net.Dial("tcp", th.addr)
	require.NoError(t, err)
	defer conn.Close()
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }}}
	ask := func(method string) string {
		r, err := http.NewRequest(method, "http://x/t/acme/notes", strings.NewReader("{}"))
		require.NoError(t, err)
		resp, err := client.Do(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(text)
	}
	for range 3 {
		for range 30 {
			require.Equal(t, "n1", ask("GET"))
		}
		open := th.freeze()
		go th.backOut(open)
		require.Equal(t, "n1", ask("POST"))
	}
	open := th.freeze()
	go th.flip(open)
	for range 30 {
		require.Contains(t, []string{"n2"}, ask("POST"))
	}
}
