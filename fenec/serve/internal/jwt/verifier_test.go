package jwt_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve/internal/jwt"
)

const inAnHour = `{"sub":"ada","exp":1772370000}`

func TestInAnHour(t *testing.T) { require.EqualValues(t, 1772370000, start.Add(time.Hour).Unix()) }

// Tokens of another implementation are taken, by each algorithm, with the key of
// that algorithm among all the others.
func TestEachAlgorithm(t *testing.T) {
	var keys []map[string]any
	for _, s := range signers() {
		keys = append(keys, jwkOf(t, s.key, false, nil))
	}
	v, _, _ := open(t, jwt.Options{KeyFile: keyFile(t, jwks(t, keys...)), Now: newClock().now})
	for alg, s := range signers() {
		t.Run(alg, func(t *testing.T) {
			token := s.sign(t, `{}`, inAnHour)
			for range 2 {
				a, err := v.Verify(token)
				require.NoError(t, err)
				require.Equal(t, "ada", a.Claims.Subject())
			}
			last := strings.LastIndexByte(token, '.') + 1
			_, err := v.Verify(token[:last] + flip(t, token[last:]))
			require.ErrorIs(t, err, jwt.ErrSignature)
			header, rest, _ := strings.Cut(token, ".")
			_, signature, _ := strings.Cut(rest, ".")
			_, err = v.Verify(header + "." + encode(`{"sub":"bob","exp":1772370000}`) + "." + signature)
			require.ErrorIs(t, err, jwt.ErrSignature)
		})
	}
}

// flip changes one bit of what is encoded.
func flip(t *testing.T, s string) string {
	b, err := base64.RawURLEncoding.DecodeString(s)
	require.NoError(t, err)
	b[len(b)/2] ^= 4
	return encode(string(b))
}

// A key serves no other algorithm, whatever the header says.
func TestTheAlgorithmIsTheKeys(t *testing.T) {
	all := slices.Sorted(maps.Keys(signers()))
	for _, of := range all {
		key := signers()[of].key
		v, _, _ := open(t, jwt.Options{KeyFile: keyFile(t, jwks(t, jwkOf(t, key, false, nil))), Now: newClock().now})
		for _, said := range append(all, "none", "None", "hs256", "HS384", "HS512", "PS256", "RS512", "ES384", "") {
			if said == of {
				continue
			}
			token := raw(t, fmt.Sprintf(`{"alg":%q}`, said), inAnHour)
			_, err := v.Verify(token)
			require.ErrorIs(t, err, jwt.ErrSignature, "%s as %s", of, said)
			_, err = v.Verify(token[:strings.LastIndexByte(token, '.')+1])
			require.ErrorIs(t, err, jwt.ErrSignature, "%s as %s, unsigned", of, said)
		}
	}
}

// The public key, as anybody has it, is no secret to sign with.
func TestAPublicKeyIsNoSecret(t *testing.T) {
	s := signers()["RS256"]
	set := jwks(t, jwkOf(t, s.key, false, map[string]any{"kid": "r"}))
	v, _, _ := open(t, jwt.Options{KeyFile: keyFile(t, set), Now: newClock().now})
	public := jwkOf(t, s.key, false, nil)["n"].(string)
	modulus, err := base64.RawURLEncoding.DecodeString(public)
	require.NoError(t, err)
	for _, secret := range []string{set, public, string(modulus)} {
		for _, header := range []string{`{}`, `{"kid":"r"}`} {
			_, err := v.Verify(signer{"HS256", []byte(secret)}.sign(t, header, inAnHour))
			require.ErrorIs(t, err, jwt.ErrSignature)
		}
	}
}

func TestKid(t *testing.T) {
	one, two := []byte(strings.Repeat("1", 32)), []byte(strings.Repeat("2", 32))
	oct := func(k []byte, more map[string]any) map[string]any {
		return jwkOf(t, k, true, more)
	}
	v, _, _ := open(t, jwt.Options{Now: newClock().now, KeyFile: keyFile(t, jwks(t,
		oct(one, map[string]any{"kid": "a"}),
		oct(two, map[string]any{"kid": "b"}),
		oct(two, map[string]any{"kid": "both"}),
		oct(one, map[string]any{"kid": "both"}),
		oct([]byte(secretText), nil),
	))})
	for _, c := range []struct {
		key    []byte
		header string
		ok     bool
	}{
		{one, `{"kid":"a"}`, true},
		{one, `{}`, true},
		{two, `{}`, true},
		{[]byte(secretText), `{}`, true},
		{one, `{"kid":"both"}`, true},
		{two, `{"kid":"both"}`, true},
		{one, `{"kid":"b"}`, false},
		{two, `{"kid":"a"}`, false},
		{one, `{"kid":"A"}`, false},
		{one, `{"kid":""}`, false},
		{one, `{"kid":"../../dev/null"}`, false},
		{one, `{"kid":"a' or '1'='1"}`, false},
		{[]byte(secretText), `{"kid":""}`, false},
		{[]byte(secretText), `{"kid":"a"}`, false},
	} {
		_, err := v.Verify(signer{"HS256", c.key}.sign(t, c.header, inAnHour))
		if c.ok {
			require.NoError(t, err, c.header)
		} else {
			require.ErrorIs(t, err, jwt.ErrSignature, c.header)
		}
	}
}

