package jwt_test

import (
	"crypto/elliptic"
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve/internal/jwt"
)

// with returns a key with other members.
func with(key map[string]any, more ...any) map[string]any {
	out := maps.Clone(key)
	for i := 0; i < len(more); i += 2 {
		out[more[i].(string)] = more[i+1]
	}
	return out
}

func TestKeysThatServe(t *testing.T) {
	oct := map[string]any{"kty": "oct", "k": encode(secretText)}
	rsa := jwkOf(t, signers()["RS256"].key, false, nil)
	ec := jwkOf(t, signers()["ES256"].key, false, nil)
	ed := jwkOf(t, signers()["EdDSA"].key, false, nil)
	for name, c := range map[string]struct {
		key  map[string]any
		want string // in the error; "" for a key that serves
	}{
		"oct":                 {key: oct},
		"oct HS256":           {key: with(oct, "alg", "HS256", "use", "sig")},
		"oct of 32 bytes":     {key: with(oct, "k", encode(secretText[:32]))},
		"oct of 31 bytes":     {with(oct, "k", encode(secretText[:31])), "fewer than 32 bytes"},
		"oct HS512":           {with(oct, "alg", "HS512"), "not for HS256"},
		"oct RS256":           {with(oct, "alg", "RS256"), "not for HS256"},
		"oct without k":       {map[string]any{"kty": "oct"}, ""},
		"for encryption":      {with(oct, "use", "enc"), "not for signatures"},
		"use no text":         {with(oct, "use", nil), "not for signatures"},
		"alg no text":         {with(oct, "alg", nil), "not for HS256"},
		"kid no text":         {with(oct, "kid", 1), `its "kid" is no text`},
		"RSA":                 {key: rsa},
		"RSA RS256":           {key: with(rsa, "alg", "RS256", "use", "sig")},
		"RSA PS256":           {with(rsa, "alg", "PS256"), "not for RS256"},
		"RSA private":         {key: jwkOf(t, signers()["RS256"].key, true, nil)},
		"RSA of 2040 bits":    {jwkOf(t, newRSA(2040), false, nil), "fewer than 2048 bits"},
		"RSA even exponent":   {with(rsa, "e", encode("\x01\x00\x00")), "exponent"},
		"RSA exponent 1":      {with(rsa, "e", encode("\x01")), "exponent"},
		"RSA exponent 3":      {key: with(rsa, "e", encode("\x03"))},
		"RSA exponent beyond": {with(rsa, "e", encode("\x01\x00\x00\x00\x00\x00\x01\x00\x01")), "exponent"},
		"RSA without n":       {map[string]any{"kty": "RSA", "e": "AQAB"}, "key 1"},
		"RSA n no base64":     {with(rsa, "n", "*"), "malformed"},
		"EC":                  {key: ec},
		"EC ES256":            {key: with(ec, "alg", "ES256")},
		"EC ES384":            {with(ec, "alg", "ES384"), "not for ES256"},
		"EC private":          {key: jwkOf(t, signers()["ES256"].key, true, nil)},
		"EC P-384":            {jwkOf(t, newEC(elliptic.P384()), false, nil), "another curve"},
		"EC off the curve":    {with(ec, "y", ec["x"]), "not on P-256"},
		"EC origin":           {with(ec, "x", "AA", "y", "AA"), "not on P-256"},
		"OKP":                 {key: ed},
		"OKP EdDSA":           {key: with(ed, "alg", "EdDSA")},
		"OKP private":         {key: jwkOf(t, signers()["EdDSA"].key, true, nil)},
		"OKP X25519":          {with(ed, "crv", "X25519"), "another curve"},
		"OKP short":           {with(ed, "x", encode("abc")), "32 bytes"},
		"other kind":          {map[string]any{"kty": "AKP"}, "kind"},
		"other case":          {with(oct, "kty", "OCT"), "kind"},
		"no kind":             {map[string]any{}, "kind"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "oct without k" {
				c.want = "key 1"
			}
			k, err := jwt.Open(jwt.Options{KeyFile: keyFile(t, jwks(t, c.key)), ErrorLog: quiet})
			if c.want == "" {
				require.NoError(t, err)
				require.NotNil(t, k)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "no key can serve")
			require.NotContains(t, err.Error(), encode(secretText)[:20])

			// Beside another key it is skipped, and said so.
			_, _, logged := open(t, jwt.Options{KeyFile: keyFile(t, jwks(t, c.key, oct))})
			require.Contains(t, logged.String(), "skipped: key 1")
			require.NotContains(t, logged.String(), encode(secretText)[:20])
		})
	}
}

func TestKeyFiles(t *testing.T) {
	oct := `{"kty":"oct","k":"` + encode(secretText) + `"}`
	for text, want := range map[string]string{
		`{"keys":[` + oct + `]}`:                 "",
		`[` + oct + `]`:                          "",
		" \n[" + oct + ", 1, null]\n":            "",
		oct:                                      "neither a list",
		`{"keys":{}}`:                            "neither a list",
		`{"Keys":[` + oct + `]}`:                 "neither a list",
		`{"keys":[` + oct + `],"keys":[]}`:       "twice",
		`[{"kty":"oct",` + oct[1:] + `]`:         "twice",
		`[`:                                      "json",
		``:                                       "json",
		`[]`:                                     "no key can serve",
		`[` + oct + `]` + `x`:                    "json",
		`[` + strings.Repeat(" ", 1<<20) + `{}]`: "more than 1048576 bytes",
	} {
		_, err := jwt.Open(jwt.Options{KeyFile: keyFile(t, text), ErrorLog: quiet})
		if want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
	_, err := jwt.Open(jwt.Options{KeyFile: t.TempDir() + "/none"})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = jwt.Open(jwt.Options{})
	require.ErrorContains(t, err, "either")
	both := secretOptions(t, newClock())
	both.KeyFile = "x"
	_, err = jwt.Open(both)
	require.ErrorContains(t, err, "either")
}

func FuzzKeyFile(f *testing.F) {
	for _, s := range signers() {
		f.Add(jwks(f, jwkOf(f, s.key, true, map[string]any{"kid": "a"})))
	}
	f.Add(`[{"kty":"oct","k":""}]`)
	f.Add(`[{"kty":"EC","crv":"P-256","x":"","y":""}]`)
	f.Fuzz(func(t *testing.T, text string) {
		k, err := jwt.Open(jwt.Options{KeyFile: keyFile(t, text), ErrorLog: quiet})
		if err != nil {
			return
		}
		require.True(t, json.Valid([]byte(text)))
		_, err = jwt.NewVerifier(k, nothing).Verify(raw(t, hs256Header, inAnHour))
		if !strings.Contains(text, encode(secretText)) {
			require.Error(t, err)
		}
	})
}
