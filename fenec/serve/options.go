package serve

import (
	"io"
	"log"
	"net/http"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/internal/secret"
)

// Options say who may use the surface, and how. The zero Options let everybody
// do everything.
type Options struct {
	// Token is what requests must carry to do everything. Without it and Tokens
	// everybody is let in.
	Token Secret

	// Tokens are the JSON Web Tokens that are taken beside Token. nil takes none.
	Tokens *Tokens

	// MetricsToken opens /_metrics and /_stats/statements, and nothing else.
	MetricsToken Secret

	// ReadOnly refuses every write with 403.
	ReadOnly bool

	// AllowOrigin is the origin whose pages may use the surface from a browser, or
	// "*" for all. Empty sends no CORS header at all.
	AllowOrigin string

	// MaxStreams is how many subscriptions may be open at once. Default 64; a
	// negative number sets no ceiling.
	MaxStreams int

	// KeepAlive is how long a stream is silent before a comment shows that it is
	// alive. Default 20 s.
	KeepAlive time.Duration

	// IdleTimeout is how long a client may be silent within a request's body. Default
	// one minute; a negative duration sets no bound.
	IdleTimeout time.Duration

	// IdempotencyTTL is how long the answer of a write with an Idempotency-Key is
	// kept. Default 24 h.
	IdempotencyTTL time.Duration

	// StatementTimeout is how long a statement or a batch may run before it is
	// ended with 504. Zero sets no bound.
	StatementTimeout time.Duration

	// Connections returns the number of open connections, for /_metrics. It may be
	// nil.
	Connections func() int

	// RefusalDelay is how long the answer to a wrong token waits. It doubles with
	// each further one from the same address within a minute, up to 5 s. Zero lets
	// none wait.
	RefusalDelay time.Duration

	// SlowLog gets a line of JSON for each statement that took SlowAfter or
	// longer. nil is off.
	SlowLog   io.Writer
	SlowAfter time.Duration

	// RouterToken is what a router in front knows. Of a request that it has forwarded
	// the logs name its client, and a refusal is answered at once: the router delays it.
	// The zero RouterToken believes nobody.
	RouterToken Secret

	// AuditLog gets a line of JSON for each refused token and each change of the
	// schema. nil is off.
	AuditLog io.Writer

	// Tracer is told how long requests took. It may be nil, and is not closed with
	// the server.
	Tracer *Tracer

	// ErrorLog is told in full what went wrong on our side, with the request's
	// id. nil is the standard logger of package log.
	ErrorLog *log.Logger
}

func (o *Options) setDefaults() {
	if o.MaxStreams == 0 {
		o.MaxStreams = 64
	}
	if o.KeepAlive == 0 {
		o.KeepAlive = 20 * time.Second
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = time.Minute
	}
	if o.IdempotencyTTL == 0 {
		o.IdempotencyTTL = 24 * time.Hour
	}
	if o.ErrorLog == nil {
		o.ErrorLog = log.Default()
	}
}

// Secret is a token or a key. It shows as [redacted], however it is printed or encoded,
// also within other values. The zero Secret is none.
type Secret = secret.Token

// NewSecret returns the secret of that text; none for "".
func NewSecret(text string) Secret { return secret.New(text) }

// Bearer returns the token that a request with these headers carries, or "".
func Bearer(h http.Header) string {
	token, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	if !ok {
		return ""
	}
	return token
}
