package client

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/fenec-go/fenecdb/internal/secret"
)

// Options say how to speak to a server. The zero Options are good for one that
// wants no token.
type Options struct {
	// Token is sent as a bearer token. Empty sends none. One that changes can be
	// set by the Transport of HTTPClient.
	Token Secret

	// HTTPClient sends the requests. nil is one that keeps up to 64 connections for
	// later and follows no redirects. Its Timeout bounds every request but
	// subscriptions and those that wait for the feed.
	HTTPClient *http.Client

	// Retries is how often a request is sent again. Default 6, which takes about 3
	// seconds; a negative number is never.
	Retries int

	// NoKeys sends writes without an Idempotency-Key, and only once. The server
	// then need not keep their answers. A JSON Web Token that names no subject
	// wants it so.
	NoKeys bool

	// ReadOwnWrites makes each read wait until the server that it comes to has what
	// this DB has written. After a server has lost writes, or has been put back to
	// an earlier state, such reads fail.
	ReadOwnWrites bool

	// Silence is how long a subscription's connection may be silent before it is
	// taken for broken. Default 60 s; servers show every 20 s that they are there.
	Silence time.Duration

	// Sleep waits between tries, until ctx ends. nil is a timer. It is for tests.
	Sleep func(ctx context.Context, d time.Duration) error
}

func (o *Options) setDefaults() {
	if o.HTTPClient == nil {
		o.HTTPClient = newHTTPClient()
	}
	if o.Retries == 0 {
		o.Retries = 6
	}
	if o.Silence <= 0 {
		o.Silence = time.Minute
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
}

const (
	// keptConnections is how many idle connections are kept.
	keptConnections = 64

	// patience is how long the making of a connection may take.
	patience = 10 * time.Second
)

func newHTTPClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: patience}).DialContext,
			TLSHandshakeTimeout: patience,
			ForceAttemptHTTP2:   true,
			MaxIdleConns:        keptConnections,
			MaxIdleConnsPerHost: keptConnections,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Secret is a token. It shows as [redacted], however it is printed or encoded, also
// within other values. The zero Secret is none.
type Secret = secret.Token

// NewSecret returns the secret of that text; none for "".
func NewSecret(text string) Secret { return secret.New(text) }
