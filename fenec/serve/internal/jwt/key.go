package jwt

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"math/big"
)

// The algorithms, by their names in a header (RFC 7518, 3.1; RFC 8037, 3.1).
const (
	hs256 = "HS256"
	rs256 = "RS256"
	es256 = "ES256"
	edDSA = "EdDSA"
)

// key is one that signatures are checked with.
type key struct {
	id    string // its "kid"
	named bool   // it has one
	alg   string // the only algorithm it serves
	checker
}

// checker tells whether a signature is its key's.
type checker interface {
	signed(text, signature []byte) bool
}

// hmacKey is a secret, for HS256.
type hmacKey []byte

func (k hmacKey) sign(text []byte) []byte {
	h := hmac.New(sha256.New, k)
	h.Write(text)
	return h.Sum(nil)
}

// signed takes the same time wherever the signatures differ.
func (k hmacKey) signed(text, signature []byte) bool { return hmac.Equal(k.sign(text), signature) }

// rsaKey is for RS256.
type rsaKey struct{ public *rsa.PublicKey }

func (k rsaKey) signed(text, signature []byte) bool {
	sum := sha256.Sum256(text)
	return rsa.VerifyPKCS1v15(k.public, crypto.SHA256, sum[:], signature) == nil
}

// ecKey is one on P-256, for ES256. A signature is two numbers of 32 bytes
// (RFC 7518, 3.4).
type ecKey struct{ public *ecdsa.PublicKey }

func (k ecKey) signed(text, signature []byte) bool {
	if len(signature) != 64 {
		return false
	}
	sum := sha256.Sum256(text)
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	return ecdsa.Verify(k.public, sum[:], r, s)
}

// edKey is one on Ed25519, for EdDSA.
type edKey ed25519.PublicKey

func (k edKey) signed(text, signature []byte) bool {
	return ed25519.Verify(ed25519.PublicKey(k), text, signature)
}
