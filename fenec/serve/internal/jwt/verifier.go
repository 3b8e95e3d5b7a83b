package jwt

import (
	"fmt"
	"sync/atomic"
)

// Verifier takes tokens that its keys have signed.
type Verifier[T any] struct {
	keys   *Keys
	accept func(*Claims) (T, error)
	cache  atomic.Pointer[cache[T]] // of the keys that served last
}

// Accepted is a token that was taken.
type Accepted[T any] struct {
	Claims *Claims
	As     T // what the verifier's function made of the claims
}

// NewVerifier returns a verifier that makes something of the claims of each token
// it takes, as a rule once for many requests. An error of accept refuses the
// token. What accept returns is shared by all who bring the token.
func NewVerifier[T any](k *Keys, accept func(*Claims) (T, error)) *Verifier[T] {
	return &Verifier[T]{keys: k, accept: accept}
}

// Verify returns what a token was accepted as, or why it is refused. text is not
// kept.
func (v *Verifier[T]) Verify(text string) (*Accepted[T], error) {
	now := v.keys.opts.Now()
	c := v.cacheOf(v.keys.at(now))
	a := c.get(text)
	if a != nil {
		if err := a.Claims.check(now, &v.keys.opts); err != nil {
			return nil, err
		}
		return a, nil
	}
	claims, err := claimsOf(text, c.set)
	if err != nil {
		return nil, err
	}
	if err := claims.check(now, &v.keys.opts); err != nil {
		return nil, err
	}
	a = &Accepted[T]{Claims: claims}
	if a.As, err = v.accept(claims); err != nil {
		return nil, err
	}
	c.add(text, a)
	return a, nil
}

// cacheOf returns the cache of a set of keys; that of the set before is dropped.
func (v *Verifier[T]) cacheOf(set *keySet) *cache[T] {
	c := v.cache.Load()
	if c != nil && c.set == set {
		return c
	}
	fresh := &cache[T]{set: set}
	if v.cache.CompareAndSwap(c, fresh) {
		return fresh
	}
	return v.cacheOf(v.keys.set.Load())
}

// claimsOf returns the claims of a token that one of the keys has signed. They are
// read after that is known only.
func claimsOf(text string, set *keySet) (*Claims, error) {
	t, err := split(text)
	if err != nil {
		return nil, err
	}
	if err := set.verify(&t); err != nil {
		return nil, err
	}
	b, err := decode(t.claims)
	if err != nil {
		return nil, fmt.Errorf("%w: claims: %w", ErrMalformed, err)
	}
	claims, err := parseClaims(string(b))
	if err != nil {
		return nil, fmt.Errorf("%w: claims: %w", ErrMalformed, err)
	}
	return claims, nil
}
