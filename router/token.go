package router

import "github.com/fenec-go/fenecdb/internal/secret"

// Token is a bearer token. It shows as [redacted], however it is printed or encoded,
// also within other values. The zero Token is none.
type Token = secret.Token

// NewToken returns the token of that text; none for "".
func NewToken(text string) Token { return secret.New(text) }

// validToken reports whether text can be sent as a bearer token.
func validToken(text string) bool {
	for _, c := range []byte(text) {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return text != ""
}
