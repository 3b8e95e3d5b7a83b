package jwt

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// mintedFor is how long a minted token is valid that does not say.
const mintedFor = time.Hour

// Mint returns a token with the given claims, a JSON object, signed with the
// secret or the first secret of the key file. Without "exp" it ends in an hour.
func (k *Keys) Mint(claims []byte) (string, error) {
	c, err := parseClaims(string(claims))
	if err != nil {
		return "", fmt.Errorf("jwt: mint: claims: %w", err)
	}
	if !c.ends {
		claims = withEnd(claims, c, k.opts.Now().Add(mintedFor))
	}
	for _, x := range k.set.Load().keys {
		if secret, ok := x.checker.(hmacKey); ok {
			text := append(base64url.AppendEncode(nil, x.header()), '.')
			text = base64url.AppendEncode(text, claims)
			return string(base64url.AppendEncode(append(text, '.'), secret.sign(text))), nil
		}
	}
	return "", errors.New("jwt: mint: the key file has no secret to sign with")
}

// withEnd returns the claims' text with "exp" added.
func withEnd(text []byte, c *Claims, at time.Time) []byte {
	open := bytes.TrimSuffix(bytes.TrimSpace(text), []byte("}"))
	out := append([]byte(nil), open...)
	if c.all.Len() > 0 {
		out = append(out, ',')
	}
	return append(strconv.AppendInt(append(out, `"exp":`...), at.Unix(), 10), '}')
}

// header returns the header of tokens that k signs.
func (k *key) header() []byte {
	out := []byte(`{"alg":"` + k.alg + `","typ":"JWT"`)
	if k.named {
		out = value.AppendJSONString(append(out, `,"kid":`...), k.id)
	}
	return append(out, '}')
}
