package main

import (
	"context"
	"log"
	"net"
	"net/http"

	"github.com/fenec-go/fenecdb/internal/http1"
	"github.com/fenec-go/fenecdb/internal/process"
)

// maxBody is the most bytes of a request's body. A node has no such limit: it takes
// images, and asks for shorter bodies elsewhere by itself.
func (c config) maxBody() int64 {
	if c.dir != "" {
		return 0
	}
	return 64 << 20
}

// server is what connections are served by.
type server interface {
	Serve(net.Listener) error
	Shutdown(context.Context) error
	Close() error
	ConnCount() int
}

// newServer returns a server of the app: our own for HTTP/1.1 in clear text, and
// that of net/http where there is a certificate, for HTTP/2 comes with it.
func newServer(cfg config, app *app, errorLog *log.Logger) (server, error) {
	if cfg.tls.cert == "" {
		return http1.NewServer(app.handler, http1.ServerOptions{
			MaxConnections: cfg.maxConnections,
			IdleTimeout:    cfg.idleTimeout,
			MaxBody:        cfg.maxBody(),
			RefusalHeader:  app.surface.CORSHeader(),
			ErrorLog:       errorLog,
		}), nil
	}
	cert, err := process.LoadCertificate(cfg.tls.cert, cfg.tls.key, errorLog)
	if err != nil {
		return nil, err
	}
	s := &tlsServer{max: cfg.maxConnections, refusalHeader: app.surface.CORSHeader()}
	s.http = http.Server{
		Handler:                      s.admit(app.handler),
		TLSConfig:                    cert.Config(),
		ReadHeaderTimeout:            cfg.idleTimeout,
		IdleTimeout:                  cfg.idleTimeout,
		MaxHeaderBytes:               2 * http1.MaxHead, // what is less than that too large is told so
		ConnContext:                  noteConn,
		ErrorLog:                     errorLog,
		DisableGeneralOptionsHandler: true,
	}
	return s, nil
}
