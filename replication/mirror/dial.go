package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/fenec-go/fenecdb/internal/secret"
)

const (
	connectTimeout = 5 * time.Second
	// headWait is how long a primary may take to answer. It may have to wait for its disk
	// before an image.
	headWait = imageWait + silence
	// silence is after how long without a byte a stream is given up.
	silence = 10 * time.Second
	// callTimeout bounds a call that is no stream.
	callTimeout = 5 * time.Second
)

// Secret is a token. It is never printed.
type Secret = secret.Token

// NewSecret returns the token of that text; the empty one opens nothing.
func NewSecret(text string) Secret { return secret.New(text) }

// NewTransport returns a transport for followers: one for all of a node's will do. It
// speaks HTTP/1.1, uses no proxy and leaves bodies as they are.
func NewTransport() *http.Transport {
	dialer := net.Dialer{Timeout: connectTimeout}
	return &http.Transport{
		DialContext:         dialer.DialContext,
		DisableCompression:  true,
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     30 * time.Second,
	}
}

// ParsePrimary returns the base URL of a primary of whole nodes: http, a host and a port,
// and nothing else.
func ParsePrimary(text string) (string, error) {
	u, err := base(text)
	if err != nil {
		return "", err
	}
	if u.Path != "" && u.Path != "/" {
		return "", fmt.Errorf("primary %q: a path is not for it", text)
	}
	u.Path = ""
	return u.String(), nil
}

// base checks what a follower can connect to.
func base(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("primary: it is no URL")
	}
	switch {
	case u.Scheme != "http":
		return nil, fmt.Errorf("primary %q: it must begin with http://", u.Redacted())
	case u.Hostname() == "" || u.Port() == "":
		return nil, fmt.Errorf("primary %q: it must name a host and a port", u.Redacted())
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "":
		return nil, fmt.Errorf("primary %q: it must be http://host:port", u.Redacted())
	}
	return u, nil
}

// upstream is what a follower speaks to.
type upstream struct {
	base      string // URL without a slash at its end
	token     Secret
	instance  string
	transport http.RoundTripper
}

// refusedError is the answer of a primary that gave no stream.
type refusedError struct {
	status int
	text   string
}

func (e *refusedError) Error() string {
	if e.status == http.StatusUnauthorized {
		return "the primary refuses the replication token (401)"
	}
	return fmt.Sprintf("the primary answers %d: %s", e.status, e.text)
}

// errSilent ends a stream of which nothing has come for too long.
var errSilent = errors.New("the primary is silent")

// get asks for a stream. Its body must be closed. What comes of it must never pause for
// longer than silence while it is read.
func (u *upstream) get(ctx context.Context, path, contentType string) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(headWait, func() { cancel(errSilent) })
	res, err := u.do(ctx, http.MethodGet, path)
	timer.Stop()
	if err == nil {
		err = expect(res, http.StatusOK, contentType)
	}
	if err != nil {
		err = caused(ctx, err)
		cancel(nil)
		return nil, err
	}
	res.Body = &patient{ctx: ctx, cancel: cancel, body: res.Body, timer: timer}
	return res, nil
}

// post makes a call that has no body, in either direction.
func (u *upstream) post(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	res, err := u.do(ctx, http.MethodPost, path)
	if err != nil {
		return err
	}
	if err := expect(res, http.StatusNoContent, ""); err != nil {
		return err
	}
	return res.Body.Close()
}

func (u *upstream) do(ctx context.Context, method, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, u.base+path, nil)
	if err != nil {
		return nil, err
	}
	if token := secret.Reveal(u.token); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if u.instance != "" {
		r.Header.Set(headerReplica, u.instance)
	}
	return u.transport.RoundTrip(r) // which follows no redirect: the token is for nobody else
}

// expect closes an answer that is not the one that is wanted, and tells of it.
func expect(res *http.Response, status int, contentType string) error {
	if res.StatusCode == status && (contentType == "" || res.Header.Get("Content-Type") == contentType) {
		return nil
	}
	defer res.Body.Close()
	if res.StatusCode == status {
		return fmt.Errorf("the primary answers with %q", res.Header.Get("Content-Type"))
	}
	b, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10)) // what there is of it will do
	var p problem
	if json.Unmarshal(b, &p) != nil || p.Error == "" {
		p.Error = http.StatusText(res.StatusCode)
	}
	return &refusedError{res.StatusCode, p.Error}
}

// caused returns why ctx has ended instead of an error that says no more than that it has.
func caused(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(cause, errSilent) {
		return cause
	}
	return err
}

// patient is a body that may pause for as long as a stream may be silent.
type patient struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	timer  *time.Timer // cancels the request; it runs during reads alone
}

func (p *patient) Read(b []byte) (int, error) {
	p.timer.Reset(silence)
	n, err := p.body.Read(b)
	p.timer.Stop()
	if err != nil && err != io.EOF {
		err = caused(p.ctx, err)
	}
	return n, err
}

// Close ends the request.
func (p *patient) Close() error {
	p.timer.Stop()
	p.cancel(nil)
	return p.body.Close()
}