// A secret has no kid.
func TestKidBesideASecret(t *testing.T) {
	v, _, _ := open(t, secretOptions(t, newClock()))
	_, err := v.Verify(raw(t, `{"alg":"HS256","kid":"k"}`, inAnHour))
	require.ErrorIs(t, err, jwt.ErrSignature)
}

func TestMalformedTokens(t *testing.T) {
	v, _, _ := open(t, secretOptions(t, newClock()))
	good := raw(t, hs256Header, inAnHour)
	_, err := v.Verify(good)
	require.NoError(t, err)
	header, rest, _ := strings.Cut(good, ".")
	claims, signature, _ := strings.Cut(rest, ".")
	long := strings.Repeat("a", 65<<10)
	for name, token := range map[string]string{
		"empty":             "",
		"no dots":           "abc",
		"one dot":           header + "." + claims,
		"three dots":        good + ".",
		"garbage":           "a.b.c",
		"dots only":         "..",
		"padding":           header + "." + claims + "." + signature + "=",
		"other base64":      header + "." + claims + "." + strings.Repeat("+", 43),
		"line end":          header + "." + claims + "." + signature + "\n",
		"line end within":   header[:4] + "\r\n" + header[4:] + "." + claims + "." + signature,
		"blank":             " " + good,
		"bits past the end": header + "." + claims + "." + signature[:42] + nextLetter(signature[42]),
		"oversize":          raw(t, hs256Header, `{"exp":1772370000,"x":"`+long+`"}`),
		"oversize header":   raw(t, `{"alg":"HS256","x":"`+long[:4<<10]+`"}`, inAnHour),
		"header no object":  raw(t, `"HS256"`, inAnHour),
		"header a list":     raw(t, `[]`, inAnHour),
		"header no JSON":    raw(t, `{"alg":"HS256"`, inAnHour),
		"two headers":       raw(t, `{"alg":"HS256"}{}`, inAnHour),
		"alg twice":         raw(t, `{"alg":"HS256","alg":"HS256"}`, inAnHour),
		"alg twice, none":   raw(t, `{"alg":"none","alg":"HS256"}`, inAnHour),
		"alg escaped twice": raw(t, `{"alg":"HS256","\u0061lg":"HS256"}`, inAnHour),
		"other case":        raw(t, `{"ALG":"HS256"}`, inAnHour),
		"no alg":            raw(t, `{}`, inAnHour),
		"alg no text":       raw(t, `{"alg":["HS256"]}`, inAnHour),
		"kid no text":       raw(t, `{"alg":"HS256","kid":null}`, inAnHour),
		"kid twice":         raw(t, `{"alg":"HS256","kid":"a","kid":"a"}`, inAnHour),
		"crit":              raw(t, `{"alg":"HS256","crit":["b64"],"b64":false}`, inAnHour),
		"header not UTF-8":  raw(t, "{\"alg\":\"HS256\",\"x\":\"\xff\"}", inAnHour),
		"deep":              raw(t, hs256Header, `{"x":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+`}`),
		"claims no object":  raw(t, hs256Header, `[]`),
		"claims a token":    raw(t, hs256Header, good),
		"claims twice":      raw(t, hs256Header, inAnHour+inAnHour),
		"claims not UTF-8":  raw(t, hs256Header, "{\"exp\":1772370000,\"sub\":\"\xff\"}"),
		"sub twice":         raw(t, hs256Header, `{"exp":1772370000,"sub":"ada","sub":"bob"}`),
		"exp twice":         raw(t, hs256Header, `{"exp":1,"exp":1772370000}`),
		"nested twice":      raw(t, hs256Header, `{"exp":1772370000,"x":[{"a":1,"a":1}]}`),
		"claims bad base64": strings.Replace(good, claims, claims+"*", 1),
		"role a number":     raw(t, hs256Header, `{"exp":1772370000,"role":1}`),
		"role null":         raw(t, hs256Header, `{"exp":1772370000,"role":null}`),
		"role a mixture":    raw(t, hs256Header, `{"exp":1772370000,"role":["a",1]}`),
	} {
		_, err := v.Verify(token)
		if name == "claims bad base64" { // its signature is not looked past
			require.ErrorIs(t, err, jwt.ErrSignature)
			continue
		}
		require.ErrorIs(t, err, jwt.ErrMalformed, name)
		require.NotContains(t, err.Error(), secretText)
		require.Less(t, len(err.Error()), 200)
	}
}

// nextLetter returns a letter of base64url that differs in the last bit.
func nextLetter(c byte) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return letters[strings.IndexByte(letters, c)^1:][:1]
}

// What an ES256 signature may be, beside one of two numbers of 32 bytes.
func TestBadSignaturesOfES256(t *testing.T) {
	s := signers()["ES256"]
	v, _, _ := open(t, jwt.Options{KeyFile: keyFile(t, jwks(t, jwkOf(t, s.key, false, nil))), Now: newClock().now})
	token := s.sign(t, `{}`, inAnHour)
	signed := token[:strings.LastIndexByte(token, '.')+1]
	for _, bad := range []string{"", strings.Repeat("\x00", 64), strings.Repeat("\xff", 64),
		strings.Repeat("\x00", 31) + "\x01" + strings.Repeat("\x00", 32), strings.Repeat("\x01", 63),
		strings.Repeat("\x01", 65), "0\x06\x02\x01\x01\x02\x01\x01"} {
		_, err := v.Verify(signed + encode(bad))
		require.ErrorIs(t, err, jwt.ErrSignature)
	}
}

func TestAccept(t *testing.T) {
	o := secretOptions(t, newClock())
	k, err := jwt.Open(o)
	require.NoError(t, err)
	refused, calls := errors.New("not that one"), 0
	v := jwt.NewVerifier(k, func(c *jwt.Claims) (string, error) {
		calls++
		if c.Subject() == "bob" {
			return "", refused
		}
		return "as " + c.Subject(), nil
	})
	ada, bob := raw(t, hs256Header, inAnHour), raw(t, hs256Header, `{"sub":"bob","exp":1772370000}`)
	for range 3 {
		a, err := v.Verify(ada)
		require.NoError(t, err)
		require.Equal(t, "as ada", a.As)
	}
	require.Equal(t, 1, calls, "once for many requests")
	_, err = v.Verify(bob)
	require.ErrorIs(t, err, refused)
	_, err = v.Verify(bob)
	require.ErrorIs(t, err, refused)
	require.Equal(t, 3, calls, "what was refused is not kept")
}

// Many tokens, of many callers, more than are kept.
func TestManyTokens(t *testing.T) {
	v, k, _ := open(t, secretOptions(t, newClock()))
	const n = 6000
	tokens := make([]string, n)
	for i := range tokens {
		var err error
		tokens[i], err = k.Mint(fmt.Appendf(nil, `{"sub":"%d"}`, i))
		require.NoError(t, err)
	}
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for g := range errs {
		wg.Go(func() {
			for i := range 2 * n {
				at := (i + g*n/4) % n
				a, err := v.Verify(tokens[at])
				if err == nil && a.Claims.Subject() != fmt.Sprint(at) {
					err = fmt.Errorf("token %d taken for that of %q", at, a.Claims.Subject())
				}
				if err != nil {
					errs[g] = err
					return
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
}

func FuzzVerify(f *testing.F) {
	good := raw(f, hs256Header, inAnHour)
	f.Add(good)
	f.Add("..")
	f.Add(raw(f, `{"alg":"none"}`, inAnHour))
	f.Add(strings.ReplaceAll(good, ".", ".."))
	var keys []map[string]any
	for _, s := range signers() {
		keys = append(keys, jwkOf(f, s.key, false, nil))
		f.Add(s.sign(f, `{}`, inAnHour))
	}
	v, _, _ := open(f, jwt.Options{KeyFile: keyFile(f, jwks(f, keys...)), Now: newClock().now})
	f.Fuzz(func(t *testing.T, token string) {
		_, err := v.Verify(token)
		if err == nil {
			// Nobody signs but the seeds: a token that is taken says what one of them does.
			parts := strings.Split(token, ".")
			require.Len(t, parts, 3)
			require.Equal(t, encode(inAnHour), parts[1])
		}
		_, err = v.Verify(raw(t, hs256Header, token))
		require.NotErrorIs(t, err, jwt.ErrSignature)
	})
}
