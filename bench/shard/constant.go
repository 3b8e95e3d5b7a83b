package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
)

// startConstant starts a net/http server, as a process of its own, that answers
// anything as a node has answered once.
func (e *env) startConstant(ctx context.Context, a *answer) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// These net/http writes itself.
	for _, own := range []string{"Content-Length", "Date", "Connection"} {
		a.Header.Del(own)
	}
	b, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	file := e.path("constant.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		return nil, err
	}
	return start(ctx, constant, self, "-constant", file)
}

// serveConstant is that process.
func serveConstant(ctx context.Context, file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var a answer
	if err := json.Unmarshal(b, &a); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: &a}
	go func() { _ = srv.Serve(l) }()
	fmt.Fprintf(os.Stderr, "listening on: http://%s\n", l.Addr())
	<-ctx.Done()
	return srv.Close()
}

// ServeHTTP answers.
func (a *answer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	maps.Copy(w.Header(), a.Header)
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body)
}
