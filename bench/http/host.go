package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// hosted is what a process that is measured serves.
type hosted struct {
	role string // fenec or sqlite
	file string
	sync string
}

// database is what a process serves.
type database interface {
	// open makes the database, fills it and returns handlers under their names.
	open(context.Context, *world) (map[string]http.Handler, error)
	io.Closer
}

// The servers that each handler is served by. Their names and a handler's are
// the name of an address.
const (
	front   = "http1 "    // as fenec-server serves
	netHTTP = "net/http " // as an embedder may
)

// host is the process that is measured: it serves a database until ctx ends, and
// beside it, on an address of its own, tells what it has used.
func host(ctx context.Context, cfg config) error {
	runtime.MemProfileRate = 0 // what is shipped takes no profile of its memory either
	if _, err := raiseFiles(cfg.streams + spareFiles); err != nil {
		return err
	}
	var db database = &fenecSide{hosted: cfg.hosted}
	if cfg.hosted.role == "sqlite" {
		db = &liteSide{file: cfg.hosted.file}
	}
	h := &hosting{db: db, world: newWorld(cfg.rows)}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	control := &http.Server{Handler: h.control(), BaseContext: func(net.Listener) context.Context { return ctx }}
	h.servers = append(h.servers, control)
	go func() { _ = control.Serve(ln) }()
	fmt.Fprintf(os.Stderr, "listening on: http://%s\n", ln.Addr())
	<-ctx.Done()
	return h.close()
}

// hosting is what a host has open.
type hosting struct {
	db      database
	world   *world
	servers []io.Closer
}

func (h *hosting) close() error {
	var errs []error
	for _, s := range h.servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, h.db.Close())...)
}

// control is the handler of the address beside those that are measured.
func (h *hosting) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /open", func(w http.ResponseWriter, r *http.Request) {
		addrs, err := h.open(r.Context())
		tell(w, addrs, err)
	})
	mux.HandleFunc("GET /cpu", func(w http.ResponseWriter, _ *http.Request) {
		used, err := cpuTime()
		tell(w, used, err)
	})
	mux.HandleFunc("GET /memory", func(w http.ResponseWriter, _ *http.Request) {
		bytes, err := residentMemory()
		tell(w, bytes, err)
	})
	mux.HandleFunc("GET /profile", pprof.Profile)
	return mux
}

func tell(w http.ResponseWriter, v any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(v)
}

// open opens the database and returns the addresses it is served at.
func (h *hosting) open(ctx context.Context) (map[string]string, error) {
	handlers, err := h.db.open(ctx, h.world)
	if err != nil {
		return nil, err
	}
	addrs := map[string]string{}
	for name, handler := range handlers {
		// The limits are fenec-server's own, but for that of connections.
		limits := http1.ServerOptions{IdleTimeout: time.Minute, MaxBody: 64 << 20}
		if addrs[front+name], err = h.serve(http1.NewServer(handler, limits)); err != nil {
			return nil, err
		}
		if addrs[netHTTP+name], err = h.serve(&http.Server{Handler: handler, IdleTimeout: time.Minute}); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

// serve serves on a port of its own.
func (h *hosting) serve(s interface {
	Serve(net.Listener) error
	io.Closer
}) (addr string, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	h.servers = append(h.servers, s)
	go func() { _ = s.Serve(ln) }()
	return ln.Addr().String(), nil
}

// cpuTime returns the CPU time that this process has used.
func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
