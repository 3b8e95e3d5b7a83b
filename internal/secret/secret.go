// Package secret keeps tokens out of logs, messages and configuration that is
// printed.
package secret

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
)

// Token is a secret text. However it is printed or encoded, it shows as [redacted]:
// a conversion to string reveals it, and so do two uses that no method sees: as the key
// of a map in JSON, and in an unexported field of what is printed by package fmt. The
// empty Token is none.
type Token string

// redacted is what a Token shows as.
const redacted = "[redacted]"

// String returns [redacted].
func (Token) String() string { return redacted }

// GoString returns [redacted].
func (Token) GoString() string { return redacted }

// Format writes [redacted], whatever the verb.
func (Token) Format(s fmt.State, _ rune) { fmt.Fprint(s, redacted) }

// MarshalText returns [redacted]. A Token is a value of JSON that way too.
func (Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Opens reports whether given is the token, in a time that tells nothing of either. It
// never is where there is no token.
func (t Token) Opens(given string) bool { return t != "" && t.Equal(Token(given)) }

// Equal reports whether two tokens are the same, in a time that tells nothing of
// either, their lengths included.
func (t Token) Equal(other Token) bool {
	a, b := sha256.Sum256([]byte(t)), sha256.Sum256([]byte(other))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
