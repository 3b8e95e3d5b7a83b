package jwt

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"math/big"

	"github.com/lestrrat-go/jwx/v2/jwk"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// keySet is keys that serve at one time. It does not change.
type keySet struct {
	keys    []key
	skipped []error // why a key of the file is not among them
}

// minRSA is the length of the shortest modulus, in bits.
const minRSA = 2048

// parseKeySet reads a JWKS: {"keys": […]}, or the bare list. A key that cannot
// serve is skipped. No error holds anything of a key but its place in the list.
func parseKeySet(text []byte) (*keySet, error) {
	v, err := value.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	if v.Kind() == value.KindObject {
		v, _ = v.Get("keys")
	}
	if v.Kind() != value.KindList {
		return nil, errors.New(`neither a list of keys nor an object with one in "keys"`)
	}
	s := new(keySet)
	for i, x := range v.AsList() {
		k, err := parseKey(x)
		if err != nil {
			s.skipped = append(s.skipped, fmt.Errorf("key %d: %w", i+1, err))
			continue
		}
		s.keys = append(s.keys, k)
	}
	return s, nil
}

// algorithms are those that kinds of keys serve.
var algorithms = map[string]string{"oct": hs256, "RSA": rs256, "EC": es256, "OKP": edDSA}

// parseKey reads one key of a JWKS, or says why it cannot serve.
func parseKey(x value.Value) (key, error) {
	if x.Kind() != value.KindObject {
		return key{}, errors.New("not an object")
	}
	var k key
	var ok bool
	kind, _ := textOf(x, "kty")
	if k.alg, ok = algorithms[kind]; !ok {
		return k, errors.New("of a kind that is not known here")
	}
	if use, ok := x.Get("use"); ok && !isText(use, "sig") {
		return k, errors.New("not for signatures")
	}
	if alg, ok := x.Get("alg"); ok && !isText(alg, k.alg) {
		return k, fmt.Errorf("not for %s", k.alg)
	}
	if id, ok := x.Get("kid"); ok {
		if id.Kind() != value.KindText {
			return k, errors.New(`its "kid" is no text`)
		}
		k.id, k.named = id.AsText(), true
	}
	var err error
	k.checker, err = material(x)
	return k, err
}

// material returns what a key of a JWKS holds; of a private one the public part.
func material(x value.Value) (checker, error) {
	k, err := jwk.ParseKey(value.AppendJSON(nil, x))
	if err != nil {
		return nil, errors.New("malformed") // err may show what the key holds
	}
	if k, err = k.PublicKey(); err != nil {
		return nil, errors.New("malformed")
	}
	var raw any
	if err := k.Raw(&raw); err != nil {
		return nil, errors.New("malformed")
	}
	switch raw := raw.(type) {
	case []byte:
		return secretKey(raw)
	case *rsa.PublicKey:
		return newRSAKey(raw, k.(jwk.RSAPublicKey).E())
	case *ecdsa.PublicKey:
		return newECKey(raw)
	case ed25519.PublicKey:
		return newEdKey(raw)
	}
	return nil, errors.New("on another curve than P-256 and Ed25519")
}

func secretKey(raw []byte) (checker, error) {
	if len(raw) < minSecret {
		return nil, fmt.Errorf("a secret of fewer than %d bytes", minSecret)
	}
	return hmacKey(raw), nil
}

// newRSAKey checks a key whose exponent is e, which public holds cut to an int.
func newRSAKey(public *rsa.PublicKey, e []byte) (checker, error) {
	switch exponent := new(big.Int).SetBytes(e); {
	case public.N.BitLen() < minRSA:
		return nil, fmt.Errorf("an RSA key of fewer than %d bits", minRSA)
	case exponent.BitLen() > 31, public.E < 3, public.E%2 == 0:
		return nil, errors.New("an RSA key whose exponent is even, below 3 or beyond 31 bits")
	}
	return rsaKey{public}, nil
}

func newECKey(public *ecdsa.PublicKey) (checker, error) {
	if public.Curve.Params().Name != "P-256" {
		return nil, errors.New("on another curve than P-256 and Ed25519")
	}
	if _, err := public.ECDH(); err != nil {
		return nil, errors.New("a point that is not on P-256")
	}
	return ecKey{public}, nil
}

func newEdKey(public ed25519.PublicKey) (checker, error) {
	if len(public) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("a key on Ed25519 that is not %d bytes long", ed25519.PublicKeySize)
	}
	return edKey(public), nil
}

// textOf returns a member that is a text.
func textOf(object value.Value, name string) (string, bool) {
	v, ok := object.Get(name)
	if !ok || v.Kind() != value.KindText {
		return "", false
	}
	return v.AsText(), true
}

func isText(v value.Value, want string) bool { return v.Kind() == value.KindText && v.AsText() == want }
