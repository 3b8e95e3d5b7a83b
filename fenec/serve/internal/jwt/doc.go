// Package jwt tells who carries a JSON Web Token (RFC 7519) in the compact form
// of a signed one (RFC 7515), and makes such tokens for trying things out.
//
// [Open] reads the [Keys]: one secret, or a key file (a JWKS, RFC 7517) that is
// read again when it changes. A [Verifier] takes tokens that one of them signed
// with HS256, RS256, ES256 or EdDSA, and that are within their times:
//
//	keys, err := jwt.Open(jwt.Options{Secret: secret})
//	…
//	v := jwt.NewVerifier(keys, func(c *jwt.Claims) (*scope, error) { … })
//	a, err := v.Verify(token) // a.Claims, and a.As, which the function made of them
//
// # Guarantees
//
// The algorithm is the key's. A token's header only says which key to try: with
// "kid" those of that name, else those of its "alg"; a key never serves another
// algorithm, so that "none" and a public key taken for a secret find no key at
// all. Keys that a header carries or points to are not looked at, and one with
// "crit" is refused.
//
// Header and claims are JSON objects without a repeated member, at any depth, in
// UTF-8. An integer of 64 bits is exact, any other number the nearest float.
//
// Times are compared with the clock at every call, with no leeway. Tokens that
// were verified are remembered by their text until the keys change, which makes
// the next time cheap: a signature that was right stays right. No error and no
// log line holds a key, a secret or a token.
//
// All is safe for concurrent use.
//
// # Limits
//
// "aud", "iss", "iat" and "jti" are not looked at. A token is revoked by taking
// its key away, or by its end. After the key file has changed, a token of a
// removed key may pass for a second.
package jwt
