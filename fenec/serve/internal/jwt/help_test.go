package jwt_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve/internal/jwt"
	"github.com/fenec-go/fenecdb/internal/secret"
)

const secretText = "0123456789abcdef0123456789abcdef01234567"

// start is when the tests' clock begins.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is one that tests set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: start} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// signer is a key with the algorithm it signs by.
type signer struct {
	alg jwa.SignatureAlgorithm
	key any
}

// signers has one key of each algorithm that is taken.
var signers = sync.OnceValue(func() map[string]signer {
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	must(err)
	return map[string]signer{
		"HS256": {jwa.HS256, []byte(secretText)},
		"RS256": {jwa.RS256, newRSA(2048)},
		"ES256": {jwa.ES256, newEC(elliptic.P256())},
		"EdDSA": {jwa.EdDSA, ed},
	}
})

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func newRSA(bits int) *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, bits)
	must(err)
	return k
}

func newEC(curve elliptic.Curve) *ecdsa.PrivateKey {
	k, err := ecdsa.GenerateKey(curve, rand.Reader)
	must(err)
	return k
}

// jwkOf returns a key as a member of a JWKS, with more members beside its own. A
// private one stays private if private is set.
func jwkOf(t testing.TB, key any, private bool, more map[string]any) map[string]any {
	t.Helper()
	k, err := jwk.FromRaw(key)
	require.NoError(t, err)
	if !private {
		k, err = k.PublicKey()
		require.NoError(t, err)
	}
	b, err := json.Marshal(k)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(b, &out))
	for name, v := range more {
		out[name] = v
	}
	return out
}

func jwks(t testing.TB, keys ...map[string]any) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{"keys": keys})
	require.NoError(t, err)
	return string(b)
}

// sign returns a token of the given texts, signed by another implementation. The
// header gets the signer's alg if it has none.
func (s signer) sign(t testing.TB, header, claims string) string {
	t.Helper()
	h := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(header), &h))
	protected := jws.NewHeaders()
	for name, v := range h {
		require.NoError(t, protected.Set(name, v))
	}
	token, err := jws.Sign([]byte(claims), jws.WithKey(s.alg, s.key, jws.WithProtectedHeaders(protected)))
	require.NoError(t, err)
	return string(token)
}

// raw returns a token of the given texts, signed with the secret, whatever the
// header says.
func raw(t testing.TB, header, claims string) string {
	t.Helper()
	text := encode(header) + "." + encode(claims)
	s, err := jws.NewSigner(jwa.HS256)
	require.NoError(t, err)
	sig, err := s.Sign([]byte(text), []byte(secretText))
	require.NoError(t, err)
	return text + "." + encode(string(sig))
}

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

const hs256Header = `{"alg":"HS256"}`

func secretOptions(t testing.TB, c *clock) jwt.Options {
	t.Helper()
	return jwt.Options{Secret: secret.New(secretText), Now: c.now}
}

// keyFile writes a key file, modified well before the tests' clock.
func keyFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.json")
	replace(t, path, text, start.Add(-time.Hour))
	return path
}

// replace puts another file at path at once, as a careful operator does.
func replace(t testing.TB, path, text string, modified time.Time) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o600))
	require.NoError(t, os.Chtimes(path+".new", modified, modified))
	require.NoError(t, os.Rename(path+".new", path))
}

// open returns a verifier that makes nothing of claims, and what its keys log.
func open(t testing.TB, o jwt.Options) (*jwt.Verifier[struct{}], *jwt.Keys, *strings.Builder) {
	t.Helper()
	logged := new(strings.Builder)
	if o.ErrorLog == nil {
		o.ErrorLog = log.New(logged, "", 0)
	}
	k, err := jwt.Open(o)
	require.NoError(t, err)
	return jwt.NewVerifier(k, nothing), k, logged
}

func nothing(*jwt.Claims) (struct{}, error) { return struct{}{}, nil }

var quiet = log.New(io.Discard, "", 0)

// publicKey returns what a signer's signatures are verified with.
func publicKey(t testing.TB, s signer) any {
	t.Helper()
	if s.alg == jwa.HS256 {
		return s.key
	}
	k, err := jwk.FromRaw(s.key)
	require.NoError(t, err)
	k, err = k.PublicKey()
	require.NoError(t, err)
	return k
}
