package jwt

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

const (
	maxToken  = 64 << 10 // bytes; no header line of a request is longer
	maxHeader = 4 << 10  // bytes of a token's header, encoded
)

// IsToken reports whether s looks like a JSON Web Token: it has exactly two dots.
func IsToken(s string) bool { return strings.Count(s, ".") == 2 }

// token is one whose parts were told apart.
type token struct {
	header    string // decoded
	claims    string // as it came
	signed    string // header and claims as they came
	signature []byte
}

// split takes a token apart, and looks into none of the parts.
func split(text string) (t token, err error) {
	if len(text) > maxToken {
		return t, fmt.Errorf("%w: %d bytes, and %d are the most", ErrMalformed, len(text), maxToken)
	}
	header, rest, _ := strings.Cut(text, ".")
	claims, signature, ok := strings.Cut(rest, ".")
	if !ok || strings.Contains(signature, ".") {
		return t, fmt.Errorf("%w: not three parts with dots between", ErrMalformed)
	}
	if len(header) > maxHeader {
		return t, fmt.Errorf("%w: a header of %d bytes, and %d are the most", ErrMalformed, len(header), maxHeader)
	}
	t = token{claims: claims, signed: text[:len(header)+1+len(claims)]}
	h, err := decode(header)
	if err != nil {
		return t, fmt.Errorf("%w: header: %w", ErrMalformed, err)
	}
	t.header = string(h)
	if t.signature, err = decode(signature); err != nil {
		return t, fmt.Errorf("%w: signature: %w", ErrMalformed, err)
	}
	return t, nil
}

var base64url = base64.RawURLEncoding.Strict()

// decode takes back base64url without padding, as RFC 7515 has it: one text for
// one content.
func decode(s string) ([]byte, error) {
	b, err := base64url.DecodeString(s)
	if err != nil || strings.ContainsAny(s, "\r\n") { // line ends are passed over
		return nil, errors.New("not base64url")
	}
	return b, nil
}

// header is what a token says about its signature.
type header struct {
	alg   string
	kid   string
	named bool // there is a kid
}

func parseHeader(text string) (h header, err error) {
	v, err := parseObject(text)
	if err != nil {
		return h, fmt.Errorf("%w: header: %w", ErrMalformed, err)
	}
	if _, ok := v.Get("crit"); ok {
		return h, fmt.Errorf(`%w: header: "crit" asks for what is not known here`, ErrMalformed)
	}
	var ok bool
	if h.alg, ok = textOf(v, "alg"); !ok {
		return h, fmt.Errorf(`%w: header: no text "alg"`, ErrMalformed)
	}
	kid, ok := v.Get("kid")
	if !ok {
		return h, nil
	}
	if kid.Kind() != value.KindText {
		return h, fmt.Errorf(`%w: header: "kid" is no text`, ErrMalformed)
	}
	h.kid, h.named = kid.AsText(), true
	return h, nil
}

// parseObject reads a JSON object.
func parseObject(text string) (value.Value, error) {
	v, err := value.ParseJSONString(text)
	if err != nil {
		return v, err
	}
	if v.Kind() != value.KindObject {
		return v, errors.New("not a JSON object")
	}
	return v, nil
}

// verify returns why no key of s signed t, or nil.
func (s *keySet) verify(t *token) error {
	h, err := parseHeader(t.header)
	if err != nil {
		return err
	}
	tried, text := false, []byte(t.signed)
	for i := range s.keys {
		k := &s.keys[i]
		if k.alg != h.alg || h.named && !(k.named && k.id == h.kid) {
			continue
		}
		if tried = true; k.signed(text, t.signature) {
			return nil
		}
	}
	if !tried {
		return fmt.Errorf(`%w: none is for its "alg" and "kid"`, ErrSignature)
	}
	return fmt.Errorf("%w: the signature is wrong", ErrSignature)
}
