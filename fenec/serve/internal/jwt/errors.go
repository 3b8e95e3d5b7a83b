package jwt

import "errors"

// Reasons to refuse a token. An error of Verify matches one of them, or is what
// the verifier's function returned; all of them are told to whoever sent it.
var (
	// ErrMalformed is a token that is not what RFC 7519 says one is, or is too long.
	ErrMalformed = errors.New("malformed token")

	// ErrSignature is a token that no key signed, as far as is known here.
	ErrSignature = errors.New("token not signed by a known key")

	// ErrExpired is a token past its "exp".
	ErrExpired = errors.New("the token has expired")

	// ErrEarly is a token before its "nbf".
	ErrEarly = errors.New("the token is not valid yet")

	// ErrNoEnd is a token without "exp" where one is asked for.
	ErrNoEnd = errors.New(`the token has no "exp"`)

	// ErrTooLong is a token that is valid for longer than Options.MaxAge.
	ErrTooLong = errors.New("the token is valid for too long")
)
