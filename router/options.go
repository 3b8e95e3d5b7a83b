package router

import (
	"errors"
	"log"
	"time"
)

// Options say how a Router works. The zero Options are a good router with an
// empty directory.
type Options struct {
	// Directory knows where the tenants are. The caller closes it, after the
	// router's Shutdown. nil is one in memory.
	Directory *Directory
	// Token guards /_shard/. The zero Token leaves it open.
	Token Token
	// MaxConnections is how many client connections Serve holds at once; one
	// past it is answered 503 and closed. Default 1000; -1 for no limit.
	MaxConnections int
	// MaxBody bounds the body of a forwarded request, in bytes. Default
	// 64 MiB.
	MaxBody int64
	// UpstreamTimeout bounds the connecting to a node and each wait for it,
	// but not the waits of a stream. Default one minute.
	UpstreamTimeout time.Duration
	// IdleTimeout bounds each wait for a client, between requests too.
	// Default one minute.
	IdleTimeout time.Duration
	// ErrorLog is told what goes wrong outside of answers. nil is the
	// standard logger of package log.
	ErrorLog *log.Logger
}

// Defaults of the options.
const (
	DefaultMaxConnections  = 1000
	DefaultMaxBody         = 64 << 20
	DefaultUpstreamTimeout = time.Minute
	DefaultIdleTimeout     = time.Minute
)

// chooseTimeout bounds how long a node may take to say how full it is, when all
// are asked.
const chooseTimeout = 5 * time.Second

// complete checks the options and fills in the defaults.
func (o *Options) complete() error {
	if o.MaxConnections < -1 || o.MaxBody < 0 || o.UpstreamTimeout < 0 || o.IdleTimeout < 0 {
		return errors.New("router: a limit in the options is negative")
	}
	if o.MaxConnections == 0 {
		o.MaxConnections = DefaultMaxConnections
	}
	if o.MaxBody == 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.UpstreamTimeout == 0 {
		o.UpstreamTimeout = DefaultUpstreamTimeout
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = DefaultIdleTimeout
	}
	if o.ErrorLog == nil {
		o.ErrorLog = log.Default()
	}
	return nil
}
