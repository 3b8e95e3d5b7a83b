// Command gateway is an ordinary net/http program that puts a check of its own before
// two database nodes: customers come with an API key and to a host of their own, and the
// router behind the check knows on which node each of them is. Here the nodes run in the
// same process; elsewhere they are fenec-server --dir on other machines.
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
	"path/filepath"
	"syscall"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/router"
	"github.com/fenec-go/fenecdb/tenant/node"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "where to listen")
	once := flag.Bool("once", false, "end after the requests instead of staying up")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "fenec-gateway-") // a real gateway keeps its directory
	if err != nil {
		log.Fatal(err)
	}
	err = run(ctx, os.Stdout, *listen, dir, *once)
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		log.Fatal(err)
	}
}

// run starts the nodes and the gateway, shows what they do, and stays until ctx ends
// unless that was to be once.
func run(ctx context.Context, out io.Writer, listen, dir string, once bool) (err error) {
	var closers []func() error
	defer func() {
		for i := len(closers) - 1; i >= 0; i-- {
			err = errors.Join(err, closers[i]())
		}
	}()
	directory, err := router.OpenDirectory(filepath.Join(dir, "shard.fenec"))
	if err != nil {
		return err
	}
	closers = append(closers, directory.Close)
	for _, name := range []string{"n1", "n2"} {
		addr, stop, err := startNode(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		closers = append(closers, stop)
		if err := directory.PutNode(router.Node{Name: name, Addr: addr, Token: router.NewToken(nodeToken)}); err != nil {
			return err
		}
	}
	handler, rt, err := newGateway(directory, map[string]string{"key-of-acme": "acme", "key-of-beta": "beta"})
	if err != nil {
		return err
	}
	closers = append(closers, func() error { return rt.Shutdown(context.Background()) })
	addr, stop, err := serveOn(listen, handler)
	if err != nil {
		return err
	}
	closers = append(closers, stop)
	if err := show(ctx, out, addr); err != nil || once {
		return err
	}
	fmt.Fprintln(out, "\nThe gateway stays up until Ctrl-C.")
	<-ctx.Done()
	return nil
}

// startNode starts a node over a directory of databases.
func startNode(dir string) (addr string, stop func() error, err error) {
	n, err := node.Open(dir, node.Options{
		Surface:    serve.Options{Token: serve.NewSecret(dataToken)},
		AdminToken: serve.NewSecret(nodeToken),
	})
	if err != nil {
		return "", nil, err
	}
	addr, end, err := serveOn("127.0.0.1:0", n)
	if err != nil {
		return "", nil, errors.Join(err, n.Close())
	}
	return addr, func() error { return errors.Join(end(), n.Close()) }, nil
}

// serveOn serves a handler, and returns where.
func serveOn(listen string, h http.Handler) (addr string, stop func() error, err error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: h}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	return l.Addr().String(), func() error {
		err := srv.Close()
		if ended := <-ended; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	}, nil
}
