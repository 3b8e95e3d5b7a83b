package jwt_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jws"
	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve/internal/jwt"
)

func TestMint(t *testing.T) {
	v, k, _ := open(t, secretOptions(t, newClock()))
	for claims, want := range map[string]string{
		`{"sub":"ada"}`:                          `{"sub":"ada","exp":1772370000}`,
		` { "n" : 12345678901234567890 } `:       `{ "n" : 12345678901234567890 ,"exp":1772370000}`,
		`{}`:                                     `{"exp":1772370000}`,
		`{"exp":1772366500.5,"sub":"a<b"}`:       `{"exp":1772366500.5,"sub":"a<b"}`,
		`{"role":["a"],"exp":1772366500}` + "\n": `{"role":["a"],"exp":1772366500}` + "\n",
	} {
		token, err := k.Mint([]byte(claims))
		require.NoError(t, err)
		payload, err := jws.Verify([]byte(token), jws.WithKey(jwa.HS256, []byte(secretText)))
		require.NoError(t, err, "another implementation verifies it")
		require.Equal(t, want, string(payload))
		_, err = v.Verify(token)
		require.NoError(t, err)
	}
	for _, bad := range []string{``, `[]`, `{"sub":"a","sub":"b"}`, `{"exp":"soon"}`, `{"role":1}`, `{} {}`} {
		_, err := k.Mint([]byte(bad))
		require.Error(t, err, bad)
	}
}

func TestMintWithAKeyFile(t *testing.T) {
	rsa := jwkOf(t, signers()["RS256"].key, false, map[string]any{"kid": "r"})
	oct := map[string]any{"kty": "oct", "k": encode(secretText), "kid": `a "b"`}
	v, k, _ := open(t, jwt.Options{KeyFile: keyFile(t, jwks(t, rsa, oct)), Now: newClock().now})
	token, err := k.Mint([]byte(`{"sub":"ada"}`))
	require.NoError(t, err)
	header, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(header)
	require.NoError(t, err)
	require.JSONEq(t, `{"alg":"HS256","typ":"JWT","kid":"a \"b\""}`, string(text))
	a, err := v.Verify(token)
	require.NoError(t, err)
	ends, _ := a.Claims.Expires()
	require.Equal(t, start.Add(time.Hour).Unix(), ends.Unix())

	_, k, _ = open(t, jwt.Options{KeyFile: keyFile(t, jwks(t, rsa))})
	_, err = k.Mint([]byte(`{}`))
	require.ErrorContains(t, err, "no secret to sign with")
}
