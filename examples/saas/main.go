// Command saas is a small service for many customers, each of whom has a database, one
// file, of their own. It is an ordinary net/http program: the host of a request tells
// whose it is, and no handler can reach the data of another customer.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// schema is what the database of a new customer begins with.
const schema = "create collection notes (text text required @text, at timestamp @sorted)"

func main() {
	listen := flag.String("listen", "localhost:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "fenec-saas-") // a real service keeps its directory
	if err != nil {
		log.Fatal(err)
	}
	err = run(ctx, os.Stdout, *listen, dir)
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		log.Fatal(err)
	}
}

// run serves the customers whose databases are in dir, until ctx ends.
func run(ctx context.Context, out io.Writer, listen, dir string) (err error) {
	// A database is opened at the first request for it and closed after five idle minutes.
	// The zero options are good for thousands of customers. With an AdminToken the node
	// could be served beside the service, for quotas, usage and images.
	customers, err := node.Open(dir, node.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, customers.Close()) }()

	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: service(customers)}
	stopped := make(chan error, 1)
	context.AfterFunc(ctx, func() { stopped <- srv.Shutdown(context.Background()) })
	fmt.Fprintf(out, `curl http://%[1]s/signup -H 'Host: localhost' -d 'name=acme'
curl http://%[1]s/notes -H 'Host: acme.localhost' -d 'text=water the plants'
curl http://%[1]s/notes -H 'Host: acme.localhost' -d 'text=feed the cat'
curl http://%[1]s/notes -H 'Host: acme.localhost'
curl 'http://%[1]s/search?q=plants' -H 'Host: acme.localhost'
curl http://%[1]s/notes -H 'Host: nobody.localhost'
`, l.Addr())
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// service returns the handler of all requests: those to localhost itself are to sign up,
// those to its subdomains are for the customer of that name.
func service(customers *node.Node) http.Handler {
	notes := http.NewServeMux()
	notes.Handle("GET /notes", route(list))
	notes.Handle("POST /notes", route(add))
	notes.Handle("GET /search", route(search))

	// The middleware puts a handle to the customer's database into the context of each
	// request, meters it, and turns those away that are for nobody or over a limit.
	tenants := customers.Tenants()
	forCustomer := customers.Middleware(tenant.ByHost{Registry: tenants, Domain: "localhost"})

	all := http.NewServeMux()
	all.Handle("POST localhost/signup", signup(tenants))
	all.Handle("/", forCustomer(notes))
	return all
}

// signup makes a customer's database: with its schema, or not at all.
func signup(customers *tenant.Manager) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.FormValue("name")
		err := customers.Provision(r.Context(), name, func(ctx context.Context, h *tenant.Handle) error {
			_, err := h.Exec(ctx, schema)
			return err
		})
		if err != nil {
			node.Error(w, r, err)
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "welcome to %s.localhost\n", name)
	}
}

// A route asks the database of the customer whose request it is.
type route func(h *tenant.Handle, r *http.Request) (*fenec.Result, error)

func list(h *tenant.Handle, r *http.Request) (*fenec.Result, error) {
	return h.Query(r.Context(), "get notes order at desc, id desc limit 50")
}

func add(h *tenant.Handle, r *http.Request) (*fenec.Result, error) {
	// What comes from outside is a parameter, $1, and never part of the statement.
	return h.Query(r.Context(), "put notes {text: $1, at: now()}", r.FormValue("text"))
}

func search(h *tenant.Handle, r *http.Request) (*fenec.Result, error) {
	return h.Query(r.Context(), "get notes match text $1 limit 10", r.FormValue("q"))
}

// ServeHTTP answers with the result as JSON.
func (ask route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, _ := tenant.FromContext(r.Context()) // good until the request is answered
	res, err := ask(h, r)
	if err != nil {
		// With the status that tells of it. What is wrong on our side is for the log.
		node.Error(w, r, err)
		return
	}
	body, err := res.AppendJSON(nil)
	if err != nil {
		node.Error(w, r, err)
		return
	}
	serve.OK(append(body, '\n')).Write(w, r)
}
