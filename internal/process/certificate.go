package process

import (
	"crypto/tls"
	"log"
	"os"
	"sync"
	"time"
)

// lookEvery is how often the files of a certificate are looked at, at most.
const lookEvery = time.Second

// Certificate is a certificate that follows its files: connections made after
// they have changed get the new one. Its methods are safe for concurrent use.
type Certificate struct {
	certFile, keyFile string
	errorLog          *log.Logger
	clock             func() time.Time

	mu     sync.Mutex // guards the fields below; held while the files are read
	looked time.Time
	seen   [2]stamp
	cert   *tls.Certificate
}

// stamp tells one state of a file from another.
type stamp struct {
	changed time.Time
	size    int64
}

// LoadCertificate reads a certificate and its key. The log is told when they
// have changed and cannot be read; the last that could be is used then.
func LoadCertificate(certFile, keyFile string, errorLog *log.Logger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, errorLog: errorLog, clock: time.Now}
	if err := c.look(); err != nil {
		return nil, err
	}
	return c, nil
}

// Config returns a configuration of servers that speak HTTP/2 and HTTP/1.1.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.current(), nil
		},
	}
}

// current returns the certificate, read again if need be.
func (c *Certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clock().Sub(c.looked) >= lookEvery {
		if err := c.look(); err != nil {
			c.errorLog.Printf("certificate: %v; the last one stays", err)
		}
	}
	return c.cert
}

// look reads the files if they have changed. One that cannot be read is tried
// again when it changes.
func (c *Certificate) look() error {
	c.looked = c.clock()
	var now [2]stamp
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return c.missing(i, err)
		}
		now[i] = stamp{info.ModTime(), info.Size()}
	}
	if now == c.seen {
		return nil
	}
	c.seen = now
	cert, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.cert = &cert
	return nil
}

// missing notes that a file is not there. It is told once: files are replaced by
// removing them, too.
func (c *Certificate) missing(i int, err error) error {
	if c.cert != nil && c.seen[i] == (stamp{}) {
		return nil
	}
	c.seen[i] = stamp{}
	return err
}
