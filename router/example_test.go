package router_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/router"
	"github.com/fenec-go/fenecdb/tenant"
	tenantnode "github.com/fenec-go/fenecdb/tenant/node"
)

// A router as the handler of any HTTP server, with a directory in memory.
func Example() {
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s of the node", r.RequestURI)
	}))
	defer node.Close()

	dir, err := router.OpenDirectory("") // a path, to keep it
	if err != nil {
		log.Fatal(err)
	}
	defer dir.Close()
	n1 := router.Node{Name: "n1", Addr: node.Listener.Addr().String(), Token: router.NewToken("its-admin-token")}
	if err := dir.PutNode(n1); err != nil {
		log.Fatal(err)
	}
	if err := dir.Place("acme", n1); err != nil {
		log.Fatal(err)
	}

	rt, err := router.New(router.Options{Directory: dir})
	if err != nil {
		log.Fatal(err)
	}
	gateway := httptest.NewServer(rt)
	defer gateway.Close()
	for _, path := range []string{"/t/acme/notes", "/t/nobody/notes"} {
		resp, err := http.Get(gateway.URL + path)
		if err != nil {
			log.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		fmt.Println(resp.StatusCode, string(body))
	}
	// Output:
	// 200 /t/acme/notes of the node
	// 404 {"error":"tenant nobody: unknown tenant","code":"unknown-tenant"}
}

// A forwarder by itself, behind a gateway that decides where requests go.
func ExampleForwarder() {
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "hello from the node")
	}))
	defer node.Close()

	forwarder := router.NewForwarder(router.ForwarderOptions{})
	defer forwarder.Close()
	target := router.Node{Name: "n1", Addr: node.Listener.Addr().String()}
	gateway := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		forwarder.Forward(w, r, target)
	})

	w := httptest.NewRecorder()
	gateway.ServeHTTP(w, httptest.NewRequest("GET", "/anything", nil))
	fmt.Println(w.Code, w.Body)
	// Output: 200 hello from the node
}

func ExampleDirectory() {
	dir, err := router.OpenDirectory("")
	if err != nil {
		log.Fatal(err)
	}
	defer dir.Close()
	n1 := router.Node{Name: "n1", Addr: "10.0.0.1:8080", Token: router.NewToken("secret")}
	if err := dir.PutNode(n1); err != nil {
		log.Fatal(err)
	}
	if err := dir.Place("acme", n1); err != nil {
		log.Fatal(err)
	}
	n, ok := dir.Lookup([]byte("acme"))
	fmt.Println(n, ok)
	fmt.Println(dir.DeleteNode("n1"))
	// Output:
	// {n1 10.0.0.1:8080 [redacted]} true
	// tenants are placed on the node
}

// A gateway that knows its customers by a key and finds their tenant by the host. The
// router behind it sees only what the gateway lets through.
func ExampleRouter() {
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.RequestURI, " with ", r.Header.Get("Authorization"))
	}))
	defer node.Close()
	dir, err := router.OpenDirectory("")
	if err != nil {
		log.Fatal(err)
	}
	defer dir.Close()
	n1 := router.Node{Name: "n1", Addr: node.Listener.Addr().String(), Token: router.NewToken("its-admin-token")}
	if err := dir.PutNode(n1); err != nil {
		log.Fatal(err)
	}
	if err := dir.Place("acme", n1); err != nil {
		log.Fatal(err)
	}

	rt, err := router.New(router.Options{
		Directory: dir,
		Resolver:  tenant.ByHost{Registry: dir, Domain: "example.com"},
		Token:     router.NewToken("of the operators"),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Shutdown(context.Background())
	gateway := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != "key-of-acme" {
			http.Error(w, "a key is required", http.StatusUnauthorized)
			return
		}
		r.Header.Set("Authorization", "Bearer data") // the nodes' token, which no customer knows
		rt.ServeHTTP(w, r)
	})
	for _, ask := range []struct{ host, key string }{
		{"acme.example.com", "key-of-acme"},
		{"acme.example.com", "guessed"},
		{"acme.example.org", "key-of-acme"},
	} {
		r := httptest.NewRequest("GET", "/notes?limit=1", nil)
		r.Host = ask.host
		r.Header.Set("X-Api-Key", ask.key)
		w := httptest.NewRecorder()
		gateway.ServeHTTP(w, r)
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
	}
	// Output:
	// 200 /t/acme/notes?limit=1 with Bearer data
	// 401 a key is required
	// 421 {"error":"no tenant is served here"}
}

// Two nodes in this process, and a tenant that moves from one to the other.
func ExampleRouter_Move() {
	files, err := os.MkdirTemp("", "router-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(files)
	rt, err := router.New(router.Options{}) // with a directory in memory
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Directory().Close()
	defer rt.Shutdown(context.Background())
	for _, name := range []string{"n1", "n2"} {
		token := router.NewToken("admin")
		n, err := tenantnode.Open(filepath.Join(files, name), tenantnode.Options{AdminToken: token})
		if err != nil {
			log.Fatal(err)
		}
		defer n.Close()
		srv := httptest.NewServer(n)
		defer srv.Close()
		if err := rt.Directory().PutNode(router.Node{Name: name, Addr: srv.Listener.Addr().String(), Token: token}); err != nil {
			log.Fatal(err)
		}
	}
	ask := func(method, target, body string) {
		w := httptest.NewRecorder()
		rt.ServeHTTP(w, httptest.NewRequest(method, target, strings.NewReader(body)))
		fmt.Println(w.Code, w.Body)
	}
	ask("PUT", "/_shard/tenants/acme", `{"node":"n1"}`)
	ask("POST", "/t/acme/batch", `{"query":"create collection notes (text text)"}`+"\n"+`{"query":"put notes {text: \"hello\"}"}`)

	moved, err := rt.Move(context.Background(), "acme", "n2")
	fmt.Println(moved.Tenant, moved.From, moved.To, moved.SourceRemoved, err)
	ask("GET", "/t/acme/notes", "")
	_, err = rt.Move(context.Background(), "acme", "n2")
	fmt.Println(err)
	// Output:
	// 201 {"tenant":"acme","node":"n1"}
	// 200 {"ok":2,"results":[{"message":"collection notes created"},{"affected":1}]}
	// acme n1 n2 true <nil>
	// 200 [{"id":1,"text":"hello"}]
	// the tenant is already on node n2
}

// byZone puts tenants whose name begins with a zone on the nodes of that zone, by their
// labels, and leaves the rest to the default.
type byZone struct{ router.FewestBytes }

func (p byZone) Place(ctx context.Context, tenant string, among []router.Candidate) (string, error) {
	if zone, _, ok := strings.Cut(tenant, "-"); ok {
		among = slices.DeleteFunc(among, func(c router.Candidate) bool { return c.Attrs.Labels["zone"] != zone })
	}
	if len(among) == 0 {
		return "", router.ErrNoCapacity
	}
	return p.FewestBytes.Place(ctx, tenant, among)
}

func ExamplePlacer() {
	var placer router.Placer = byZone{} // goes into Options.Placer
	for _, tenant := range []string{"eu-acme", "beta", "us-gamma"} {
		fmt.Println(placer.Place(context.Background(), tenant, []router.Candidate{
			{Node: "n1", Disk: 9000},
			{Node: "n2", Disk: 70000, Attrs: router.Attrs{Labels: map[string]string{"zone": "eu"}}},
			{Node: "n3", Disk: 80000, Attrs: router.Attrs{Labels: map[string]string{"zone": "eu"}}},
		}))
	}
	// Output:
	// n2 <nil>
	// n1 <nil>
	//  no node takes another tenant
}
