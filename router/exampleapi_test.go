package router_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/router"
	tenantnode "github.com/fenec-go/fenecdb/tenant/node"
)

// A gateway that signs customers up and off by calls, and keeps /_shard/ from everybody.
func ExampleRouter_Create() {
	files, err := os.MkdirTemp("", "router-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(files)
	token := router.NewToken("admin")
	n, err := tenantnode.Open(files, tenantnode.Options{AdminToken: token})
	if err != nil {
		log.Fatal(err)
	}
	defer n.Close()
	node := httptest.NewServer(n)
	defer node.Close()

	rt, err := router.New(router.Options{}) // with a directory in memory
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Directory().Close()
	defer rt.Shutdown(context.Background())
	if err := rt.Directory().PutNode(router.Node{Name: "n1", Addr: node.Listener.Addr().String(), Token: token}); err != nil {
		log.Fatal(err)
	}

	schema := json.RawMessage(`{"format":1,"fenecql":"create collection notes (text text)"}`)
	gateway := http.NewServeMux()
	gateway.HandleFunc("POST /signup/{customer}", func(w http.ResponseWriter, r *http.Request) {
		made, err := rt.Create(r.Context(), r.PathValue("customer"), router.NewTenant{Schema: schema, Quota: quota.Limits{Rows: 2}})
		switch {
		case errors.Is(err, router.ErrTenantExists):
			http.Error(w, "the name is taken", http.StatusConflict)
		case err != nil:
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		default:
			fmt.Fprintln(w, "welcome on", made.Node)
		}
	})
	gateway.HandleFunc("POST /upgrade/{customer}", func(w http.ResponseWriter, r *http.Request) {
		set, err := rt.SetQuota(r.Context(), r.PathValue("customer"), quota.Limits{Rows: 1000})
		fmt.Fprintln(w, set.Sent, err)
	})
	gateway.HandleFunc("DELETE /customers/{customer}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, rt.Delete(r.Context(), r.PathValue("customer")))
	})
	gateway.HandleFunc("POST /customers/{customer}/return", func(w http.ResponseWriter, r *http.Request) {
		back, err := rt.Undelete(r.Context(), r.PathValue("customer"), "")
		fmt.Fprintln(w, back.Node, back.Quota.Rows, err)
	})
	gateway.Handle("/t/", rt)

	for _, ask := range []struct{ method, target, body string }{
		{"POST", "/signup/acme", ""},
		{"POST", "/signup/acme", ""},
		{"POST", "/t/acme/notes", `[{"text":"a"},{"text":"b"},{"text":"c"}]`},
		{"POST", "/upgrade/acme", ""},
		{"POST", "/t/acme/notes", `{"text":"a"}`},
		{"DELETE", "/customers/acme", ""},
		{"GET", "/t/acme/notes", ""},
		{"POST", "/customers/acme/return", ""},
		{"GET", "/t/acme/notes", ""},
		{"GET", "/_shard/tenants", ""},
	} {
		w := httptest.NewRecorder()
		gateway.ServeHTTP(w, httptest.NewRequest(ask.method, ask.target, strings.NewReader(ask.body)))
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
	}
	// Output:
	// 200 welcome on n1
	// 409 the name is taken
	// 413 {"error":"over limit: rows is 2","quota":"rows","limit":2}
	// 200 true <nil>
	// 201 {"inserted":1}
	// 200 <nil>
	// 404 {"error":"tenant acme: unknown tenant","code":"unknown-tenant"}
	// 200 n1 1000 <nil>
	// 200 [{"id":1,"text":"a"}]
	// 404 404 page not found
}
