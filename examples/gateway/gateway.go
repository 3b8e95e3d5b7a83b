package main

import (
	"crypto/sha256"
	"net/http"

	"github.com/fenec-go/fenecdb/router"
	"github.com/fenec-go/fenecdb/tenant"
)

// domain is the one whose subdomains are the customers: acme.example.test is acme.
const domain = "example.test"

// The tokens. Customers have none of them: they have keys, which only the gateway knows.
const (
	dataToken  = "data"  // opens the data of all customers on the nodes
	nodeToken  = "admin" // opens /_admin/ of the nodes
	shardToken = "shard" // opens /_shard/, for the operator
)

// gateway lets the requests of customers through to the router. It decides who may ask;
// whose data that is about, and where it is, is the router's business.
type gateway struct {
	keys   map[[sha256.Size]byte]string // customers by the sum of their key: the keys are kept nowhere
	hosts  tenant.Resolver
	router *router.Router
}

// newGateway returns the handler of all requests. What lies under /_shard/ is the
// operator's and has a token of its own; anything else is a customer's.
func newGateway(directory *router.Directory, keys map[string]string) (http.Handler, *router.Router, error) {
	hosts := tenant.ByHost{Registry: directory, Domain: domain}
	rt, err := router.New(router.Options{Directory: directory, Resolver: hosts, Token: router.NewToken(shardToken)})
	if err != nil {
		return nil, nil, err
	}
	g := gateway{keys: map[[sha256.Size]byte]string{}, hosts: hosts, router: rt}
	for key, customer := range keys {
		g.keys[sha256.Sum256([]byte(key))] = customer
	}
	all := http.NewServeMux()
	all.Handle("/_shard/", rt)
	all.Handle("/_health", rt)
	all.Handle("/", g)
	return all, rt, nil
}

// ServeHTTP checks the key before anything is forwarded, and puts the nodes' token in
// its place. A host that is nobody's passes: to refuse it is the router's business.
func (g gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	customer, known := g.keys[sha256.Sum256([]byte(r.Header.Get("X-Api-Key")))]
	if !known {
		http.Error(w, "an X-Api-Key is required", http.StatusUnauthorized)
		return
	}
	asked, err := g.hosts.Resolve(r.Context(), tenant.Request{Host: r.Host, Path: r.URL.EscapedPath()})
	if err == nil && asked.Outcome != tenant.NotServed && asked.Name != customer {
		http.Error(w, "the key is for another host", http.StatusForbidden)
		return
	}
	r.Header.Del("X-Api-Key")
	r.Header.Set("Authorization", "Bearer "+dataToken)
	g.router.ServeHTTP(w, r)
}
