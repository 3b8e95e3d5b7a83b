package router

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
)

// Token is a bearer token. It prints as "[redacted]" in every format and
// encoding, also inside other values: what needs the text asks for it in this
// package. The zero Token means that there is none.
type Token struct {
	// A pointer to a pointer, as fmt prints the unexported parts of other
	// values without asking them, and follows one pointer at times.
	s **secret
}

type secret struct {
	text string
	sum  [sha256.Size]byte
	mark string
}

// markLabel is what a router signs with a node's admin token to be recognised by
// that node.
const markLabel = "fenec-router-1"

// NewToken returns the token of the given text, the zero Token for an empty one.
func NewToken(text string) Token {
	if text == "" {
		return Token{}
	}
	mac := hmac.New(sha256.New, []byte(text))
	io.WriteString(mac, markLabel)
	s := &secret{
		text: text,
		sum:  sha256.Sum256([]byte(text)),
		mark: base64.RawURLEncoding.EncodeToString(mac.Sum(nil)),
	}
	return Token{&s}
}

// IsZero reports whether there is no token.
func (t Token) IsZero() bool { return t.s == nil }

// Matches reports whether text is the token's, in a time that does not depend on
// where they differ. The zero Token matches nothing.
func (t Token) Matches(text string) bool {
	if t.s == nil {
		return false
	}
	sum := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(sum[:], (*t.s).sum[:]) == 1
}

// Format prints "[redacted]", or nothing for the zero Token, whatever the verb.
func (t Token) Format(f fmt.State, _ rune) { io.WriteString(f, t.String()) }

// String returns "[redacted]", or the empty text for the zero Token.
func (t Token) String() string {
	if t.s == nil {
		return ""
	}
	return "[redacted]"
}

// MarshalText encodes what String returns.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// text returns the token itself, for a request header or the directory file.
func (t Token) text() string {
	if t.s == nil {
		return ""
	}
	return (*t.s).text
}

// mark returns the proof that a request comes from a router that knows the
// token: base64url(HMAC-SHA-256(token, markLabel)).
func (t Token) mark() string {
	if t.s == nil {
		return ""
	}
	return (*t.s).mark
}

// validToken reports whether text can be sent as a bearer token.
func validToken(text string) bool {
	for _, c := range []byte(text) {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return text != ""
}
