package secret_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/secret"
)

const text = "s3cret-words"

// holder has a token where methods are asked for it, and where they are not.
type holder struct {
	Token  secret.Token
	hidden secret.Token
	list   []secret.Token
	byName map[string]secret.Token
	byKey  map[secret.Token]int
	inside any
	far    *holder
}

func TestTokenNeverShows(t *testing.T) {
	token := secret.New(text)
	inner := holder{Token: token, hidden: token, inside: token}
	h := holder{token, token, []secret.Token{token}, map[string]secret.Token{"a": token}, map[secret.Token]int{token: 1}, &token, &inner}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%p", "%c", "%t", "%e", "%10s", "%T", "%!", "%z"} {
		for _, v := range []any{
			token, &token, h, &h, inner, []holder{h}, []secret.Token{token}, map[secret.Token]secret.Token{token: token},
			[]any{token, h}, reflect.ValueOf(h), reflect.ValueOf(h).Field(1), reflect.ValueOf(&h).Elem().Field(1), reflect.ValueOf(token).Field(0),
			reflect.ValueOf(token).Field(0).Field(0), reflect.ValueOf(token).Field(1).Field(0),
		} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
	}
	fmt.Fprintln(&out, token, h, errors.New("bad token "+token.String()), fmt.Errorf("%w: %v", errors.New("refused"), h))
	log.New(&out, "", 0).Print(token, h)
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("start", "token", token, "holder", h, "far", h.far)
	}
	for _, v := range []any{token, h, &h, map[secret.Token]any{token: token}, []any{token}} {
		encoded, err := json.Marshal(v)
		require.NoError(t, err)
		out.Write(encoded)
	}
	require.NoError(t, xml.NewEncoder(&out).Encode(token))
	require.Error(t, gob.NewEncoder(&out).Encode(token))
	for _, leak := range []string{text, text[:6], fmt.Sprintf("%x", text[:4]), fmt.Sprintf("% x", text[:4]), fmt.Sprintf("%X", text[:4]), "115 51 99"} {
		require.NotContains(t, out.String(), leak)
	}
	require.Contains(t, out.String(), "[redacted]")
	require.Empty(t, fmt.Sprintf("%v%+v%s", secret.Token{}, secret.Token{}, secret.New("")))
}

func TestOpens(t *testing.T) {
	for _, c := range []struct {
		token, given string
		opens        bool
	}{
		{"abc", "abc", true},
		{"abc", "abd", false},
		{"abc", "ab", false},
		{"abc", "abcd", false},
		{"abc", "", false},
		{"", "", false},
		{"", "abc", false},
	} {
		require.Equal(t, c.opens, secret.New(c.token).Opens(c.given), "%q by %q", c.token, c.given)
	}
}

func TestTokensAreComparable(t *testing.T) {
	require.True(t, secret.New("").IsZero())
	require.False(t, secret.New("a").IsZero())
	a, again, b := secret.New("a"), secret.New("a"), secret.New("b")
	require.True(t, a == again)
	require.False(t, a == b)
	require.Equal(t, []secret.Token{secret.New("a")}, []secret.Token{secret.New("a")})
}

func TestReveal(t *testing.T) {
	require.Equal(t, text, secret.Reveal(secret.New(text)))
	require.Empty(t, secret.Reveal(secret.Token{}))
}

func TestMark(t *testing.T) {
	mac := hmac.New(sha256.New, []byte(text))
	mac.Write([]byte("fenec-router-1"))
	require.Equal(t, base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), secret.Mark(secret.New(text)))
	require.Empty(t, secret.Mark(secret.Token{}))
	require.True(t, secret.Marks(secret.New(text), secret.Mark(secret.New(text))))
	require.False(t, secret.Marks(secret.New(text), secret.Mark(secret.New("other"))))
	require.False(t, secret.Marks(secret.New(text), ""))
	require.False(t, secret.Marks(secret.Token{}, ""))
}
