package jwt

import (
	"errors"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/internal/secret"
)

// Options say which tokens are taken.
type Options struct {
	// Secret is what tokens are signed with by HS256, of 32 bytes at least. Either it or
	// KeyFile is given.
	Secret secret.Token

	// KeyFile is the path of a JWKS. It is looked at once a second at most, when a
	// token comes, and read again when its time or size changed. A file that cannot
	// be read then leaves the keys as they are.
	KeyFile string

	// NoEnd takes tokens without "exp" too.
	NoEnd bool

	// MaxAge refuses tokens that are valid for longer than that from now on; with
	// it every token needs "exp". 0 is no limit.
	MaxAge time.Duration

	// Now is the clock; nil is time.Now.
	Now func() time.Time

	// ErrorLog takes what is wrong with the key file; nil is the standard logger of
	// package log.
	ErrorLog *log.Logger
}

// minSecret is the length of the shortest secret, in bytes: that of the hashes
// it makes (RFC 7518, 3.2).
const minSecret = 32

// Keys are what tokens are verified with and minted with.
type Keys struct {
	opts Options
	file *keyFile // nil with a secret
	set  atomic.Pointer[keySet]
}

// Open reads the keys. At least one must serve.
func Open(o Options) (*Keys, error) {
	if o.Secret.IsZero() == (o.KeyFile == "") {
		return nil, errors.New("jwt: either a secret or a key file is needed")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.ErrorLog == nil {
		o.ErrorLog = log.Default()
	}
	k := &Keys{opts: o}
	if o.KeyFile == "" {
		raw := []byte(secret.Reveal(o.Secret))
		if len(raw) < minSecret {
			return nil, fmt.Errorf("jwt: a secret of %d bytes: %d are needed", len(raw), minSecret)
		}
		k.set.Store(&keySet{keys: []key{{alg: hs256, checker: hmacKey(raw)}}})
		return k, nil
	}
	return k, k.open()
}

// open reads the key file for the first time.
func (k *Keys) open() error {
	k.file = &keyFile{path: k.opts.KeyFile}
	now := k.opts.Now()
	k.file.due(now)
	set, err := k.file.readLocked(now) // nobody else has it yet
	if err != nil {
		return fmt.Errorf("jwt: key file: %w", err)
	}
	if len(set.keys) == 0 {
		return fmt.Errorf("jwt: key file: %s: no key can serve: %w", k.opts.KeyFile, errors.Join(set.skipped...))
	}
	k.take(set)
	return nil
}

// take makes set the keys. Where none of them serves, no token is taken: somebody
// has taken all keys away.
func (k *Keys) take(set *keySet) {
	for _, why := range set.skipped {
		k.opts.ErrorLog.Printf("jwt: key file: %s: skipped: %v", k.opts.KeyFile, why)
	}
	if len(set.keys) == 0 {
		k.opts.ErrorLog.Printf("jwt: key file: %s: no key can serve: all tokens are refused", k.opts.KeyFile)
	}
	k.set.Store(set)
}

// at returns the keys that serve now.
func (k *Keys) at(now time.Time) *keySet {
	if k.file != nil && k.file.due(now) {
		k.look(now)
	}
	return k.set.Load()
}

// look reads the key file again if it changed.
func (k *Keys) look(now time.Time) {
	k.file.mu.Lock()
	defer k.file.mu.Unlock()
	set, err := k.file.readLocked(now)
	if err != nil {
		k.opts.ErrorLog.Printf("jwt: key file: the last keys stay: %v", err)
	}
	if set != nil {
		k.take(set)
	}
}
