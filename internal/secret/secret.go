// Package secret keeps tokens and keys out of logs, messages and configuration that
// is printed. There is one type for all of them, which packages that take one offer
// under a name of their own.
package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"unique"
)

// Token is a secret text: a token, a password, a key. However it is printed or
// encoded, also within other values, it shows as [redacted], and as nothing if there is
// none. The zero Token is none. Tokens of the same text are equal.
type Token struct {
	// Handles are equal if their texts are. Package fmt, which looks into unexported
	// fields without asking their methods, prints of one where it is, and never
	// follows a pointer to a string.
	text unique.Handle[string]
	sum  unique.Handle[string] // SHA-256 of text
	mark unique.Handle[string]
}

// redacted is what a Token shows as.
const redacted = "[redacted]"

// New returns the token of that text; none for "".
func New(text string) Token {
	if text == "" {
		return Token{}
	}
	sum := sha256.Sum256([]byte(text))
	return Token{unique.Make(text), unique.Make(string(sum[:])), unique.Make(sign(text))}
}

// markLabel is what a mark signs.
const markLabel = "fenec-router-1"

func sign(text string) string {
	mac := hmac.New(sha256.New, []byte(text))
	io.WriteString(mac, markLabel)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// IsZero reports whether there is no token.
func (t Token) IsZero() bool { return t == Token{} }

// Opens reports whether given is the token, in a time that tells nothing of it. It
// never is where there is none.
func (t Token) Opens(given string) bool {
	if t.IsZero() {
		return false
	}
	sum := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(sum[:], []byte(t.sum.Value())) == 1
}

// String returns [redacted].
func (t Token) String() string {
	if t.IsZero() {
		return ""
	}
	return redacted
}

// Format writes [redacted], whatever the verb.
func (t Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.String()) }

// MarshalText returns [redacted]. A Token is a text of JSON that way too.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Reveal returns the text. It is a function of this package, and no method, so that
// nobody but us can ask.
func Reveal(t Token) string {
	if t.IsZero() {
		return ""
	}
	return t.text.Value()
}

// Mark returns what proves to a node that a request comes from a router that knows its
// token, and does not tell it: base64url(HMAC-SHA-256(token, "fenec-router-1")). There
// is none of the zero Token.
func Mark(t Token) string {
	if t.IsZero() {
		return ""
	}
	return t.mark.Value()
}

// Marks reports whether given is the token's mark, in a time that tells nothing of it.
// It never is where there is no token.
func Marks(t Token, given string) bool {
	return !t.IsZero() && subtle.ConstantTimeCompare([]byte(given), []byte(t.mark.Value())) == 1
}
