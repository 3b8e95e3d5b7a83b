package router

import (
	"errors"
	"io"
	"log"
	"time"

	"github.com/fenec-go/fenecdb/tenant"
)

// Options say how a Router works. The zero Options are a good router with an
// empty directory.
type Options struct {
	// Directory knows where the tenants are. The caller closes it, after the
	// router's Shutdown. nil is one in memory.
	Directory *Directory
	// Token guards /_shard/ and /_metrics. The zero Token leaves them open.
	Token Token
	// Resolver finds the tenant of a request. What it does not serve is answered
	// 421. The router's own paths are never asked of it: /_health, /_ready,
	// /_metrics, /_shard/, /_replication and /_studio. nil is by path: what lies
	// under /t/<tenant>/ is the tenant's, anything else is not found.
	Resolver tenant.Resolver
	// Placer chooses the node of a tenant that is created without one. nil takes
	// the one whose files take up the fewest bytes.
	Placer Placer
	// Moves is how many tenants move at once; others wait their turn. Default 2.
	Moves int
	// Replicas has each tenant on a node that has no standby replicated to one more node.
	// The nodes need a replication token then.
	Replicas bool
	// AutoFailover is the length of the leases that the router grants to its nodes, in
	// whole milliseconds. A node that was started to take leases writes under one only,
	// and is failed over when it has not answered for 1.1 of them. Zero grants none.
	AutoFailover time.Duration
	// ReplicationToken opens /_replication, from where other routers get the directory, and
	// is the one by which this router gets that of another. The zero Token opens nothing.
	ReplicationToken Token
	// AllowOrigin is the origin whose pages may use the router and the nodes behind
	// it from a browser, or "*" for all. The router then answers preflights, and its
	// CORS headers replace those of the nodes. Empty leaves both to the nodes.
	AllowOrigin string
	// RefusalDelay is how long the answer to a wrong token waits, be it the router's
	// or a node's. It doubles with each further one from the same address within a
	// minute, up to 5 s. Zero lets none wait.
	RefusalDelay time.Duration
	// AuditLog gets a line of JSON for each refused token and each changing request
	// under /_shard/. nil is off.
	AuditLog io.Writer
	// Hold is how long a request may wait for a tenant's move: a write that comes
	// while the tenant is frozen, and any request that the node from which the
	// tenant has just gone has refused. Default 500 ms; a negative duration lets
	// none wait.
	Hold time.Duration
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

	step    func(name string) // told what a move does next, for tests; may be nil
	lateFor time.Duration     // as the constant, for tests; 0 is the constant
}

// Defaults of the options.
const (
	DefaultMoves           = 2
	DefaultHold            = 500 * time.Millisecond
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
	if o.MaxConnections < -1 || o.Moves < 0 || o.MaxBody < 0 || o.UpstreamTimeout < 0 || o.IdleTimeout < 0 || o.RefusalDelay < 0 {
		return errors.New("router: a limit in the options is negative")
	}
	if o.AutoFailover < 0 || o.AutoFailover%time.Millisecond != 0 {
		return errors.New("router: AutoFailover must be whole milliseconds")
	}
	setDefault(&o.MaxConnections, DefaultMaxConnections)
	setDefault(&o.Moves, DefaultMoves)
	setDefault(&o.Hold, DefaultHold)
	setDefault(&o.lateFor, lateFor)
	setDefault(&o.MaxBody, DefaultMaxBody)
	setDefault(&o.UpstreamTimeout, DefaultUpstreamTimeout)
	setDefault(&o.IdleTimeout, DefaultIdleTimeout)
	if o.Placer == nil {
		o.Placer = FewestBytes{}
	}
	if o.ErrorLog == nil {
		o.ErrorLog = log.Default()
	}
	if o.step == nil {
		o.step = func(string) {}
	}
	return nil
}

func setDefault[T comparable](v *T, def T) {
	if *v == *new(T) {
		*v = def
	}
}
