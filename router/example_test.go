package router_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/fenec-go/fenecdb/router"
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
