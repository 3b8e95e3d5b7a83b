// Package process is what the daemons have in common as processes: how they end
// and with which exit code, where they may listen, and the line that says where
// they do.
package process

import (
	"errors"
	"fmt"
	"io"
	"net"
)

// ErrExposed is returned for an address that other machines reach, when
// requests need no token. The message names the flag that would set one.
var ErrExposed = errors.New("refusing to listen without a token where other machines reach it")

// Guard says what stands between a listener and its callers.
type Guard struct {
	Token     bool   // requests need a token
	ReadOnly  bool   // nothing can be written
	TLS       bool   // connections are encrypted
	Insecure  bool   // none is wanted
	TokenFlag string // the flag that sets one, for messages
}

// Open listens on a TCP address. Port 0 is any free port.
func Open(addr string, g Guard) (net.Listener, error) {
	if !g.Token && !g.Insecure {
		if err := checkLoopback(addr, g.TokenFlag); err != nil {
			return nil, err
		}
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	return ln, nil
}

// checkLoopback returns ErrExposed unless addr is reached from this machine
// only.
func checkLoopback(addr, flag string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	exposed := fmt.Errorf("%w: %s; give %s, or --insecure", ErrExposed, addr, flag)
	if host == "" {
		return exposed
	}
	ips, err := net.LookupIP(host)
	if err != nil {
		return err
	}
	for _, ip := range ips {
		if !ip.IsLoopback() {
			return exposed
		}
	}
	return nil
}

// Announce writes the start-up line, such as
//
//	fenec-http 0.1.0 listening on: http://127.0.0.1:8080  [token, read only]
//
// A writer that is closed does not matter.
func Announce(w io.Writer, program, version string, ln net.Listener, g Guard) {
	_, _ = fmt.Fprintf(w, "%s %s listening on: %s  [%s]\n", program, version, g.url(ln), g.state())
}

// AnnounceMetrics writes where the metrics are read.
func AnnounceMetrics(w io.Writer, ln net.Listener, g Guard) {
	_, _ = fmt.Fprintf(w, "metrics on: %s/_metrics  [%s]\n", g.url(ln), g.state())
}

func (g Guard) url(ln net.Listener) string {
	if g.TLS {
		return "https://" + ln.Addr().String()
	}
	return "http://" + ln.Addr().String()
}

func (g Guard) state() string {
	state := "no auth"
	if g.Token {
		state = "token"
	}
	if g.ReadOnly {
		state += ", read only"
	}
	return state
}
